internal import DMCLI
internal import DMKit

/// A search by meaning: the program for vectors that the command line or the environment names.
struct Meaning {
  private let call: Invocation
  private let messenger: Messenger
  /// Nil for none.
  private let program: EmbeddingProgram?

  init(_ call: Invocation, _ messenger: Messenger) throws {
    (self.call, self.messenger) = (call, messenger)
    program = try call.program(DMSearch.embed, or: .embed).map { EmbeddingProgram($0) }
  }

  /// The messages that are like an example, the most alike first.
  func search(like example: SearchExample, _ request: SearchRequest) throws -> SearchResults {
    let results = try Interruption.heeded(Progress(call)) { step in
      do {
        return try messenger.search(like: example, request, with: program) { try step(Self.progress($0, $1)) }
      } catch let error as DMError {
        guard case .message = example, error.code != .busy else { throw error }
        throw error.adding("; to search for this as a text, put a space after it")
      }
    }
    if let reason = results.whyByWords {
      try call.output.flush()
      let why =
        program == nil
        ? "with --embed COMMAND or DM_EMBED, messages are found by meaning"
        : "there are no vectors of all messages: \(visible(reason))"
      printError(call.command.name, "\(why); now by the rarest words")
    }
    return results.found
  }

  /// Computes all vectors that are missing.
  func fill() throws {
    guard let program else {
      throw usage("'--fill' needs a program for vectors; give --embed COMMAND, or set DM_EMBED")
    }
    let (count, fault) = try Interruption.heeded(Progress(call)) { step in
      try messenger.computeVectors(with: program) { try step(Self.progress($0, $1)) }
    }
    if let fault {
      throw DMError(.modelFailed, "the program for vectors failed after \(counted(count, "vector")): \(visible(fault))")
    }
    try call.note(count == 0 ? "all messages have vectors" : "computed \(counted(count, "vector"))")
  }

  private static func progress(_ done: Int, _ all: Int?) -> String {
    guard done > 0 || all ?? 0 > 1 else { return "asking the program for vectors" }
    return "computed \(counted(done, "vector"))" + (all.map { " of \($0)" } ?? "")
  }

  /// The example of `--like`: a message if it is written as one with its conversation, else the text.
  static func example(_ text: String) -> SearchExample {
    guard !text.contains(where: \.isWhitespace), text.contains(":") || Identifier(text) != nil else {
      return .text(text)
    }
    do {
      return .message(try MessageReference(text))
    } catch {
      return .text(text)
    }
  }
}
