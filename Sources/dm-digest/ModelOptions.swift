internal import DMCLI
internal import DMDigest
internal import DMKit

/// The model that the command line or the environment names, and the files of the user.
struct ModelOptions {
  /// The command of the model; nil for none.
  private let command: String?

  init(_ call: Invocation) throws {
    command = try call.program(DMDigestProgram.model, or: .model)
    let needing: [any Declared] = [
      DMDigestProgram.translate, DMDigestProgram.dryRun, DMDigestProgram.prompt, DMDigestProgram.tokens,
      DMDigestProgram.limit,
    ]
    if command == nil, let option = needing.first(where: call.arguments.isGiven) {
      throw usage("'\(option.declaration.spelling)' needs a model; give --model COMMAND, or set DM_MODEL")
    }
  }

  // MARK: Files of the user

  /// The cues that are in the program, those of the user's file `cues.txt`, and those of `--cues`.
  static func cues(_ arguments: Arguments) throws -> Cues {
    var cues = try Cues()
    if let path = try file("cues.txt"), let text = try text(of: path, ifThere: true) { try cues.add(text, from: path) }
    if let path = try arguments[DMDigestProgram.cues], let text = try text(of: path) { try cues.add(text, from: path) }
    return cues
  }

  /// The path of a file of the user for digests; nil without a home folder.
  private static func file(_ name: String) throws -> String? {
    try configurationFolder().map { "\($0)/digest/\(name)" }
  }

  private static func text(of path: String, ifThere: Bool = false) throws -> String? {
    do {
      var input = try LineInput(path: path)
      return try input.text(limit: 1 << 20)
    } catch let error as DMError where ifThere && error.code == .unknownFile {
      return nil
    }
  }

  /// The prompt of `--prompt`, of the user's file, or of the program.
  private static func prompt(_ name: Prompt.Name, _ arguments: Arguments) throws -> Prompt {
    if name != .join, let path = try arguments[DMDigestProgram.prompt], let text = try text(of: path) {
      return Prompt(text)
    }
    guard let path = try file("\(name.rawValue).md"), let text = try text(of: path, ifThere: true) else {
      return Prompt(name)
    }
    return Prompt(text)
  }

  // MARK: What the model does

  private static func tokens(_ arguments: Arguments) throws -> Int {
    try arguments[DMDigestProgram.tokens] ?? Model.usualTokens
  }

  private func model(_ call: Invocation, onTick: @escaping () throws -> Void) throws -> Model {
    let limit = try call.arguments[DMDigestProgram.limit] ?? .seconds(Model.usualSeconds)
    return try Model(
      command ?? "", seconds: max(1, limit.components.seconds), tokens: Self.tokens(call.arguments), onTick: onTick)
  }

  /// Prints what the model would be asked.
  private static func printPrompts(_ prompt: Prompt, _ reading: Reading, _ call: Invocation) throws {
    for text in try prompt.texts(for: reading.messages, tokens: tokens(call.arguments)) {
      try call.output.write(lines: text)
    }
  }

  /// The points by the model, or by cues if there is no model; nil if the prompts were printed instead.
  func points(
    _ reading: Reading, _ user: Handle, _ most: Int?, _ digest: Digest, _ call: Invocation
  ) throws -> [DigestPoint]? {
    if command == nil { return digest.points(reading.messages) }
    let values: KeyValuePairs = ["user": user.description, "points": most.map(String.init) ?? "100"]
    let prompt = try Self.prompt(.digest, call.arguments).filled(values)
    let prompts = ModelDigest.Prompts(digest: prompt, join: try Self.prompt(.join, call.arguments).filled(values))
    if call.arguments[DMDigestProgram.dryRun] {
      try Self.printPrompts(prompt, reading, call)
      return nil
    }
    let result = try Interruption.heeded(Progress(call)) { step in
      var state = "asking the model"
      let model = try model(call) { try step(state) }
      return try ModelDigest(model, prompts, fallback: digest) {
        state = "the model has read \($0) of \($1) messages"
        try step(state)
      }.made(of: reading.messages)
    }
    try Self.report(result, call)
    return result.points
  }

  /// Says on standard error what the model did not do.
  private static func report(_ result: ModelDigest.Result, _ call: Invocation) throws {
    try call.output.flush()
    for fault in result.faults {
      let what =
        fault.isJoin
        ? "it did not join \(counted(fault.count, "point"))"
        : "cues are used for \(counted(fault.count, "message"))"
      printError(call.command.name, "the model failed: \(visible(fault.reason)); \(what)")
    }
    if result.dropped == 0 { return }
    printError(call.command.name, "left out \(counted(result.dropped, "point")) that no message supports")
  }

  /// Prints each message with its text in another language.
  func translate(_ reading: Reading, to language: String, _ call: Invocation) throws {
    let prompt = try Self.prompt(.translate, call.arguments).filled(["language": language])
    if call.arguments[DMDigestProgram.dryRun] { return try Self.printPrompts(prompt, reading, call) }
    let progress = Progress(call)
    for piece in Translation.pieces(of: reading.messages, tokens: try Self.tokens(call.arguments)) {
      // Signals are blocked only while the model runs: a signal must end a program whose output nobody reads.
      let texts = try Interruption.heeded(progress) { step in
        try Translation(model(call) { try step("asking the model") }, prompt).texts(of: piece)
      }
      for (message, text) in zip(piece.elements, texts) {
        try call.print(Translated(message, text, language)) { Page.line($0) }
      }
      try call.output.flush()
    }
  }
}
