package import DMCLI
internal import DMKit
internal import DMSystem

package struct DMChat: Program {
  static let bell = Flag("bell", "ring the terminal's bell for each message from others")
  static let invisible = Flag("invisible", "do not show that you are online")

  package static let command = Command(
    "dm-chat", "read and write a conversation in one window", synopsis: ["[OPTION]... [CONVERSATION]"],
    options: [bell, invisible], operands: "CONVERSATION|USER",
    examples: [
      ("dm-chat bob", "open the conversation with bob; /help shows the commands and the keys"),
      ("dm-chat +ops", "open the conversation of a group"), ("dm-chat", "choose a conversation from the list"),
      ("dm-chat --plain bob", "print the conversation line by line, without moving the cursor"),
    ],
    topics: [("Commands, typed in the window", Entered.commands), ("Keys", Entered.keys)],
    refused: [Common.json, Common.text, Common.quiet], writes: [])

  package static func run(_ call: Invocation) throws {
    let arguments = call.arguments
    try arguments.atMost(1)
    try arguments.refuse([Common.json, Common.text, Common.quiet]) {
      "'\($0)' does not go with a window; use dm-tail and dm-send in scripts"
    }
    let conversation = try arguments.operands.first.map(ConversationReference.init)
    if try call.screen().isPlain || environment("TERM") == "dumb" { return try PlainChat(call, conversation).run() }
    guard isTerminal(.input), isTerminal(.output) else {
      throw usage("a window needs a terminal; write 'dm-chat --plain', or use dm-tail and dm-send in scripts")
    }
    try inWindow(call, conversation)
  }

  /// Shows a conversation, or the list from which the user chooses another one, until the user leaves.
  private static func inWindow(_ call: Invocation, _ conversation: ConversationReference?) throws {
    // The name is checked before the window uses the terminal, so that an unknown name causes an ordinary error
    // message.
    if let conversation { _ = try Conversing(call.messenger(), conversation) }
    let window = try Window()
    call.keepsWarnings = true
    do {
      var next = try conversation ?? Picker(call, window).run()
      while let conversation = next {
        let (end, here) = try show(conversation, call, window)
        next =
          switch end {
          case .quit: nil
          case .list: try Picker(call, window, from: here).run()
          case .other(let other): other
          }
      }
    } catch {
      window.leave()
      throw error
    }
    window.leave()
    window.ending?.end()
  }

  /// Shows a conversation until the user leaves it.
  ///
  /// - Returns: how they left, and a reference to the conversation that stays right if its title changes.
  private static func show(
    _ conversation: ConversationReference, _ call: Invocation, _ window: Window
  ) throws -> (ChatModel.End, ConversationReference) {
    let chat = try Chat(call, window, conversation)
    return (try chat.run(), chat.reference)
  }
}
