package import DMModel

/// A connection to a hub for files.
///
/// It is not the connection of the messages, which would wait for large files.
/// Every call can throw `HubFault`. After that the link is closed, and `open` connects again.
package protocol FileLink: AnyObject {
  func open() throws -> HubHello

  /// Begins to upload a file, or goes on.
  func upload(_ file: Identifier, size: Int) throws -> FileAnswer

  /// Adds chunks to a file, in one round trip.
  ///
  /// - Parameters:
  ///   - chunks: all have the hub's size of a chunk, but for the last one of a file.
  ///   - first: the number of the first of them; the first chunk of a file is 0.
  /// - Returns: the refusal of the first chunk that the hub refuses, if it refuses one.
  func put(_ chunks: [[UInt8]], of file: Identifier, first: Int) throws -> FileAnswer

  /// Calls `body` with each of the next chunks of a file; with none for a file that the user does not see.
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
