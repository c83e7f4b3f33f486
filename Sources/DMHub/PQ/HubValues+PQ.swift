internal import DMKit
internal import DMModel
internal import DMWire

// The values of the protocol, as the functions of a hub take and give them.

extension HubAnswer {
  init(_ row: PQRow) throws {
    self.init(
      conversation: row.optionalIdentifier(0), id: row.optionalIdentifier(1), rev: row.optionalInteger(2),
      isDuplicate: try row.flag(3), fault: row.optionalText(4), retryAt: try row.optionalTimestamp(5))
  }
}

extension HubEntry {
  init(_ row: PQRow) throws {
    self.init(
      conversation: try row.identifier(0), rev: try row.integer(1),
      seq: row.optionalInteger(2).flatMap { 1...Int64(Self.seqLimit) ~= $0 ? Int($0) : nil },
      at: try row.timestamp(3), actor: try row.integer(4), machine: try row.identifier(5),
      kind: Kind(rawValue: try row.integer(6)), id: row.optionalIdentifier(7), nonce: row.optionalIdentifier(8),
      mark: try row.identifier(9), expiresAt: try row.optionalTimestamp(10), meta: Meta(json: row.json(11)),
      payload: row.bytes(12))
  }
}

extension [HubOperation] {
  /// The argument of a push: a JSON array, with the payloads in base64.
  var pushed: String {
    var json = JSONWriter()
    json.array { json in for operation in self { operation.write(to: &json) } }
    return String(decoding: json.bytes, as: UTF8.self)
  }
}

extension HubOperation {
  fileprivate func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("op", act.word)
      json.key("nonce")
      json.value(nonce)
      if let conversation { json.member("conv", conversation) }
      if let id { json.member("id", id) }
      json.member("seq", seq)
      arguments.write(to: &json)
      if let payload { json.member("payload", payload.withUnsafeBytes(base64)) }
    }
  }
}
