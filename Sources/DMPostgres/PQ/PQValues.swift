internal import CPQ
internal import DMJSON
internal import DMKit
internal import DMModel
internal import DMSync

// The values of the protocol, in the form in which a hub's functions take and return them.

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

extension HubFault {
  /// The fault for an error code of the server (postgresql.org/docs/current/errcodes-appendix.html).
  init(state: String, _ message: String) {
    switch state {
    case "57014": self = .timedOut(message)
    case "40001", "40P01": self = .again(message)
    case "55P03": self = .locked(message, [])
    case "25006": self = .readOnly("it accepts no changes now, because it is a standby or is being moved (25006)")
    case "53100": self = .lost("the disk of the hub is full")
    case "28P01": self = .refused(message)
    case "DM002":
      self = .refused("this machine was revoked, or its invitation has expired; ask for a new one (DM002)")
    case "DM003":
      self = .refused("this invitation was already used; ask for another, and have the login of this one revoked")
    case "3D000": self = .lost(message)
    case "42501": self = .denied(message)
    // A function or a column of the protocol is missing.
    case "DM001", "3F000", "42883", "42703": self = .mismatch(message)
    default:
      self =
        switch state.prefix(2) {
        case "28": .turnedAway(message)
        case "22", "23", "42", "54", "0A": .poison(message)
        default: .lost(message)
        }
    }
  }

  /// The fault for a failed statement, from its result.
  ///
  /// - Parameter quotesServer: whether to include the server's message, which may quote what was sent.
  init(_ pq: PQFunctions, _ result: OpaquePointer, quotesServer: Bool) {
    let state = pq.field("C", of: result)
    let code = state.isEmpty ? "without a code" : state
    self.init(
      state: state, quotesServer ? "\(pq.field("M", of: result)) (\(code))" : "the hub answers with the error \(code)")
  }

  /// The fault for a failed attempt to connect.
  ///
  /// - Parameter message: libpq's message, in lines: the error of each host that was tried, and libpq's advice. An
  ///   error that the server reported contains an error code.
  init(connecting message: String) {
    let lines = message.split(separator: "\n")
    // The text around the code is in the language of the server, so only the code is searched for.
    func code(_ line: Substring) -> Substring? { line.split(separator: " ").first(where: Self.isCode) }
    guard let line = lines.first(where: { code($0) != nil }), let code = code(line) else {
      // A server without TLS, or with an unexpected certificate, is treated as another hub.
      let untrusted = lines.first { line in
        ["certificate", "does not support SSL", "channel binding"].contains { line.range(of: $0) != nil }
      }
      self =
        untrusted.map { .mismatch(String($0)) } ?? .lost(lines.first.map(String.init) ?? "the hub cannot be reached")
      return
    }
    let state = String(code.dropLast())
    let words = "\(line[code.endIndex...].drop { $0 == " " }) (\(state))"
    // The errors for a revoked login and for a forbidden address have the same code. The two errors differ only in the
    // name of the server function that reports the error.
    self =
      state == "28000" && message.contains(text: "InitializeSessionUserId")
      ? .refused(words) : HubFault(state: state, words)
  }

  /// Whether a word is an error code followed by a colon; a code has five characters, each a digit or a capital letter,
  /// and at least one digit.
  private static func isCode(_ word: Substring) -> Bool {
    word.utf8.count == 6 && word.hasSuffix(":") && word.contains(where: \.isNumber)
      && word.dropLast().utf8.allSatisfy { 48...57 ~= $0 || 65...90 ~= $0 }
  }
}
