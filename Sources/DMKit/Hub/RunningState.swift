internal import DMJSON
package import DMModel
internal import DMSystem

/// The state of the sync process, stored in a file because it changes too often for the database.
package struct RunningState: Equatable {
  package var state = HubStatus.State.connecting
  package var attempts = 0
  package var lastSyncAt: Timestamp?
  package var nextAttemptAt: Timestamp?
  /// The modification time that the request file had at the last answered request for a comparison.
  package var answered: Timestamp?
  /// The modification time that the request file had at the last request after which everything was pulled, even if
  /// operations were still queued.
  package var pulled: Timestamp?
  /// The modification time that the request file had at the start of the last attempt that failed.
  package var attempted: Timestamp?
  package var fault: String?
  /// Whether the hub refuses the store.
  package var isRefused = false
  /// Whether the sync process learns of new entries within seconds, because the hub sends hints, or because the process
  /// compares the store with the hub every few seconds.
  package var listens = false
  /// Whether the hub supports files.
  package var takesFiles = true
  /// The error codes of the conversations that are set aside.
  package var setAside: [Identifier: String] = [:]

  package init() {}

  package init?(file path: String) {
    guard let bytes = readFile(path, limit: 8192),
      case .success(let object) = Result(catching: { try JSONReader.object(bytes[...]) }),
      case .string(let word)? = object["state"], let state = HubStatus.State(rawValue: word)
    else { return nil }
    self.state = state
    attempts = object.integer("attempts") ?? 0
    lastSyncAt = object.time("last_sync_at")
    nextAttemptAt = object.time("next_attempt_at")
    answered = object.time("answered")
    pulled = object.time("pulled")
    attempted = object.time("attempted")
    fault = object.text("fault")
    isRefused = object["is_refused"] == .bool(true)
    listens = object["listens"] == .bool(true)
    takesFiles = object["takes_files"] != .bool(false)
    guard case .object(let codes)? = object["set_aside"] else { return }
    for member in codes.members {
      if case .string(let word) = member.value, let id = Identifier(member.name) { setAside[id] = word }
    }
  }

  package func write(to path: String) throws {
    var json = JSONWriter()
    json.object { json in
      json.member("state", state.rawValue)
      json.member("attempts", attempts)
      json.member("last_sync_at", lastSyncAt.map { Int($0.microseconds) })
      json.member("next_attempt_at", nextAttemptAt.map { Int($0.microseconds) })
      json.member("answered", answered.map { Int($0.microseconds) })
      json.member("pulled", pulled.map { Int($0.microseconds) })
      json.member("attempted", attempted.map { Int($0.microseconds) })
      json.member("fault", fault)
      if isRefused { json.member("is_refused", true) }
      if listens { json.member("listens", true) }
      if !takesFiles { json.member("takes_files", false) }
      if setAside.isEmpty { return }
      json.key("set_aside")
      json.object { json in
        for (id, code) in setAside.sorted(by: { $0.key < $1.key }).prefix(50) {
          json.key(name: id.description)
          json.value(code)
        }
      }
    }
    try replaceFile(path, with: json.bytes, isDurable: false)
  }
}

extension JSONObject {
  fileprivate func time(_ name: String) -> Timestamp? {
    integer(name).map { Timestamp(microseconds: Int64($0)) }
  }
}

extension RunningState {
  /// Whether the store is connected to the hub; nil if unknown, such as after one failed attempt.
  package var isConnected: Bool? {
    switch state {
    case .live, .polling, .filling: true
    case .refused: false
    case .waiting: attempts > 1 ? false : nil
    default: nil
    }
  }
}
