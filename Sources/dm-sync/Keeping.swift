internal import DMCLI
internal import DMKit
internal import DMSync

/// The action `keep`, and the options that limit the messages and attachments that a linked store keeps.
enum Keeping {
  static let contents = Option(
    "contents", value: "SIZE", "keep at most this much of the attachments in this store: 2G, 0 or all",
    as: { try ["all": nil, "0": 0][$0] ?? byteCount($0, of: "--contents") })
  static let messages = Option(
    "messages", value: "N|TIME",
    "keep each conversation's last N messages, or those of the last TIME: 500, 90d or all",
    as: { text in try text == "all" ? nil : kept(text) })
  static let options: [any Declared] = [messages, contents]

  private static func kept(_ text: String) throws -> KeptMessages {
    guard let kept = KeptMessages(text) else {
      throw usage("'\(text)' is neither a number of messages nor a time for --messages; write 500, 90d or all")
    }
    return kept
  }

  static func run(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    if try setLimits(call) {
      do {
        try trim(call)
      } catch let error as DMError where [.hubUnreachable, .hubRefused].contains(error.code) {
        if !call.isQuiet { printError("dm-sync", "nothing is removed until the hub can be reached; \(error.message)") }
      }
    }
    try call.print(call.messenger().keptContents(), text: \.line)
  }

  /// Sets the limits that the options give.
  ///
  /// - Returns: whether one of the options was given.
  @discardableResult static func setLimits(_ call: Invocation) throws -> Bool {
    let messenger = try call.messenger()
    if let limit = try call.arguments[contents] { try messenger.limitContents(to: limit) }
    if let kept = try call.arguments[messages] { try messenger.keep(kept) }
    return call.arguments.isGiven(contents) || call.arguments.isGiven(messages)
  }

  /// Removes messages and contents that exceed the limits.
  ///
  /// If another process synchronizes the store, that process removes the messages. If another process transfers files,
  /// that process removes the contents.
  private static func trim(_ call: Invocation) throws {
    do {
      if call.arguments.isGiven(messages), try !DMSyncProgram.syncOnce(call) { try SyncRequests.ask(call.messenger()) }
      if call.arguments.isGiven(contents) { try DMSyncProgram.leadFiles(call) { try $0.trim() } }
    } catch let fault as HubFault {
      throw fault.error
    }
  }
}

extension KeptContents {
  fileprivate var line: String {
    let limit =
      messageLimit.map { ", of each conversation the last \($0)" }
      ?? messageAge.map {
        $0 < 7200
          ? ", those of the last \($0 / 60) minutes"
          : $0 < 172_800 ? ", those of the last \($0 / 3600) hours" : ", those of the last \($0 / 86_400) days"
      }
    let contents = "\(counted(count, "content")), \(TextFormat.size(bytes))"
    let size = self.limit.map { " of at most \(TextFormat.size($0))" } ?? ""
    let parts = ["\(counted(messageCount, "message"))\(limit ?? "")", contents + size]
    return parts.joined(separator: "; ") + (self.limit == nil && limit == nil ? "; without limits" : "")
  }
}
