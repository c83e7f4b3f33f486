internal import DMModel
internal import DMStore
internal import DMSystem

/// Keeps a file with the vectors of all messages that the user sees.
final class MeaningIndex {
  private let messenger: Messenger
  private let program: EmbeddingProgram
  private let onTick: (_ done: Int, _ all: Int?) throws -> Void

  /// The vectors that were computed and are not in the file yet.
  private var computed: [(key: MessageKey, check: UInt64, vector: [Float])] = []
  private var writtenAt = monotonicMicroseconds()
  /// How many vectors were computed.
  private(set) var count = 0
  /// The vector of the query, once it was computed.
  private var query: [Float]?

  /// The maximum number of messages, and of bytes of their texts, that one run of the program gets.
  private static let run = (count: 100_000, bytes: 16 << 20)
  /// After this number of vectors, or of microseconds, the vectors are written to the file.
  private static let batch = (count: 4096, time: 1_000_000 as Int64)

  /// - Parameter onTick: called often, with how many messages were read by the program, and how many it has to read.
  init(
    _ messenger: Messenger, _ program: EmbeddingProgram, onTick: @escaping (_ done: Int, _ all: Int?) throws -> Void
  ) {
    self.messenger = messenger
    self.program = program
    self.onTick = onTick
  }

  /// What has to be computed.
  private struct Missing {
    var texts: [(key: MessageKey, check: UInt64, text: String)] = []
    /// The messages that have no text any more.
    var gone: [MessageKey] = []
    /// Up to which message there are vectors after this work.
    var extent = VectorFile.Extent(last: MessageKey(number: 0), visibility: 0)
    /// Whether the work is not the last.
    var goesOn = false
  }

  /// Computes the vectors that are missing, and returns that of a text.
  ///
  /// The text is the first that the program reads, so that one start of the program is enough if nothing is missing.
  ///
  /// - Throws: `EmbeddingProgram.Fault`; the errors of `onTick` and of the store.
  func fill(andCompute text: String?) throws -> [Float]? {
    var cursor = MessageKey(number: 0)
    var goesOn = true
    while goesOn {
      let missing = try messenger.reading(Missing()) { try self.missing(after: cursor, in: $0) }
      goesOn = missing.goesOn
      let asked = query == nil ? text : nil
      if asked != nil || !missing.texts.isEmpty { try compute(missing, asked) }
      try settle(missing)
      cursor = missing.extent.last
    }
    return query
  }

  private func missing(after cursor: MessageKey, in session: Session) throws -> Missing {
    let (store, viewer) = (session.store, session.viewer)
    let visibility = try store.messages.visibility(of: session.me)
    let file = try VectorFile.find(in: store, session.me, model: program.command)
    let extent = try file?.extent(in: store)
    let isSame = extent?.visibility == visibility
    let from = max(cursor, isSame ? extent?.last ?? cursor : MessageKey(number: 0))
    var missing = Missing(extent: .init(last: try store.messages.lastMessageKey(), visibility: visibility))
    var bytes = 0
    func add(_ key: MessageKey, _ text: String) {
      missing.texts.append((key, VectorFile.check(of: text), text))
      bytes += text.utf8.count
    }
    let reader = try file.map { try VectorReader($0) }
    for key in extent?.hasOutdated == true ? try reader?.outdated() ?? [] : [] {
      if let text = try store.messages.text(of: key, as: viewer) { add(key, text) } else { missing.gone.append(key) }
    }
    try store.messages.texts(after: from, as: viewer) { key, text in
      if try reader?.has(key) == true || text.allSatisfy(\.isWhitespace) { return true }
      guard missing.texts.count < Self.run.count, bytes < Self.run.bytes else {
        missing.goesOn = true
        missing.extent = .init(last: MessageKey(number: key.number - 1), visibility: visibility)
        return false
      }
      add(key, text)
      return true
    }
    return missing
  }

  private func compute(_ missing: Missing, _ asked: String?) throws {
    let (texts, done) = (missing.texts, count)
    let all = missing.goesOn ? nil : done + texts.count
    try onTick(done, all)
    defer { computed = [] }
    do {
      try program.compute((asked.map { [$0] } ?? []) + texts.map(\.text)) { [self] in
        try onTick(count, all)
      } _: { [self] number, vector in
        let index = asked == nil ? number : number - 1
        if index < 0 { query = vector } else { try take((texts[index].key, texts[index].check, vector)) }
      }
    } catch let fault as EmbeddingProgram.Fault {
      // What was computed before the fault is kept.
      try write()
      throw fault
    }
    try write()
  }

  private func take(_ vector: (key: MessageKey, check: UInt64, vector: [Float])) throws {
    computed.append(vector)
    count += 1
    if computed.count >= Self.batch.count || monotonicMicroseconds() - writtenAt > Self.batch.time { try write() }
  }

  /// Writes what was computed, without the messages whose texts have changed meanwhile.
  private func write() throws {
    writtenAt = monotonicMicroseconds()
    guard let dimension = computed.first?.vector.count, let store = try messenger.existingStore() else { return }
    let lock = try store.writeLock()
    try messenger.reading(()) { session in
      let user = session.me
      var file = try VectorFile.find(in: store, user, model: program.command)
      if file?.dimension != dimension {
        file = try VectorFile.make(in: store, user, model: program.command, dimension: dimension)
      }
      try file?.write(
        computed.filter { item in
          try store.messages.text(of: item.key, as: session.viewer).map(VectorFile.check) == item.check
        })
    }
    _ = consume lock
    computed = []
  }

  /// Records up to which message there are vectors.
  private func settle(_ missing: Missing) throws {
    guard let store = try messenger.existingStore() else { return }
    let user = try messenger.reading(nil as UserKey?) { $0.me }
    guard let user, let file = try VectorFile.find(in: store, user, model: program.command) else { return }
    guard try file.extent(in: store) != missing.extent else { return }
    let lock = try store.writeLock()
    for key in missing.gone { try file.remove(key, isOutdated: false) }
    try file.set(missing.extent, in: store)
    _ = consume lock
  }
}
