internal import DMModel
internal import DMStore
internal import DMSystem

/// A file of an export, which gets its name after it is complete.
///
/// If it is not finished, it is removed.
package final class ExportFile {
  private let path: String
  private let temporary: String
  private let file: OpenFile
  private var isFinished = false

  /// The beginning of the names of unfinished files.
  static let prefix = ".dm-export-"

  /// - Throws: `cannot_create`.
  package init(_ path: String) throws {
    self.path = path
    do {
      temporary = try temporaryName(in: folder(of: path), Self.prefix)
    } catch {
      throw fileError(.cannotCreate, "create", path)
    }
    file = try OpenFile(temporary, for: .writing) { fileError(.cannotCreate, "create", path, $0) }
  }

  deinit { if !isFinished { removeFile(temporary) } }

  /// - Throws: `io_error`, for example because the disk is full.
  package func write(_ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes { try writeAll($0, to: file.descriptor, path) }
  }

  /// Gives the file its name.
  ///
  /// - Returns: false if a file of this name has the same bytes already; that file is kept.
  /// - Throws: `io_error`, `cannot_create`.
  package func finish() throws -> Bool {
    if try isUnchanged { return false }
    try file.sync()
    try moveFile(temporary, to: path)
    isFinished = true
    return true
  }

  private var isUnchanged: Bool {
    get throws {
      guard let old = FileStatus(itself: path), old.kind == .regular, old.size == fileSize(temporary) else {
        return false
      }
      return try contentHash(ofFile: path) == contentHash(ofFile: temporary)
    }
  }
}
