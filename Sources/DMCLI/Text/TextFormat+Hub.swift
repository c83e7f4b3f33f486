package import DMKit
internal import DMModel

// What dm-sync prints for people.

extension TextFormat {
  package static func line(_ status: HubStatus) -> String {
    var parts = ["\(status.state.rawValue) (\(status.color.rawValue))"]
    if ![.normal, .offline].contains(status.network) { parts.append("network played: \(status.network.word)") }
    if status.queuedCount > 0 {
      parts.append("\(status.queuedCount) queued\(status.oldestQueuedAt.map { " since \(moment($0))" } ?? "")")
    }
    if status.failedCount > 0 { parts.append("\(status.failedCount) failed, see dm-sync pending") }
    if let last = status.lastSyncAt { parts.append("last compared \(moment(last))") }
    if let next = status.nextAttemptAt { parts.append("next attempt \(moment(next))") }
    if abs(status.clockOffset) > 5_000_000 {
      parts.append("this clock is \(status.clockOffset / 1_000_000) seconds behind the hub's")
    }
    if let fault = status.fault { parts.append(visible(fault)) }
    for conversation in status.setAside {
      parts.append("nothing comes of \(visible(conversation.name)) (\(conversation.code))")
    }
    return parts.joined(separator: "; ")
  }

  package static func line(_ item: OutboxItem) -> String {
    var parts = ["\(item.id)", item.state.rawValue, item.act]
    if let conversation = item.conversation { parts.append(visible(conversation)) }
    if let failure = item.failure { parts.append("(\(failure))") }
    if let text = item.text { parts.append(visible(text, indent: "  ")) }
    return parts.joined(separator: " ")
  }
}
