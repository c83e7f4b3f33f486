package import DMKit
internal import DMModel
internal import DMStore
internal import DMSystem

/// Uploads the files of waiting messages, and fetches the contents of received attachments.
///
/// Only one process at a time does this for a store; see `lead`. An interrupted transfer resumes where it ended.
package final class FileCarrier {
  private let messenger: Messenger
  private let store: Store
  private let link: any FileLink
  private let location: StoreLocation
  private var lock: FileLock?
  private var isOpen = false
  /// Whether the hub has the same epoch and start time as at the store's last comparison with the hub.
  private var isCompared = false

  /// The size of a chunk in bytes, which is part of the protocol.
  private let chunkBytes: Int
  /// The number of chunks in a round trip, which grows while the connection is fast.
  private var batch = 1
  private static let mostChunks = 16
  /// Whether the last transfer was an upload.
  private var hasUploaded = false
  /// The file to transfer next, which may be the current file; nil if the store must be asked for the next file.
  private var following: HubFiles.Row?
  /// The limits, in microseconds, by which the number of chunks is adapted to the connection.
  ///
  /// A round trip shorter than `fast` doubles the number of chunks; a round trip longer than `slow` halves the number.
  private static let fast: Int64 = 1_000_000
  private static let slow: Int64 = 4_000_000
  /// Microseconds until the next attempt after a fault of the connection, and after an error on this machine.
  private static let connectionPause: Int64 = 5_000_000
  private static let machinePause: Int64 = 60_000_000

  /// - Parameter chunkBytes: the size of a chunk; only tests use a size that is not the hub's.
  /// - Throws: `no_hub` for a store that is not linked.
  package init(_ messenger: Messenger, _ link: any FileLink, chunkBytes: Int = 256 * 1024) throws {
    self.messenger = messenger
    self.chunkBytes = chunkBytes
    self.link = link
    location = messenger.location
    store = try messenger.linkedStore().0
    _ = createFolder(location.live)
  }

  /// Acquires the lock that lets only one process exchange files, and keeps the lock as long as this object exists.
  ///
  /// - Returns: false if another process has the lock.
  /// - Throws: `io_error`.
  package func lead() throws -> Bool {
    lock = try FileLock(leading: location.filesLock)
    return lock != nil
  }

  /// Transfers all files that can be transferred now, and closes the connection.
  ///
  /// An error with one file does not stop the others, but a fault of the connection does.
  ///
  /// - Throws: `HubFault`, after it was recorded for the file.
  package func carry() throws {
    defer {
      close()
      removeFile(location.liveFile)
    }
    try carryAll()
    try trim()
  }

  /// If all contents together exceed their limit, removes some that can be fetched from the hub again.
  ///
  /// - Throws: `HubFault`.
  package func trim() throws {
    guard try messenger.exceedsContentsLimit(), try messenger.linkedStore().1.network != .offline else { return }
    defer { close() }
    try open()
    if isCompared { try messenger.trimContents() }
  }

  private func carryAll() throws {
    while let file = try following ?? next() {
      (following, hasUploaded) = (nil, !file.isUploaded)
      do {
        if try messenger.linkedStore().1.network == .offline {
          throw HubFault.lost("the simulated network is offline")
        }
        try open()
        try file.isUploaded ? fetch(file) : upload(file)
      } catch HubFault.damaged(let fault) {
        close()
        try fail(file, fault, until: nil)
      } catch let fault as HubFault {
        try postpone(file, fault.text, Self.connectionPause)
        throw fault
      } catch let error as DMError {
        // The connection cannot be used again, because rows of an answer may be unread.
        close()
        try postpone(file, error.message, Self.machinePause)
      }
    }
  }

  /// The next file: uploads and fetches alternate, and smaller files come first.
  private func next() throws -> HubFiles.Row? { try store.read { try store.hubFiles.next(uploads: !hasUploaded) } }

  /// Whether another file must be transferred before the rest of this one; stores the next file in `following`.
  private func mustYield(_ file: HubFiles.Row) throws -> Bool {
    following = try next()
    return following?.key != file.key
  }

  /// Measures a round trip, and chooses the number of chunks for the next one, so that a slow connection answers in
  /// time.
  private func timed<Value>(_ body: () throws -> Value) throws -> Value {
    let start = monotonicMicroseconds()
    let value = try body()
    let elapsed = monotonicMicroseconds() - start
    if elapsed < Self.fast { batch = min(2 * batch, Self.mostChunks) }
    if elapsed > Self.slow { batch = max(1, batch / 2) }
    return value
  }

  private func open() throws {
    if isOpen { return }
    let (hello, hub) = (try link.open(), try messenger.linkedStore().1)
    guard hello.hub == hub.id else { throw HubFault.mismatch("the hub is another one") }
    guard hello.hasFiles else {
      throw HubFault.lost("the hub's version takes no files; ask its administrator to update it")
    }
    isOpen = true
    isCompared = (hello.epoch, hello.startedAt) == (hub.epoch, hub.startedAt)
  }

  private func close() {
    link.close()
    isOpen = false
  }

  // MARK: Uploading

  private func upload(_ file: HubFiles.Row) throws {
    // The hub already has the file of a forwarded message, so the content need not be in this store.
    guard location.contents.size(of: file.key.hash) == file.key.size else { return try finish(file) }
    let begun = try link.upload(file.key.id, size: file.key.size)
    if begun.fault == "id_taken" { return try replace(file) }
    guard try isTaken(begun, file) else { return }
    if begun.isWhole { return try finish(file) }
    let path = location.contents.path(of: file.key.hash)
    let content = try OpenFile(path, for: .readingItself) { fileError(.inputOutput, "read", path, $0) }
    var number = begun.chunks
    content.seek(to: number * chunkBytes)
    while number * chunkBytes < file.key.size {
      let chunks = try chunks(of: content, file, from: number)
      guard try isTaken(timed { try link.put(chunks, of: file.key.id, first: number) }, file) else { return }
      number += chunks.count
      try show(file, done: min(file.key.size, number * chunkBytes))
      if number * chunkBytes < file.key.size, try mustYield(file) { return }
    }
    try finish(file)
  }

  /// - Throws: `store_damaged` if the content is shorter than its recorded size.
  private func chunks(of content: borrowing OpenFile, _ file: HubFiles.Row, from number: Int) throws -> [[UInt8]] {
    let rest = file.key.size - number * chunkBytes
    var chunks: [[UInt8]] = []
    for offset in stride(from: 0, to: min(rest, batch * chunkBytes), by: chunkBytes) {
      let chunk = content.read(chunkBytes) ?? []
      guard chunk.count == min(chunkBytes, rest - offset) else {
        throw DMError(.storeDamaged, "the content in the store is shorter than its recorded size")
      }
      chunks.append(chunk)
    }
    return chunks
  }

  /// Whether the hub accepted a call; if not, records the reason.
  private func isTaken(_ answer: FileAnswer, _ file: HubFiles.Row) throws -> Bool {
    switch answer.fault {
    case nil: return true
    case "over_quota":
      // If the clock of this machine is ahead of the hub's, `retryAt` may be in the past here.
      let soonest = Self.time(after: Self.machinePause)
      let until = max(answer.retryAt ?? soonest, soonest)
      try fail(file, Messenger.overQuota, until: until)
    // The hub was restored, or has erased the unfinished file, so the upload begins again.
    case "unknown_attachment": try postpone(file, "the hub has lost what was uploaded", Self.connectionPause)
    case let fault?: try fail(file, "the hub refuses the file (\(fault))", until: nil)
    }
    return false
  }

  /// Gives a file a new id in all waiting messages, because another file on the hub has its id.
  private func replace(_ file: HubFiles.Row) throws {
    try store.write { try Session(messenger, store, messenger.linkedStore().1.user).replace(file, with: .random()) }
  }

  private func finish(_ file: HubFiles.Row) throws {
    try store.write { try store.hubFiles.set(isUploaded: true, of: file.key) }
  }

  private func postpone(_ file: HubFiles.Row, _ fault: String, _ pause: Int64) throws {
    try fail(file, fault, until: Self.time(after: pause))
  }

  /// Records that an attempt failed; the next one is at `time`, or never if `time` is nil.
  private func fail(_ file: HubFiles.Row, _ fault: String, until time: Timestamp?) throws {
    try store.write { try store.hubFiles.fail(file.key, fault, until: time) }
  }

  private static func time(after pause: Int64) -> Timestamp {
    Timestamp(microseconds: Timestamp.now.microseconds + pause)
  }

  // MARK: Fetching

  private func fetch(_ file: HubFiles.Row) throws {
    try location.contents.create()
    // The store may have this content already. If the sizes differ, the sender has described a wrong size.
    if location.contents.size(of: file.key.hash) != nil { return try finishFetching(file) }
    var part = try PartialContent(location.contents, file, chunkBytes)
    while part.count < file.key.size {
      let before = part.count
      try timed {
        try link.fetch(file.key.id, first: before / chunkBytes, count: batch) { try part.append($0) }
      }
      if part.count == before {
        part.remove()
        return try fail(file, "the hub does not have the file; its message may have been deleted", until: nil)
      }
      try show(file, done: part.count)
      if part.count < file.key.size, try mustYield(file) { return }
    }
    guard part.count == file.key.size, part.hash() == file.key.hash else {
      part.remove()
      return try fail(file, "the file is not what its sender described", until: nil)
    }
    try location.contents.install(part.path, as: file.key.hash)
    try finishFetching(file)
  }

  private func finishFetching(_ file: HubFiles.Row) throws {
    try store.write { try store.hubFiles.finishFetching(file.key.hash) }
  }

  // MARK: Progress

  private func show(_ file: HubFiles.Row, done: Int) throws {
    try FileProgress(file: file.key.id, doneBytes: done).write(to: location.liveFile)
  }
}

