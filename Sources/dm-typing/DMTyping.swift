package import DMCLI
internal import DMKit

package struct DMTyping: Program {
  static let on = Flag("on", "show typing for the next 5 seconds, and exit")
  static let off = Flag("off", "stop showing typing")
  static let length = Option("for", value: "TIME", "show typing for this time, and wait until it ends", as: duration)
  static let watch = Flag("watch", "print the users who are typing, at each change")

  package static let command = Command(
    "dm-typing", "show others that you are typing, and show who is typing",
    synopsis: [
      "CONVERSATION --on | --off | --for TIME", "CONVERSATION", "CONVERSATION -- COMMAND [ARGUMENT]...",
      "--watch [CONVERSATION]",
    ],
    options: [on, off, length, watch], operands: "CONVERSATION COMMAND...",
    rules: [.atMostOne([on, off, length, watch]), .excludes(watch, [Common.quiet])],
    examples: [
      ("llm \"$question\" | dm-typing bob | dm-send bob", "typing shows while the text is being produced"),
      ("dm-typing bob -- llm \"$question\" | dm-send bob", "typing shows while the command runs"),
      ("dm-typing bob | dm-send --lines bob", "on a terminal: typing shows while you type"),
      ("dm-typing bob --for 5s", "show typing for five seconds"),
      ("dm-typing --watch +ops", "who is typing in the group"),
    ], writes: ["typing"])

  /// The action that the options and operands select.
  ///
  /// Actions other than `watch`, `on` and `off` show typing until they end.
  private enum Mode {
    case watch
    case on
    case off
    case time(Duration)
    case command([String])
    case keystrokes
    case input
  }

  private static func mode(_ arguments: Arguments) throws -> Mode {
    if arguments[watch] {
      try arguments.atMost(1)
      return .watch
    }
    _ = try arguments.operand(0, "CONVERSATION")
    if [on, off, length].contains(where: arguments.isGiven) { try arguments.atMost(1) }
    if arguments[on] { return .on }
    if arguments[off] { return .off }
    if let length = try arguments[length] { return .time(length) }
    if arguments.operands.count > 1 { return .command(Array(arguments.operands.dropFirst())) }
    return isTerminal(.input) ? .keystrokes : .input
  }

  package static func run(_ call: Invocation) throws {
    func signal() throws -> TypingSignal? {
      defer { call.startCarrier() }
      return try call.messenger().typing(in: ConversationReference(call.arguments.operand(0, "CONVERSATION")))
    }
    func show(_ body: (inout TypingIndicator) throws -> Void) throws {
      var showing = try TypingIndicator(signal(), of: call.messenger())
      try body(&showing)
    }
    switch try mode(call.arguments) {
    case .watch: try printTyping(call)
    case .on:
      guard let signal = try signal() else { break }
      signal.show()
      try call.messenger().reportTyping(for: 0)
    case .off: try signal()?.hide()
    case .time(let length): try show { $0.last(length) }
    case .command(let words): try show { try $0.run(words) }
    case .keystrokes: try show { try $0.keystrokes(isPlain: call.screen().isPlain) }
    case .input: try show { try $0.passThrough() }
    }
  }

  private static func printTyping(_ call: Invocation) throws {
    var query = EventQuery(try call.arguments.operands.map(ConversationReference.init))
    query.kinds = [.typing]
    query.signalsPresence = false
    var page = MessagePage(try call.messenger(), query.conversations)
    try call.follow(query) { events in
      for event in events {
        if case .typing(let typing) = event { try call.print(typing) { _ in try page.text(of: event) } }
      }
      return nil
    }
  }
}
