internal import DMCLI
internal import DMKit

extension DMUser {
  static func printPresence(_ call: Invocation) throws {
    let messenger = try call.messenger()
    let handles = try call.arguments.operands.map { try Handle($0.without("@")) }
    var known: [Handle: Bool] = [:]
    func printNews(_ presence: Presence) throws {
      guard handles.isEmpty || handles.contains(presence.user), known[presence.user] != presence.isOnline else {
        return
      }
      known[presence.user] = presence.isOnline
      try call.print(presence) {
        TextFormat.line($0, displayName: try messenger.user($0.user).displayName)
      }
    }
    let presence = try messenger.presence(of: handles)
    for presence in presence { try printNews(presence) }
    guard call.arguments[follow] else { return }
    try call.output.flush()
    var query = EventQuery()
    query.kinds = [.presence]
    query.signalsPresence = false
    try call.follow(query) { events in
      for case .presence(let presence) in events { try printNews(presence) }
      return nil
    }
  }
}
