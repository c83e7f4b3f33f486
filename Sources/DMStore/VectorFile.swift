package import DMModel
internal import DMSystem

/// A file with the vectors of the messages that one user sees, as one program computed them.
///
/// The file is a cache: what is missing is computed again. Vectors are written and removed only under the write lock of
/// the store, so that no vector is written of a text that was deleted meanwhile.
package struct VectorFile {
  let path: String
  let layout: VectorLayout

  /// The number of dimensions of each vector.
  package var dimension: Int { layout.dimension }

  /// The numbers of dimensions that vectors may have.
  package static let dimensions = 2...8192

  /// Up to which message all messages that the user saw then have vectors.
  package struct Extent {
    package let last: MessageKey
    /// A number that changes when the user sees other messages than before.
    package let visibility: UInt64
    /// Whether some of these messages were edited or deleted since then.
    package fileprivate(set) var hasOutdated = false
    /// A random number of the file, by which a process notices that another file has taken its name.
    package fileprivate(set) var generation: UInt64 = 0

    package init(last: MessageKey, visibility: UInt64) {
      self.last = last
      self.visibility = visibility
    }

    package func isSame(as other: Extent) -> Bool { last == other.last && visibility == other.visibility }
  }

  /// A check says whether a slot has a vector, and of which text: a number over 1 is made of the text.
  enum Check {
    static let absent: UInt64 = 0
    /// The message was edited or deleted after its vector was computed.
    static let outdated: UInt64 = 1
  }

  /// The check of a text: a part of its hash.
  package static func check(of text: String) -> UInt64 {
    max(2, UInt64(digits(of: text), radix: 16) ?? 2)
  }

  /// The first 16 digits of the hash of a text.
  private static func digits(of text: String) -> Substring {
    contentHash(of: Array(text.utf8)).description.prefix(16)
  }

  // MARK: Names

  private static func prefix(_ user: UserKey, _ model: String) -> String {
    "\(user)-\(digits(of: model))-"
  }

  /// All files of a store.
  static func all(in location: StoreLocation) throws -> [VectorFile] {
    try names(in: location.vectors, mayBeAbsent: true).compactMap { name in
      guard let number = name.split(separator: "-").last.flatMap({ Int($0) }), dimensions ~= number
      else { return nil }
      return VectorFile(path: "\(location.vectors)/\(name)", layout: VectorLayout(dimension: number))
    }
  }

  /// The file for a user and a program, if there is one that belongs to this store.
  package static func find(in store: Store, _ user: UserKey, model: String) throws -> VectorFile? {
    let prefix = prefix(user, model)
    return try all(in: store.location).first { file in
      try fileName(of: file.path).hasPrefix(prefix) && file.extent(in: store) != nil
    }
  }

  /// Makes an empty file; removes others for the same user and program, which have another number of dimensions.
  package static func make(in store: Store, _ user: UserKey, model: String, dimension: Int) throws -> VectorFile {
    let (folder, prefix) = (store.location.vectors, prefix(user, model))
    if case .failed(let reason) = createFolder(folder) { throw storeError("create", folder, reason) }
    for name in try names(in: folder) where name.hasPrefix(prefix) { removeFile("\(folder)/\(name)") }
    let file = VectorFile(path: "\(folder)/\(prefix)\(dimension)", layout: VectorLayout(dimension: dimension))
    var extent = Extent(last: MessageKey(number: 0), visibility: 0)
    extent.generation = .random(in: 1 ... .max)
    try replaceFile(file.path, with: file.header(extent, store.uuid()))
    return file
  }

  // MARK: The header

  private static let mark = Array("dmvec001".utf8)
  /// The bytes of the header that are used: the mark and six numbers.
  private static let usedBytes = 56
  /// Where the header says that a vector was removed whose message may have another text.
  private static let outdatedOffset = 40

  private func header(_ extent: Extent, _ store: Identifier) -> [UInt8] {
    var bytes = Self.mark
    for number in [
      store.high, store.low, UInt64(bitPattern: extent.last.number), extent.visibility, extent.hasOutdated ? 1 : 0,
      extent.generation,
    ] {
      withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }
    return bytes + [UInt8](repeating: 0, count: VectorLayout.headerBytes - bytes.count)
  }

  /// The extent in the header; nil if the file is not a file of vectors of this store, or ends too soon.
  package func extent(in store: Store) throws -> Extent? {
    guard let bytes = readFile(path, limit: Self.usedBytes), bytes.count == Self.usedBytes,
      bytes.starts(with: Self.mark)
    else { return nil }
    let numbers = bytes.withUnsafeBytes { bytes in
      (1...6).map { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self)) }
    }
    guard try store.uuid() == Identifier(high: numbers[0], low: numbers[1]) else { return nil }
    var extent = Extent(last: MessageKey(number: Int64(bitPattern: numbers[2])), visibility: numbers[3])
    (extent.hasOutdated, extent.generation) = (numbers[4] != 0, numbers[5])
    return fileSize(path) >= size(for: extent) ? extent : nil
  }

  private func size(for extent: Extent) -> Int {
    extent.last.number > 0
      ? layout.bytes(through: VectorLayout.Slot(extent.last).block) : VectorLayout.headerBytes
  }

  /// Records up to which message there are vectors; the caller holds the write lock of the store.
  package func set(_ extent: Extent, in store: Store) throws {
    guard let before = try self.extent(in: store) else { return }
    var extent = extent
    // A message may have been edited while the program computed other vectors.
    extent.hasOutdated = try before.hasOutdated && !VectorReader(self).outdated().isEmpty
    extent.generation = before.generation
    let file = try opened()
    try grow(file, to: size(for: extent))
    // The header must not be on the disk before the checks.
    try file.sync()
    try file.write(header(extent, store.uuid()))
    try file.sync()
  }

  private func opened() throws -> OpenFile {
    try OpenFile(path, for: .readingAndWriting) { storeError("write", path, $0) }
  }

  // MARK: Vectors

  /// Writes vectors; the caller holds the write lock of the store, and has compared the texts.
  package func write(_ vectors: [(key: MessageKey, check: UInt64, vector: [Float])]) throws {
    let file = try opened()
    for (key, _, vector) in vectors {
      let (slot, stored) = (VectorLayout.Slot(key), StoredVector(vector, layout))
      try grow(file, to: layout.bytes(through: slot.block))
      try put(stored.numbers, at: layout.numbers(slot), in: file)
      try put([stored.scale], at: layout.scale(slot), in: file)
      try put(stored.code, at: layout.code(slot), in: file)
    }
    // A check must not be on the disk before its vector, because a search would use what is there instead.
    try file.sync()
    for (key, check, _) in vectors { try put([check], at: layout.check(VectorLayout.Slot(key)), in: file) }
  }

  /// Removes vectors, and records whether others have to be computed.
  package func remove(_ keys: [MessageKey], isOutdated: Bool) throws {
    if keys.isEmpty { return }
    let file = try opened()
    if isOutdated { try put([1 as UInt64], at: Self.outdatedOffset, in: file) }
    for slot in keys.map(VectorLayout.Slot.init) {
      try grow(file, to: layout.bytes(through: slot.block))
      try put([isOutdated ? Check.outdated : Check.absent], at: layout.check(slot), in: file)
      try put([0 as Float], at: layout.scale(slot), in: file)
      try put([UInt64](repeating: 0, count: layout.words), at: layout.code(slot), in: file)
      try put([Int8](repeating: 0, count: layout.numberBytes), at: layout.numbers(slot), in: file)
    }
  }

  /// Makes the file at least as long as a size that ends with a block, because only whole blocks are read.
  private func grow(_ file: borrowing OpenFile, to size: Int) throws {
    if try file.status().size < size { try file.grow(to: size) }
  }

  private func put<Value>(_ values: [Value], at offset: Int, in file: borrowing OpenFile) throws {
    file.seek(to: offset)
    let descriptor = file.descriptor
    try values.withUnsafeBytes { try writeAll($0, to: descriptor, path) }
  }
}

extension Store {
  package var vectors: Vectors { Vectors(store: self) }
}

/// The vectors of the messages of a store.
package struct Vectors {
  let store: Store

  /// Removes the vectors of messages, which have other texts now, or none.
  ///
  /// Called before the change is committed: if the change is rolled back, the vectors are computed again. A file that
  /// cannot be written is removed, because vectors must not outlive their texts.
  func remove(_ messages: [MessageKey]) throws {
    if messages.isEmpty { return }
    for file in try VectorFile.all(in: store.location) where try file.extent(in: store) != nil {
      do {
        try file.remove(messages, isOutdated: true)
      } catch {
        guard removeFile(file.path) else { throw error }
      }
    }
  }

  /// Removes all files of vectors that were last used before a time.
  ///
  /// - Returns: the number of bytes that the files took.
  @discardableResult
  package func removeAll(before time: Timestamp = .forever) throws -> Int {
    var bytes = 0
    let folder = store.location.vectors
    for name in try names(in: folder, mayBeAbsent: true) {
      let path = "\(folder)/\(name)"
      guard let status = FileStatus(itself: path), status.modified < time, removeFile(path) else { continue }
      bytes += status.size
    }
    removeEmptyFolder(folder)
    return bytes
  }
}
