internal import DMAgent
package import DMCLI
internal import DMKit
internal import DMSystem

package struct DMMCP: Program {
  static let readOnly = Flag("read-only", "let the agent only read, not send, react or mark as read")
  static let only = Option(
    "only", value: "CONV", "let the agent use only this conversation; can be repeated", as: ConversationReference.init)
  static let sendTo = Option(
    "send-to", value: "CONV,...", values: [.conversations, .people],
    "let the agent write only to these conversations; can be repeated", as: conversations)
  static let rate = Option(
    "rate", value: "N/TIME", "let the agent make at most this many changes, such as 5/m, 20/h or 100/d", as: changes)
  static let filesFrom = Option("files-from", value: "DIR", "let the agent send the files in this folder")
  static let log = Option(
    "log", value: "FILE", "log each call to this file; a call that cannot be logged is not carried out")
  static let logTexts = Flag("log-texts", "with --log: also log texts")

  package static let command = Command(
    "dm-mcp", "let an agent act as a user: a server of the Model Context Protocol",
    synopsis: ["[OPTION]..."], options: [readOnly, only, sendTo, rate, filesFrom, log, logTexts],
    rules: [.excludes(readOnly, [sendTo, rate, filesFrom]), .needs(logTexts, [log])],
    examples: [
      ("dm-mcp --as bot", "the command that an agent starts, to act as the user bot"),
      ("dm-mcp --as bob --read-only --only +ops", "an agent that reads one group, and cannot send"),
      ("dm-mcp --as bob --send-to alice,+ops --rate 20/h --log bot.log", "an agent that writes little, and is logged"),
    ], writes: ["digest", "reaction", "message_deleted", "marked", "error"])

  package static func run(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    try call.arguments.refuse([Common.quiet, Common.text]) { "'\($0)' does not go with JSON-RPC; leave it out" }
    if isTerminal(.input) {
      throw usage("standard input is a terminal; let an agent start dm-mcp, and write JSON-RPC to it; see --help")
    }
    let settings = try settings(call.arguments)
    let streams = AgentServer.Streams(input: Stream.input.rawValue) { line in
      try call.output.write(lines: line)
      try call.output.flush()
    } log: { message in
      printError(command.name, message)
    } carry: {
      call.startCarrier()
    }
    try AgentServer(call.messenger(), settings, streams).run()
  }

  private static func settings(_ arguments: Arguments) throws -> AgentServer.Settings {
    var settings = AgentServer.Settings(name: command.name, version: version)
    settings.isReadOnly = arguments[readOnly]
    let (only, sendTo) = (try arguments.all(only), try arguments.all(sendTo).flatMap(\.self))
    settings.only = only.isEmpty ? nil : only
    settings.sendTo = sendTo.isEmpty ? nil : sendTo
    settings.rate = try single(rate, arguments)
    settings.files = try single(filesFrom, arguments).map { path in
      if FileStatus(path)?.kind == .folder { return path }
      throw DMError(.unknownFile, "there is no folder '\(path)'; name one", subject: path)
    }
    settings.log = try single(log, arguments).map { try CallLog($0, hasTexts: arguments[logTexts]) }
    return settings
  }

  /// The value of an option; refuses a second one, which would replace a limit that the owner has set.
  private static func single<Value>(_ option: Option<Value>, _ arguments: Arguments) throws -> Value? {
    let values = try arguments.all(option)
    if values.count > 1 { throw usage("'\(option.declaration.spelling)' is given \(values.count) times; keep one") }
    return values.first
  }

  /// The conversations of a list with commas.
  private static func conversations(_ list: String) throws -> [ConversationReference] {
    try list.split(separator: ",", omittingEmptySubsequences: false).map { try ConversationReference(String($0)) }
  }

  private static func changes(_ text: String) throws -> Rate {
    if let rate = Rate(text) { return rate }
    throw usage("'\(text)' is not a rate; write 5/m, 20/h or 100/d, with a number from 1 to 10000")
  }
}
