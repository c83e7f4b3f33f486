internal import DMModel
package import DMSync

extension PQHubLink {
  package func ownStates(after rev: Int64, _ changes: [HubOwnState], limit: Int) throws -> [HubOwnState] {
    var states: [HubOwnState] = []
    let exchange = PQConnection.Statement(
      "SELECT conv, rev, mark, state FROM dm1.own_states($1::bigint, $2::uuid[], $3::uuid[], $4::bytea[], $5::integer)",
      [
        String(rev), array(changes.map(\.conversation.description)),
        array(changes.map { $0.mark?.description ?? "NULL" }),
        array(changes.map { "\"\\\\x\(hexadecimal($0.state))\"" }),
        String(limit),
      ]
    ) { row in
      states.append(
        HubOwnState(
          conversation: try row.identifier(0), rev: try row.integer(1), mark: try row.identifier(2),
          state: row.bytes(3) ?? []))
    }
    var wake = PQConnection.Statement("SELECT dm1.wake_own()")
    wake.mayFail = true
    try run(changes.isEmpty ? [exchange] : [exchange, wake])
    return states
  }
}
