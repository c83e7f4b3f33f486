import FoundationEssentials

@testable import DMModel
@testable import DMSystem

/// A temporary folder in which a test runs real tools.
class ToolFolder: TemporaryFolder {
  func file(_ name: String) -> String { "\(path)/\(name)" }

  func bytes(of name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: name.hasPrefix("/") ? name : file(name))))
  }

  func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
    try Data(bytes).write(to: URL(filePath: file(name)))
  }

  func tool(_ name: String, _ limits: Tool.Limits = Tool.Limits(), onTick: @escaping () throws -> Void = {}) -> Tool {
    Tool(
      name: name, folder: path, searchPath: "\(path):\(Tool.environmentPath)", limits: limits,
      onTick: onTick)
  }

  /// A tool that is a script of sh(1).
  ///
  /// The script is not in a file, because a file that was just written cannot be run while a child process of another
  /// test still has it open.
  struct Script {
    var tool: Tool
    let lines: String

    func run(_ arguments: [String], receive: ((UnsafeRawBufferPointer) throws -> Void)? = nil) throws -> Tool.Outcome {
      try tool.run(["-c", lines, "script"] + arguments, receive: receive)
    }
  }

  func script(
    _ lines: String, _ limits: Tool.Limits = Tool.Limits(), onTick: @escaping () throws -> Void = {}
  ) -> Script {
    Script(tool: tool("sh", limits, onTick: onTick), lines: lines)
  }

  /// Runs a real tool that must succeed.
  @discardableResult
  func run(_ name: String, _ arguments: String...) throws -> String {
    let outcome = try tool(name, Tool.Limits(seconds: 300, processorSeconds: 600, memory: 4 << 30, fileSize: 1 << 30))
      .run(arguments)
    guard case .ok(let output) = outcome else { throw Failed(what: "\(name) \(arguments): \(outcome)") }
    return String(decoding: output, as: UTF8.self)
  }

  struct Failed: Error { let what: String }
}
