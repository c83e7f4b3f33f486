internal import DMModel
internal import DMStore
internal import DMSystem

/// A backup of a store as a stream of bytes.
///
/// The copy is in a temporary file that has no name any more, so that nothing is left of it when the process ends.
package final class BackupStream {
  private let file: OpenFile
  private static let chunk = 1 << 20

  fileprivate init(_ path: String) throws {
    file = try OpenFile(path, for: .reading) { fileError(.inputOutput, "read", path, $0) }
  }

  /// Calls `body` with the bytes of the backup, in order.
  package func forEach(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    var bytes = [UInt8](repeating: 0, count: Self.chunk)
    try bytes.withUnsafeMutableBytes { buffer in
      while case let count = try readSome(file.descriptor, into: buffer, "a temporary file"), count > 0 {
        try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      }
    }
  }
}

extension Upkeep {
  /// Copies one snapshot of the store, while other processes write, and verifies the copy.
  ///
  /// - Parameters:
  ///   - spare: a folder for the copy, if the folder of the store cannot be written to.
  ///   - takesDamaged: whether to copy damaged messages and leave out damaged contents; otherwise damage is an error.
  /// - Throws: `cannot_create`; `store_damaged` if the copy is damaged.
  package func backupStream(orElse spare: String?, takesDamaged: Bool = false) throws -> BackupStream {
    let store = try store()
    if !takesDamaged { try store.refuseMissingChanges() }
    // If a folder cannot be listed, files left by killed processes stay in it.
    _ = try attempt { try WorkFolder.removeAbandoned(tracedIn: location.directory) }
    let work = try workFolder(orElse: spare)
    let stream = try BackupStream(copy(store, into: work.path, takesDamaged: takesDamaged).path)
    _ = consume work
    try note(.backup)
    return stream
  }

  private func workFolder(orElse spare: String?) throws -> WorkFolder {
    do {
      return try WorkFolder(.backup, in: location.directory, tracedIn: location.directory)
    } catch let error as DMError where error.code == .cannotCreate {
      guard let spare else {
        throw DMError(
          error.code, "\(error.message); set TMPDIR to a folder for the copy, which is as private as the store",
          subject: error.subject)
      }
      return try WorkFolder(.backup, in: spare)
    }
  }
}
