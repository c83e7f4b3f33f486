package import DMKit
internal import DMModel
internal import DMStore
internal import DMSystem

/// Uploads the files of messages that wait, and fetches the contents of messages that came.
///
/// Only one process at a time does this for a store; see `lead`. A transfer that is interrupted goes on where it ended.
package final class FileCarrier {
  private let messenger: Messenger
  private let store: Store
  private let link: any FileLink
  private let location: StoreLocation
  private var lock: FileLock?
  private var isOpen = false

  /// The size of a chunk, which is part of the protocol.
  private let chunkBytes: Int
  /// The number of chunks of a round trip.
  private static let batch = 16
  /// Microseconds.
  private static let faultPause: Int64 = 60_000_000

  /// - Parameter chunkBytes: the size of a chunk; other than the hub's only in tests.
  /// - Throws: `no_hub` for a store that is not linked.
  package init(_ messenger: Messenger, _ link: any FileLink, chunkBytes: Int = 256 * 1024) throws {
    self.messenger = messenger
    self.chunkBytes = chunkBytes
    self.link = link
    location = messenger.location
    store = try messenger.linkedStore().0
    _ = createFolder(location.live)
  }

  /// Takes the lock of the process that exchanges files, and keeps it as long as this object exists.
  ///
  /// - Returns: false if another process has it.
  /// - Throws: `io_error`.
  package func lead() throws -> Bool {
    if let handedOn = FileLock(handedOn: 3, of: location.filesLock) {
      lock = consume handedOn
      return true
    }
    do throws(DMError) {
      lock = try FileLock(path: location.filesLock, milliseconds: 0, busy: DMError(.busy, "another process has it"))
      return true
    } catch {
      if error.code == .busy { return false }
      throw error
    }
  }

  /// Carries all files that can be carried now, and closes the connection.
  ///
  /// - Throws: `HubFault`; a fault of one file is recorded with the file, and the others go on.
  package func carry() throws {
    defer {
      link.close()
      isOpen = false
      removeFile(location.liveFile)
    }
    while let file = try next() {
      if try messenger.linkedStore().1.network == .offline { throw HubFault.lost("the simulated network is offline") }
      try open()
      do {
        try file.task == .upload ? upload(file) : fetch(file)
      } catch HubFault.damaged(let fault) {
        link.close()
        isOpen = false
        try giveUp(file, fault)
      } catch let error as DMError {
        try postpone(file, error.message)
      }
    }
  }

  private func next() throws -> HubFiles.Row? {
    try store.read { try store.hubFiles.pending().first { $0.isDue(at: .now) } }
  }

  private func open() throws {
    if isOpen { return }
    let (hello, hub) = (try link.open(), try messenger.linkedStore().1)
    guard hello.hub == hub.id else { throw HubFault.mismatch("the hub is another one") }
    guard hello.hasFiles else {
      throw HubFault.lost("the hub takes no files until its administrator installs it again")
    }
    isOpen = true
  }

  // MARK: Uploading

  private func upload(_ file: HubFiles.Row) throws {
    var answer = try link.upload(file.id, size: file.size)
    if answer.fault == "id_taken" { return try replace(file) }
    guard try isTaken(answer, file) else { return }
    if answer.isWhole { return try finish(file) }
    // A content that was to be forwarded may never have been fetched.
    guard location.contents.size(of: file.hash) == file.size else {
      return try giveUp(file, "the content is not in the store, or damaged")
    }
    let path = location.contents.path(of: file.hash)
    let content = try OpenFile(path, for: .readingItself) { fileError(.inputOutput, "read", path, $0) }
    var number = answer.chunks
    content.seek(to: number * chunkBytes)
    while number * chunkBytes < file.size {
      let count = min(Self.batch, (file.size - number * chunkBytes + chunkBytes - 1) / chunkBytes)
      let chunks = (0..<count).map { _ in content.read(chunkBytes) ?? [] }
      guard chunks.dropLast().allSatisfy({ $0.count == chunkBytes }), chunks.last?.isEmpty == false else {
        return try giveUp(file, "the content in the store was shortened")
      }
      answer = try link.put(chunks, of: file.id, first: number)
      guard try isTaken(answer, file) else { return }
      number += count
      try show(file, done: min(file.size, number * chunkBytes))
    }
    try finish(file)
  }

  /// Whether the hub takes what was sent; if not, records the reason.
  private func isTaken(_ answer: FileAnswer, _ file: HubFiles.Row) throws -> Bool {
    guard let fault = answer.fault else { return true }
    if fault == "over_quota" {
      let until = answer.retryAt ?? Timestamp(microseconds: Timestamp.now.microseconds + Self.faultPause)
      try store.write {
        try store.hubFiles.set(file.task, of: file.id, notBefore: until, fault: Messenger.overQuota)
      }
    } else {
      try giveUp(file, "the hub refuses the file (\(fault))")
    }
    return false
  }

  /// Gives a file that another one on the hub has taken the id of another id, in all messages that wait.
  private func replace(_ file: HubFiles.Row) throws {
    try store.write { try Session(messenger, store, messenger.linkedStore().1.user).replace(file.id, with: .random()) }
  }

  private func finish(_ file: HubFiles.Row) throws { try store.write { try store.hubFiles.set(.none, of: file.id) } }

  /// Records that a file cannot be carried; the hub then refuses messages with it.
  private func giveUp(_ file: HubFiles.Row, _ fault: String) throws {
    try store.write { try store.hubFiles.set(.none, of: file.id, fault: fault) }
  }

  private func postpone(_ file: HubFiles.Row, _ fault: String) throws {
    let until = Timestamp(microseconds: Timestamp.now.microseconds + Self.faultPause)
    try store.write { try store.hubFiles.set(file.task, of: file.id, notBefore: until, fault: fault) }
  }

  // MARK: Fetching

  private func fetch(_ file: HubFiles.Row) throws {
    try location.contents.create()
    if location.contents.size(of: file.hash) == file.size { return try finishFetching(file) }
    var part = try PartialContent(location.contents, file, chunkBytes)
    while part.count < file.size {
      let before = part.count
      try link.fetch(file.id, first: before / chunkBytes, count: Self.batch) { try part.append($0) }
      if part.count == before {
        part.remove()
        return try giveUp(file, "the hub does not have the file, or no longer")
      }
      try show(file, done: part.count)
    }
    guard part.count == file.size, part.hash() == file.hash else {
      part.remove()
      return try giveUp(file, "the file is not what its sender described")
    }
    try location.contents.install(part.path, as: file.hash)
    try finishFetching(file)
  }

  private func finishFetching(_ file: HubFiles.Row) throws {
    try store.write { try store.hubFiles.finishFetching(file.hash) }
  }

  // MARK: Progress

  private func show(_ file: HubFiles.Row, done: Int) throws {
    try FileProgress(file: file.id, doneBytes: done).write(to: location.liveFile)
  }
}

/// A content that is being fetched, in a file of its own, so that the transfer can go on after an interruption.
private struct PartialContent: ~Copyable {
  let path: String
  private let file: OpenFile
  private(set) var count: Int
  private let limit: Int
  private let chunkBytes: Int
  private var sum: SHA256

  /// Opens the file, and reads the whole chunks that it has.
  init(_ contents: ContentFolder, _ row: HubFiles.Row, _ chunkBytes: Int) throws {
    let path = contents.partialPath(of: row.id)
    if case .failed(let reason) = createFile(path) { throw fileError(.cannotCreate, "create", path, reason) }
    let file = try OpenFile(path, for: .readingAndWriting) { fileError(.inputOutput, "open", path, $0) }
    var (count, sum) = (0, SHA256())
    for _ in 0..<(try min(file.status().size, row.size) / chunkBytes) {
      guard let chunk = file.read(chunkBytes), chunk.count == chunkBytes else { break }
      chunk.withUnsafeBytes { sum.update($0) }
      count += chunk.count
    }
    file.seek(to: count)
    (self.path, self.count, self.sum, limit, self.chunkBytes) = (path, count, sum, row.size, chunkBytes)
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