/// A content that is being fetched; it has its own file, so that the transfer can resume after an interruption.
private struct PartialContent: ~Copyable {
  let path: String
  private let file: OpenFile
  private(set) var count: Int
  private let limit: Int
  private let chunkBytes: Int
  private var sum: SHA256

  /// Opens the file, and hashes the complete chunks that it has.
  init(_ contents: ContentFolder, _ row: HubFiles.Row, _ chunkBytes: Int) throws {
    let path = contents.partialPath(of: row.key.hash)
    // A larger file belongs to an attachment with the same hash, for which another sender has described a larger size.
    if let status = FileStatus(itself: path), status.size > row.key.size { removeFile(path) }
    if case .failed(let reason) = createFile(path) { throw fileError(.cannotCreate, "create", path, reason) }
    let file = try OpenFile(path, for: .readingAndWriting) { fileError(.inputOutput, "open", path, $0) }
    var (count, sum) = (0, SHA256())
    for _ in 0..<(try min(file.status().size, row.key.size) / chunkBytes) {
      guard let chunk = file.read(chunkBytes), chunk.count == chunkBytes else { break }
      chunk.withUnsafeBytes { sum.update($0) }
      count += chunk.count
    }
    file.seek(to: count)
    (self.path, self.count, self.sum, limit, self.chunkBytes) = (path, count, sum, row.key.size, chunkBytes)
    self.file = file
  }

  /// - Throws: `HubFault.damaged` for a chunk of a wrong size.
  mutating func append(_ chunk: UnsafeRawBufferPointer) throws {
    guard chunk.count == min(chunkBytes, limit - count) else {
      throw HubFault.damaged("a chunk of a file has a wrong size")
    }
    try file.write(chunk)
    sum.update(chunk)
    count += chunk.count
  }

  func hash() -> ContentHash { sum.finish() }
  func remove() { removeFile(path) }
}
