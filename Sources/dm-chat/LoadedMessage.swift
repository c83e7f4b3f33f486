internal import DMCLI
internal import DMKit

/// A message that is in memory.
struct LoadedMessage {
  var message: Message
  /// The rows of the message on the screen, made when they are first shown.
  var rows: [[UInt8]]?
  /// The local date of the message.
  let day: String

  init(_ message: Message) { (self.message, day) = (message, TextFormat.day(message.createdAt)) }
}
