internal import DMJSON
internal import DMKit
internal import DMModel
package import DMSync

extension PQHubLink {
  package func signals(_ own: HubSignals) throws -> [HubSignal] {
    var hidden = JSONWriter()
    hidden.array { json in for handle in own.hiddenFrom ?? [] { json.value(handle.description) } }
    return try open(connection).rows(
      "SELECT conv, person, rest, age FROM dm1.signals($1::uuid[], $2::integer[], $3::uuid[], $4::boolean, "
        + "CASE WHEN $5::jsonb IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text($5::jsonb)) END, $6::uuid[], $7::integer)",
      [
        array(own.typing.map(\.conversation.description)), array(own.typing.map { String($0.rest) }),
        array(own.ended.map(\.description)), own.isPresent ? "true" : "false",
        own.hiddenFrom.map { _ in String(decoding: hidden.bytes, as: UTF8.self) },
        array(own.watched.map(\.description)), own.seenSeconds.map(String.init),
      ]
    ) { row in
      let person = try row.integer(1)
      if let age = row.optionalInteger(3) { return .present(person: person, age: age) }
      return .typing(try row.identifier(0), person: person, rest: try row.integer(2))
    }
  }
}
