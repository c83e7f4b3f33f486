internal import DMJSON
internal import DMKit
internal import DMModel

/// Lines that dm-import reads: users, the conversation, and messages with the paths of their attachments.
final class JSONFormat: Format {
  private let job: Job
  private let target: Target
  private var json = JSONWriter()
  private var users: Set<Handle> = []
  private var firstSeq: Int?

  init(_ job: Job) throws {
    self.job = job
    target = try job.target("messages.jsonl")
  }

  func begin() throws {
    var conversation = job.conversation
    for handle in conversation.participants { try add(handle) }
    // The last message is among the messages, and the draft is not history.
    conversation.lastMessage = nil
    conversation.draftText = nil
    json.line(conversation)
    try write()
  }

  /// Writes the line of a user before the first line that names the user.
  private func add(_ handle: Handle) throws {
    if users.insert(handle).inserted { json.line(try job.messenger.user(handle)) }
  }

  func add(_ message: Message) throws {
    try add(message.sender)
    firstSeq = firstSeq ?? message.seq
    var plain = message
    // dm-import refuses a reply to a message that is not there.
    if let seq = message.replyTo?.seq, let firstSeq, seq >= firstSeq {} else { plain.replyTo = nil }
    plain.attachments = []
    plain.write(to: &json)
    if !message.attachments.isEmpty {
      let paths = try message.attachments.map { try job.copy($0, of: message) }
      json.extendObject { json in
        json.key("attachments")
        json.array { json in
          for (attachment, path) in zip(message.attachments, paths) {
            attachment.write(to: &json)
            if let path { json.extendObject { $0.member("path", path) } }
          }
        }
      }
    }
    json.endLine()
    try write()
  }

  private func write() throws {
    target.bytes += json.bytes
    json.removeAll()
    try target.drain()
  }

  func end() throws { try job.finish(target) }
}
