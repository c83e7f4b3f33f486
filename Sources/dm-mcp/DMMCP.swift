internal import DMAgent
package import DMCLI
internal import DMKit

package struct DMMCP: Program {
  static let readOnly = Flag("read-only", "let the agent only read, not send, react or mark as read")
  static let only = Option(
    "only", value: "CONV", "let the agent use only this conversation; can be repeated", as: ConversationReference.init)

  package static let command = Command(
    "dm-mcp", "let an agent act as a user: a server of the Model Context Protocol",
    synopsis: ["[OPTION]..."], options: [readOnly, only],

    examples: [
      ("dm-mcp --as bot", "the command that an agent starts, to act as the user bot"),
      ("dm-mcp --as bob --read-only --only +ops", "an agent that reads one group, and cannot send"),
    ], writes: ["conversation", "message", "digest", "reaction", "marked", "error"])

  package static func run(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    try call.arguments.refuse([Common.quiet, Common.text]) { "'\($0)' does not go with JSON-RPC; leave it out" }
    if isTerminal(.input) {
      throw usage("standard input is a terminal; let an agent start dm-mcp, and write JSON-RPC to it; see --help")
    }
    let only = try call.arguments.all(only)
    let settings = AgentServer.Settings(
      name: command.name, version: version, isReadOnly: call.arguments[readOnly], only: only.isEmpty ? nil : only)
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
}
