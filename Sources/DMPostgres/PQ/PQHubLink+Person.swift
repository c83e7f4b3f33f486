package import DMKit
package import DMModel
package import DMSync

// The caller's own states and machines, and the messages that this machine has not kept.

extension PQHubLink {
  package func ownStates(after rev: Int64, _ changes: [HubOwnState], limit: Int) throws -> [HubOwnState] {
    var states: [HubOwnState] = []
    let exchange = PQConnection.Statement(
      "SELECT conv, rev, mark, state, is_present FROM dm1.own_states($1::bigint, $2::uuid[], $3::uuid[], $4::bytea[], $5::integer)",
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
          state: row.bytes(3) ?? [], isPresent: try row.flag(4)))
    }
    var wake = PQConnection.Statement("SELECT dm1.wake_own()")
    wake.mayFail = true
    do {
      try run(changes.isEmpty ? [exchange] : [exchange, wake])
    } catch let fault as HubFault {
      if case .locked = fault { try unstick() }
      throw fault
    }
    return states
  }

  package func page(of conversation: Identifier, _ seqs: SeqRange) throws -> [HubEntry] {
    try rows(
      "SELECT \(Self.entry) FROM dm1.page($1::uuid, $2::bigint, $3::bigint)",
      [conversation.description, String(seqs.lowerBound), String(seqs.upperBound)], HubEntry.init)
  }

  package func starts(of conversations: [Identifier], keeping kept: KeptMessages) throws -> [HubStart] {
    var (starts, entries): ([HubStart], [HubEntry]) = ([], [])
    let (count, age): (Int?, Int64?) =
      switch kept {
      case .last(let count): (count, nil)
      case .youngerThan(let age): (nil, age)
      }
    _ = try rows(
      "SELECT \(Self.entry) FROM dm1.floors($1::uuid[], $2::bigint, $3::bigint)",
      [array(conversations.map(\.description)), count.map(String.init), age.map(String.init)]
    ) { row in
      let entry = try HubEntry(row)
      guard try row.integer(6) == -2 else { return entries.append(entry) }
      let all = entries.filter { $0.conversation == entry.conversation }
      entries = []
      guard conversations.contains(entry.conversation), let seq = entry.seq else {
        throw HubFault.damaged("the hub sent an unrequested conversation")
      }
      starts.append(
        HubStart(
          conversation: entry.conversation, entries: all, rev: entry.rev, mark: entry.mark,
          floor: HubStart.Floor(seq: seq, at: entry.at)))
    }
    return starts
  }

  /// The machines of the caller, in the order in which they joined.
  package func machines() throws -> [HubMachine] {
    try rows("SELECT machine, label, is_this, is_connected, joined_at, seen_at FROM dm1.machines()", []) { row in
      HubMachine(
        id: try row.identifier(0), label: row.optionalText(1), isThis: try row.flag(2), isConnected: try row.flag(3),
        joinedAt: try row.timestamp(4), seenAt: try row.optionalTimestamp(5))
    }
  }

  /// Removes the login of another machine of the caller, and ends its connections; does nothing if the login is gone
  /// already.
  package func revoke(_ machine: Identifier) throws {
    try run([PQConnection.Statement("SELECT dm1.revoke_machine($1::uuid)", [machine.description])])
  }

  package func restamp(held: [Identifier], next: Identifier, _ answer: @escaping (Bool) -> Void) {
    postponed.append(
      PQConnection.Statement(
        "SELECT dm1.restamp($1::uuid[], $2::uuid)", [array(held.map(\.description)), next.description]
      ) { answer(try $0.flag(0)) })
  }
}
