package import DMModel

/// A connection to a hub, for the transfer of files.
///
/// Messages have another connection, so that they do not wait for large files. Every call can throw `HubFault`. After a
/// fault, close the link; `open` connects again.
package protocol FileLink: AnyObject {
  func open() throws -> HubHello

  /// Begins to upload a file, or resumes the upload.
  func upload(_ file: Identifier, size: Int) throws -> FileAnswer

  /// Adds chunks to a file, in one round trip.
  ///
  /// - Parameters:
  ///   - chunks: the chunks. Each has the hub's size of a chunk; only the last one of a file may be shorter.
  ///   - first: the number of the first of these chunks; the first chunk of a file is 0.
  /// - Returns: the answer to the first chunk that the hub refuses; an answer without a fault if the hub refuses none.
  func put(_ chunks: [[UInt8]], of file: Identifier, first: Int) throws -> FileAnswer

  /// Calls `body` with each of at most `count` chunks of a file, from the chunk with the number `first` on.
  ///
  /// A file that the user may not read has no chunks.
  func fetch(_ file: Identifier, first: Int, count: Int, _ body: (UnsafeRawBufferPointer) throws -> Void) throws

  func close()
}

package struct FileAnswer: Equatable, Sendable {
  /// The number of chunks that the hub has.
  package var chunks = 0
  /// Whether the hub has the whole file.
  package var isWhole = false
  /// The error code, if the hub refuses the call.
  package var fault: String?
  /// When the call may be tried again.
  package var retryAt: Timestamp?

  package init(chunks: Int = 0, isWhole: Bool = false, fault: String? = nil, retryAt: Timestamp? = nil) {
    self.chunks = chunks
    self.isWhole = isWhole
    self.fault = fault
    self.retryAt = retryAt
  }
}
