package import DMJSON
public import DMModel
internal import DMStore
package import DMSystem

/// A file that is to be uploaded or fetched.
package struct Transfer: Equatable, Sendable {
  package enum Direction: String, CaseIterable, Sendable { case upload, fetch }
  package enum State: String, CaseIterable, Sendable { case waiting, running }

  package let direction: Direction
  package let state: State
  /// The name of an attachment with this content; nil if no attachment has this content any more.
  package let name: String?
  package let sha256: ContentHash
  package let sizeBytes: Int
  package let doneBytes: Int
  package let notBefore: Timestamp?
  /// Why the last attempt failed, as a clause.
  package let fault: String?
}

extension Messenger {
  /// The files that wait to be transferred or are being transferred; empty for a store that is not linked.
  package func transfers() throws -> [Transfer] {
    guard let store = try existingStore(), store.isLinked else { return [] }
    // A process that was killed leaves its progress file behind, so the file counts only while a process transfers
    // files.
    let current = try areFilesCarried() ? FileProgress(path: location.liveFile) : nil
    return try store.read {
      try store.hubFiles.pending().map { file in
        let isCurrent = current?.file == file.key.id
        let kept = FileStatus(itself: location.contents.partialPath(of: file.key.hash))?.size
        return Transfer(
          direction: file.isUploaded ? .fetch : .upload, state: isCurrent ? .running : .waiting,
          name: try store.hubAttachments.name(of: file.key.id), sha256: file.key.hash, sizeBytes: file.key.size,
          doneBytes: isCurrent ? current?.doneBytes ?? 0 : kept ?? 0, notBefore: file.notBefore, fault: file.fault)
      }
    }
  }

  /// Whether a process exchanges files with the hub.
  package func areFilesCarried() throws -> Bool { filesLock() == nil }

  /// Whether the content of an attachment is in the store; in a linked store, it may have to be fetched from the hub
  /// first.
  public func has(_ part: AttachmentPart, of attachment: Attachment) -> Bool {
    guard case .success(let hash) = Result(catching: { try attachment.hash(of: part) }) else { return false }
    return location.contents.size(of: hash) != nil
  }

  /// The lock of the process that exchanges files with the hub; nil if another process has it.
  package func filesLock() -> FileLock? {
    SignalFile.make(location.filesLock)
    return FileLock(ifFree: location.filesLock)
  }

  /// The lock of an agent that makes a change; nil if there is no store yet.
  ///
  /// - Throws: `busy` if another process keeps it for longer than a writer may wait.
  package func agentsLock() throws -> FileLock? {
    guard try hasStore() else { return nil }
    return try FileLock(
      path: location.agentsLock, milliseconds: Int(location.busyTimeout.microseconds / 1000),
      busy: DMError(.busy, "another agent is making a change; try again", remedy: .waitLonger))
  }

  /// Refuses the path of a file in the folder of a store.
  ///
  /// - Throws: `cannot_create`.
  package static func refuse(insideStore path: String) throws(DMError) {
    try StoreLocation.refuse(insideStore: path, isDeep: true)
  }

  /// Requests contents of attachments that are not in the store, and waits until they are there.
  ///
  /// Does nothing for a store that is not linked, and for contents that the hub never had.
  ///
  /// - Parameters:
  ///   - carry: starts the sync process; returns the reason if it cannot be started, otherwise nil.
  ///   - progress: called often, with the number of bytes that were fetched and the number of all bytes; may throw to
  ///     end the wait.
  /// - Throws: `hub_unreachable`; `unknown_attachment` if the hub does not have a file.
  package func fetch(
    _ part: AttachmentPart, of attachments: [Attachment], carry: () -> String?,
    progress: (_ done: Int, _ all: Int) throws -> Void
  ) throws {
    guard let store = try existingStore(), let hub = try store.hub.row() else { return }
    let all = Set(try attachments.map { try $0.hash(of: part) })
    var wanted = try noteUse(of: all)
    if wanted.isEmpty { return }
    try hub.refuseLeft()
    if let hindrance = hub.hindrance { throw DMError(.hubUnreachable, hindrance, remedy: .showHubStatus) }
    var wait = FetchWait(self, store)
    let bytes = try wait.begin(wanted)
    while true {
      // Each round records the use of all contents, so that the first one is not removed before the last one is
      // fetched.
      wanted = try noteUse(of: all)
      if try wanted.isEmpty || !wait.goesOn(wanted) { return }
      if !hasCarrier, let fault = carry() { throw DMError(.hubUnreachable, fault, remedy: .showHubStatus) }
      do {
        try progress(min(bytes, wait.doneBytes(wanted)), bytes)
      } catch {
        // `progress` throws when the user interrupts the wait.
        try wait.end(wanted)
        throw error
      }
      try wait.pause()
    }
  }
}

