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
  /// The file for which the missing vectors were determined, by its generation; nil if there was none.
  private var generation: UInt64?
  /// Whether another file has taken the name of that file, so that other vectors are missing now.
  private var isStale = false
  /// The messages whose vectors were written since the program was started.
  private var written: [MessageKey] = []
  /// The first message whose text changed while its vector was computed.
  private var firstChanged: MessageKey?

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
    for _ in 0..<Self.mostStarts {
      var missing: Missing
      repeat {
        missing = try messenger.reading(Missing()) { try self.missing(after: cursor, in: $0) }
        let asked = query == nil ? text : nil
        if asked != nil || !missing.texts.isEmpty { try compute(missing, asked) }
        if isStale { break }
        try settle(missing)
        cursor = missing.extent.last
      } while missing.goesOn
      if !isStale { return query }
      (cursor, firstChanged) = (MessageKey(number: 0), nil)
    }
    throw EmbeddingProgram.Fault(reason: "its vectors change their length, or another process replaces them")
  }

  /// How often the work is begun anew because the file of vectors was replaced.
  private static let mostStarts = 5

  private func missing(after cursor: MessageKey, in session: Session) throws -> Missing {
    let (store, viewer) = (session.store, session.viewer)
    let visibility = try store.messages.visibility(of: session.me)
    let file = try VectorFile.find(in: store, session.me, model: program.command)
    let extent = try file?.extent(in: store)
    // In another file, the messages before the cursor may have no vectors.
    let cursor = extent?.generation == generation ? cursor : MessageKey(number: 0)
    (generation, isStale) = (extent?.generation, false)
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
      guard let text = try store.messages.text(of: key, as: viewer) else {
        missing.gone.append(key)
        continue
      }
      // The later ones are found below.
      if key <= from { add(key, text) }
    }
    try store.messages.texts(after: from, as: viewer) { key, text in
      if try reader?.has(key, of: text) == true || text.allSatisfy(\.isWhitespace) { return true }
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
    written = []
    defer { computed = [] }
    do {
      try program.compute((asked.map { [$0] } ?? []) + texts.map(\.text)) { [self] in
        try onTick(count, all)
      } _: { [self] number, vector in
        if number == 0 { try replace(vector.count) }
        let index = asked == nil ? number : number - 1
        if index < 0 { query = vector } else { try take((texts[index].key, texts[index].check, vector)) }
      }
    } catch let fault as EmbeddingProgram.Fault {
      // What was computed before the fault is kept, unless it may be of other texts.
      if fault.isMisaligned { try removeWritten() } else { try write() }
      throw fault
    }
    try write()
  }

  /// The store, the user and their file of vectors; nil if there is none.
  private func existing() throws -> (Store, UserKey, VectorFile)? {
    guard let store = try messenger.existingStore(), let user = try messenger.reading(nil as UserKey?, { $0.me }) else {
      return nil
    }
    return try VectorFile.find(in: store, user, model: program.command).map { (store, user, $0) }
  }

  /// Replaces a file whose vectors have another length, because the model of the program is another now.
  private func replace(_ dimension: Int) throws {
    guard let (store, user, file) = try existing(), file.dimension != dimension else { return }
    let lock = try store.writeLock()
    _ = try VectorFile.make(in: store, user, model: program.command, dimension: dimension)
    _ = consume lock
    isStale = true
  }

  private func removeWritten() throws {
    guard let (store, _, file) = try existing() else { return }
    let lock = try store.writeLock()
    try file.remove(written, isOutdated: true)
    _ = consume lock
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
      let file = try self.file(for: dimension, in: session)
      let unchanged = try computed.filter { item in
        let isSame = try store.messages.text(of: item.key, as: session.viewer).map(VectorFile.check) == item.check
        if !isSame { firstChanged = min(firstChanged ?? item.key, item.key) }
        return isSame
      }
      try file.write(unchanged)
      written += unchanged.map(\.key)
    }
    _ = consume lock
    computed = []
  }

  /// The file to which vectors are written; makes it if there is none.
  private func file(for dimension: Int, in session: Session) throws -> VectorFile {
    let (store, user) = (session.store, session.me)
    var file = try VectorFile.find(in: store, user, model: program.command)
    let found = try file?.extent(in: store)?.generation
    if found != generation { isStale = true }
    if file?.dimension != dimension {
      file = try VectorFile.make(in: store, user, model: program.command, dimension: dimension)
    }
    guard let file else { throw DMError(.internal, "there is no file for vectors") }
    generation = try file.extent(in: store)?.generation
    return file
  }

  /// Records up to which message there are vectors.
  private func settle(_ missing: Missing) throws {
    guard let (store, _, file) = try existing() else { return }
    let before = try file.extent(in: store)
    var last = missing.extent.last
    if let firstChanged { last = min(last, MessageKey(number: firstChanged.number - 1)) }
    let extent = VectorFile.Extent(last: last, visibility: missing.extent.visibility)
    if before?.isSame(as: extent) == true, before?.hasOutdated == false { return }
    let lock = try store.writeLock()
    // Another process may have replaced the file just now.
    if try file.extent(in: store)?.generation == generation {
      try file.remove(missing.gone, isOutdated: false)
      try file.set(extent, in: store)
    }
    _ = consume lock
  }
}
