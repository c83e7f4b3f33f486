internal import CPQ
internal import DMKit

extension HubFault {
  /// The fault that a server reports by its code (postgresql.org/docs/current/errcodes-appendix.html).
  init(state: String, _ message: String) {
    switch state {
    case "57014": self = .timedOut(message)
    case "40001", "40P01": self = .again(message)
    case "55P03": self = .locked(message, [])
    case "25006": self = .readOnly(message)
    case "53100": self = .lost("the disk of the hub is full")
    // A wrong password, and a login that is nobody's.
    case "28P01", "DM002": self = .refused(message)
    case "DM003":
      self = .refused("somebody has joined with this invitation before; ask for another, and have its login revoked")
    case "3D000": self = .lost(message)
    case "42501": self = .denied(message)
    case "28000" where message.contains("not permitted to log in"): self = .refused(message)
    case "DM001", "3F000", "42883": self = .mismatch(message)
    default:
      self =
        switch state.prefix(2) {
        case "28": .denied(message)
        case "22", "23", "42", "54", "0A": .poison(message)
        default: .lost(message)
        }
    }
  }

  /// The fault of a result.
  ///
  /// - Parameter quotesServer: whether it has the server's message, which may quote what was sent.
  init(_ pq: PQFunctions, _ result: OpaquePointer, quotesServer: Bool) {
    let state = pq.field("C", of: result)
    let code = state.isEmpty ? "without a code" : state
    self.init(
      state: state, quotesServer ? "\(pq.field("M", of: result)) (\(code))" : "the hub answers with the error \(code)")
  }

  /// The fault of an attempt to connect: its message has the code of the server, if it came from there.
  init(connecting message: String) {
    let line = message.split(separator: "\n").first.map(String.init) ?? "the hub cannot be reached"
    let words = line.split(separator: " ")
    let place = words.firstIndex { $0 == "FATAL:" || $0 == "ERROR:" }
    let code = place.map { words.index(after: $0) }.flatMap { $0 < words.endIndex ? words[$0] : nil }
    guard let code, code.utf8.count == 6, code.hasSuffix(":") else {
      // A server without TLS, or with another certificate, is not the hub of the invitation.
      let isUntrusted = ["certificate", "does not support SSL", "channel binding"].contains { line.contains($0) }
      self = isUntrusted ? .mismatch(line) : .lost(line)
      return
    }
    self.init(state: String(code.dropLast()), line)
  }
}