/// The wait for contents that another process fetches.
private struct FetchWait {
  private let messenger: Messenger
  private let store: Store
  private var location: StoreLocation { messenger.location }
  private let bell: Watch
  private let live: Watch
  /// The modification time of the state file at the start of the wait.
  ///
  /// Until it changes, the state may be that of a sync process that has ended.
  private let written: Timestamp?
  private var sizes: [ContentHash: Int] = [:]

  init(_ messenger: Messenger, _ store: Store) {
    self.messenger = messenger
    self.store = store
    bell = Watch(messenger.location.bell)
    live = Watch(messenger.location.live)
    written = FileStatus(messenger.location.liveHub)?.modified
  }

  /// Queues the fetching of contents.
  ///
  /// - Returns: the sum of their sizes in bytes.
  mutating func begin(_ wanted: Set<ContentHash>) throws -> Int {
    sizes = try store.write {
      try wanted.reduce(into: [:]) { sizes, hash in
        guard let file = try store.hubFiles.rows(of: hash).first else { return }
        sizes[hash] = file.key.size
        try store.hubFiles.set(isWanted: true, of: file.key)
      }
    }
    return sizes.values.reduce(0, +)
  }

  /// Cancels the request for contents.
  func end(_ wanted: Set<ContentHash>) throws {
    try store.write {
      for file in try wanted.flatMap(store.hubFiles.rows) where file.isWanted {
        try store.hubFiles.set(isWanted: false, of: file.key)
      }
    }
  }

  /// Whether contents are still being fetched; false if the hub never had them.
  ///
  /// - Throws: `hub_unreachable`, `unknown_attachment`.
  func goesOn(_ wanted: Set<ContentHash>) throws -> Bool {
    var isFetching = false
    for hash in wanted {
      let files = try store.read { try store.hubFiles.rows(of: hash) }
      if let file = files.first(where: \.isWanted) {
        if let fault = file.fault {
          throw DMError(.hubUnreachable, "the content cannot be fetched now: \(fault)", remedy: .listTransfers)
        }
        isFetching = true
      } else if let other = files.first(where: { $0.fault == nil }) {
        // Another sender has uploaded the same content, or the content has just arrived.
        if location.contents.size(of: hash) == nil {
          try store.write { try store.hubFiles.set(isWanted: true, of: other.key) }
        }
        isFetching = true
      } else if let fault = files.first?.fault {
        throw DMError(.unknownAttachment, "the content was not fetched: \(fault)", remedy: .listAttachments)
      }
    }
    return isFetching
  }

  /// The number of bytes that were fetched so far.
  func doneBytes(_ wanted: Set<ContentHash>) -> Int {
    let here = sizes.filter { !wanted.contains($0.key) }.values.reduce(0, +)
    return here + (FileProgress(path: messenger.location.liveFile)?.doneBytes ?? 0)
  }

  /// Waits for a change.
  ///
  /// - Throws: `hub_unreachable` if the sync process cannot reach the hub.
  func pause() throws {
    let running = messenger.runningState
    if !running.takesFiles {
      throw DMError(.hubUnreachable, "the hub's version takes no files; ask its administrator to update it")
    }
    if [.waiting, .refused].contains(running.state),
      FileStatus(messenger.location.liveHub)?.modified != written
    {
      throw DMError(
        .hubUnreachable,
        "\(running.fault ?? "the hub cannot be reached"); the content will be fetched when the hub can be reached",
        remedy: .showHubStatus)
    }
    var awaited = [Awaited(bell.descriptor, for: .reading), Awaited(live.descriptor, for: .reading)]
    if waitForAny(of: &awaited, until: monotonicMicroseconds() + 200_000) {
      bell.drain()
      live.drain()
    }
  }
}

extension Transfer: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "transfer")
      json.member("direction", direction.rawValue)
      json.member("state", state.rawValue)
      json.member("name", name)
      json.member("sha256", sha256.description)
      json.member("size_bytes", sizeBytes)
      json.member("done_bytes", doneBytes)
      json.member("next_attempt_at", notBefore)
      json.member("fault", fault)
    }
  }
}
