public import DMModel
internal import DMStore

/// What the messages that a search by meaning finds shall be like.
public enum SearchExample: Sendable {
  /// A text, such as a sentence that a person writes to describe what they look for.
  case text(String)
  /// A message with a text, which is not among the results itself.
  case message(MessageReference)
}

/// The results of a search by meaning.
public struct LikeResults {
  /// The messages, the most alike first.
  public let found: SearchResults
  /// Why the messages were found by the rarest words of the example and not by vectors; nil if they were found by
  /// vectors.
  public let whyByWords: String?
}

/// How many messages a program for vectors has read, and how many it has to read; nil while the latter are counted.
public typealias MeaningProgress = (_ done: Int, _ all: Int?) throws -> Void

extension Messenger {
  /// Finds the messages that mean something like an example.
  ///
  /// First computes the vectors of all messages that have none, which takes as long as the program needs for them. The
  /// vectors are kept. If the program fails, or if there is none, messages are found by the rarest words of the example.
  ///
  /// - Parameters:
  ///   - example: the text or the message.
  ///   - request: which messages may be found, and how many; its words are not used.
  ///   - program: computes the vectors; nil for none.
  ///   - onTick: called about five times a second while the program runs; an error that it throws ends the search.
  /// - Throws: the errors of `search` and `onTick`; `unknown_message` for the example.
  public func search(
    like example: SearchExample, _ request: SearchRequest, with program: EmbeddingProgram?,
    onTick: @escaping MeaningProgress
  ) throws -> LikeResults {
    let meter = onAct.map { _ in ActMeter(.searched, self) }
    let results = try meter.timed { () -> LikeResults in
      let (text, itself) = try self.text(of: example)
      // A wrong name is refused before the program works for minutes.
      try reading(()) { _ = try $0.filter(request) }
      guard let program else {
        return LikeResults(found: try search(words: text, besides: itself, request), whyByWords: "there is no program")
      }
      do {
        let vector = try MeaningIndex(self, program, onTick: onTick).fill(andCompute: text)
        let found = try search(vector: vector ?? [], of: program, besides: itself, request)
        return LikeResults(found: found, whyByWords: nil)
      } catch let fault as EmbeddingProgram.Fault {
        return LikeResults(found: try search(words: text, besides: itself, request), whyByWords: fault.reason)
      } catch let error as DMError where [.readOnlyStore, .inputOutput, .cannotCreate].contains(error.code) {
        // A store that can be read can be searched, even if no vectors can be written.
        return LikeResults(found: try search(words: text, besides: itself, request), whyByWords: error.message)
      }
    }
    results.found.meter = meter
    return results
  }

  /// Computes the vectors of all messages that have none.
  ///
  /// - Parameters:
  ///   - program: computes the vectors.
  ///   - onTick: called about five times a second while the program runs; an error that it throws ends the work.
  /// - Returns: how many vectors were computed, and why others were not; nil if all were.
  /// - Throws: the errors of `onTick` and of the store.
  public func computeVectors(
    with program: EmbeddingProgram, onTick: @escaping MeaningProgress
  ) throws -> (count: Int, fault: String?) {
    let index = MeaningIndex(self, program, onTick: onTick)
    do {
      _ = try index.fill(andCompute: nil)
    } catch let fault as EmbeddingProgram.Fault {
      return (index.count, fault.reason)
    }
    return (index.count, nil)
  }

  /// The text of an example, and the message that it is, if it is one.
  private func text(of example: SearchExample) throws -> (text: String, itself: MessageKey?) {
    let reference: MessageReference
    switch example {
    case .text(let text): return (text, nil)
    case .message(let message): reference = message
    }
    let found = try reading(nil as (text: String?, key: MessageKey?)?) { session in
      let (row, message) = try session.visibleMessage(reference)
      let address = message.seq.map { Messages.Address(conversation: row.key, seq: $0) }
      return (message.text, try address.flatMap { try session.store.messages.row(at: $0)?.key })
    }
    guard let text = found?.text, !text.allSatisfy(\.isWhitespace) else {
      throw DMError(
        .unknownMessage, "the message '\(reference)' has no text; name another", subject: reference.description)
    }
    return (text, found?.key)
  }

  private func search(
    vector: [Float], of program: EmbeddingProgram, besides itself: MessageKey?, _ request: SearchRequest
  ) throws -> SearchResults {
    try SearchResults(self) { session in
      let store = session.store
      let file = try VectorFile.find(in: store, session.me, model: program.command)
      guard let file, file.dimension == vector.count else { return (nil, []) }
      let filter = try session.filter(request)
      let reader = try VectorReader(file)
      var found: [(key: MessageKey, likeness: Double?)] = []
      let limit = request.limit ?? .max
      try reader.search(vector, among: store.messages.keys(passing: filter, as: session.viewer)) { match in
        // A vector may be older than the text if a process was killed between the two.
        guard found.count < limit, try session.passes(match.key, filter, besides: itself),
          let text = try store.messages.text(of: match.key, as: session.viewer), try reader.has(match.key, of: text)
        else { return found.count < limit }
        found.append((match.key, Double(match.likeness)))
        return true
      }
      return (nil, found)
    }
  }

  private func search(
    words text: String, besides itself: MessageKey?, _ request: SearchRequest
  ) throws -> SearchResults {
    try SearchResults(self) { session in
      let filter = try session.filter(request)
      let words = try RareWords(in: text, session) { try session.passes($0, filter, besides: itself) }
      return (words.expression, try words.best(request.limit ?? .max).map { ($0, nil) })
    }
  }
}

extension Session {
  fileprivate func passes(
    _ key: MessageKey, _ filter: Messages.SearchFilter, besides itself: MessageKey?
  ) throws -> Bool {
    try key != itself && store.messages.passes(key, filter, as: viewer)
  }
}
