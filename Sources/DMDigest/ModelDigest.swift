package import DMKit
internal import DMModel

/// A digest that a model makes: long histories in pieces, whose points are joined until they fit into one prompt.
package struct ModelDigest {
  /// The points, and what went wrong.
  package struct Result {
    package var points: [DigestPoint] = []
    /// How many points named no message that was read, and were left out.
    package var dropped = 0
    package var faults: [Fault] = []

    /// Adds a fault to an equal one, so that a model that always fails is reported once.
    fileprivate mutating func add(_ fault: Fault) {
      if let same = faults.firstIndex(where: { $0.reason == fault.reason && $0.isJoin == fault.isJoin }) {
        faults[same].count += fault.count
      } else {
        faults.append(fault)
      }
    }
  }

  /// Why an answer was not used.
  package struct Fault {
    package let reason: String
    /// Of how many messages the model was asked, or of how many points if it was to join them.
    package fileprivate(set) var count: Int
    package let isJoin: Bool
  }

  /// The instructions for the messages and for the points of pieces.
  package struct Prompts {
    let digest, join: Prompt

    package init(digest: Prompt, join: Prompt) {
      self.digest = digest
      self.join = join
    }
  }

  private let model: Model
  private let prompts: Prompts
  /// Makes the points of messages for which the model gives none.
  private let fallback: Digest
  private let onPiece: (_ done: Int, _ all: Int) throws -> Void

  /// - Parameter onPiece: called before each prompt with the number of messages that were read, and of all.
  package init(
    _ model: Model, _ prompts: Prompts, fallback: Digest,
    onPiece: @escaping (_ done: Int, _ all: Int) throws -> Void
  ) {
    self.model = model
    self.prompts = prompts
    self.fallback = fallback
    self.onPiece = onPiece
  }

  /// - Throws: the errors of `onPiece`, and those with which the model's `onTick` ends it.
  package func made(of messages: [DigestMessage]) throws -> Result {
    let known = Dictionary(messages.map { (ExactString($0.reference), $0) }) { first, _ in first }
    var result = Result()
    var pieces: [[DigestPoint]] = []
    var (left, failures): (Set<ExactString>, Int) = ([], 0)
    var done = 0
    for piece in messages.pieces(model.dataLimit, \.line) {
      try onPiece(done, messages.count)
      done += piece.elements.count
      let answer =
        failures < Self.mostFailures
        ? try model.answer(to: prompts.digest, with: piece.lines, Self.reader(of: known))
        : .failure(Self.givenUp)
      switch answer {
      case .success(let (points, dropped)):
        pieces.append(points)
        result.dropped += dropped
        failures = 0
      case .failure(let fault):
        result.add(Fault(reason: fault.reason, count: piece.elements.count, isJoin: false))
        left.formUnion(piece.elements.map { ExactString($0.reference) })
        failures += fault.isOfProgram ? 1 : 0
      }
    }
    var points = failures < Self.mostFailures ? try join(pieces, known, &result) : pieces.flatMap(\.self)
    // The cues see all messages, because an answer may be in another piece than its question.
    if !left.isEmpty {
      points += fallback.points(messages).filter { left.contains(ExactString($0.references[0])) }
    }
    result.points = points.inOrder
    return result
  }

  /// A program that fails this often in sequence is not run again.
  private static let mostFailures = 2
  private static let givenUp = UnusableAnswer("it was not asked again", isOfProgram: true)

  /// Joins the points of pieces, as many as fit into a prompt at a time, until one list is left or no list becomes
  /// shorter.
  ///
  /// A priority, an action item, a decision or a question that no joined point names is kept as it was.
  private func join(
    _ pieces: [[DigestPoint]], _ messages: [ExactString: DigestMessage], _ result: inout Result
  ) throws -> [DigestPoint] {
    var lists = pieces.filter { !$0.isEmpty }
    while lists.count > 1 {
      let all = lists.flatMap(\.self)
      var joined: [[DigestPoint]] = []
      for group in all.pieces(model.dataLimit, \.line) {
        switch try model.answer(to: prompts.join, with: group.lines, Self.reader(of: messages)) {
        case .success(let (points, _)) where !points.isEmpty:
          let named = Set(points.flatMap(\.references).map(ExactString.init))
          joined.append(
            points
              + group.elements.filter { point in
                point.kind != .summary && !point.references.contains { named.contains(ExactString($0)) }
              })
        case .success:
          result.add(Fault(reason: "it wrote no point", count: group.elements.count, isJoin: true))
          return all
        case .failure(let fault):
          result.add(Fault(reason: fault.reason, count: group.elements.count, isJoin: true))
          return all
        }
      }
      if joined.reduce(0, { $0 + $1.count }) >= all.count { return joined.flatMap(\.self) }
      lists = joined
    }
    return lists.flatMap(\.self)
  }

  /// Reads the points of an answer, and leaves out those that name a message which was not read.
  private static func reader(
    of messages: [ExactString: DigestMessage]
  ) -> ([UInt8]) throws(UnusableAnswer) -> (points: [DigestPoint], dropped: Int) {
    { bytes throws(UnusableAnswer) in
      var (points, dropped): ([DigestPoint], Int) = ([], 0)
      for object in try AnswerLines(bytes).objects {
        let kind: DigestPoint.Kind = try object.word(object.required("kind"), "kind")
        let text = try object.required("text")
        var reason: DigestPoint.Reason?
        if let word = try object.optional("reason") { reason = try object.word(word, "reason") }
        let (who, until) = (try object.optional("who"), try object.optional("until"))
        let named = try object.list("refs").map { messages[ExactString($0)] }
        let basis = named.compactMap(\.self)
        guard basis.count == named.count else {
          dropped += 1
          continue
        }
        var point = DigestPoint(kind, text, who: who, until: until, reason: kind == .priority ? reason : nil, on: basis)
        point.source = .model
        points.append(point)
      }
      return (points, dropped)
    }
  }
}

extension [DigestPoint] {
  /// The points by conversation in the order in which the conversations first occur, then by kind, then by time.
  fileprivate var inOrder: [DigestPoint] {
    var places: [ExactString: Int] = [:]
    for point in self where places[ExactString(point.conversation)] == nil {
      places[ExactString(point.conversation)] = places.count
    }
    let kinds = DigestPoint.Kind.allCases
    func place(_ point: DigestPoint) -> (Int, Int, Int64) {
      (places[ExactString(point.conversation)] ?? 0, kinds.firstIndex(of: point.kind) ?? 0, point.time.microseconds)
    }
    return enumerated().sorted { a, b in
      let (one, other) = (place(a.element), place(b.element))
      return one == other ? a.offset < b.offset : one < other
    }.map(\.element)
  }
}

/// Elements that are given to a model at once, and their lines.
package struct Piece<Element> {
  package fileprivate(set) var elements: [Element] = []
  fileprivate(set) var lines: [[UInt8]] = []
}

extension Array {
  /// The elements in order, cut into pieces of at most `limit` bytes; an element that is longer is a piece of its own.
  func pieces(_ limit: Int, _ line: (Element) -> [UInt8]) -> [Piece<Element>] {
    var (pieces, size): ([Piece<Element>], Int) = ([], 0)
    for element in self {
      let line = line(element)
      if pieces.isEmpty || size + line.count > limit {
        pieces.append(Piece())
        size = 0
      }
      pieces[pieces.count - 1].elements.append(element)
      pieces[pieces.count - 1].lines.append(line)
      size += line.count
    }
    return pieces
  }
}
