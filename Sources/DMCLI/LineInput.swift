internal import DMJSON
package import DMKit
internal import DMSystem

/// Reads standard input or a file, either as batches of lines or as one text.
package struct LineInput: ~Copyable {
  /// The number of a line, and its content or its error.
  package typealias Numbered<Item> = (line: Int, content: Result<Item, DMError>)

  /// A batch, which is one transaction, ends after this number of lines, or after the line that reaches this number of
  /// bytes.
  static let batchLines = 1000
  static let batchBytes = 1024 * 1024

  private let descriptor: Int32
  private let name: String
  private let file: OpenFile?
  private var splitter = LineSplitter()
  private var line = 0
  private var isAtEnd = false
  private var chunk = [UInt8](repeating: 0, count: 64 * 1024)

  package init(descriptor: Int32 = Stream.input.rawValue) {
    self.descriptor = descriptor
    name = "standard input"
    file = nil
  }

  /// Opens a file; nil and `-` are standard input.
  ///
  /// - Throws: `unknown_file`, `io_error`.
  package init(path: String?) throws {
    guard let path, path != "-" else {
      descriptor = Stream.input.rawValue
      name = "standard input"
      file = nil
      return
    }
    let file = try OpenFile(path, for: .reading) {
      fileError($0.isAbsence ? .unknownFile : .inputOutput, "read", path, $0)
    }
    descriptor = file.descriptor
    name = "'\(path)'"
    self.file = consume file
  }

  /// The next lines: at least one, and as many as can be read without waiting, until there are 1,000 lines or at least
  /// 1 MiB; nil at the end.
  ///
  /// The method waits only for the first line. A last line without LF is an error, because it may be incomplete.
  ///
  /// - Parameters:
  ///   - parse: makes an item from a line and its number.
  ///   - isSingle: whether the batch ends after one line, because `parse` takes long.
  package mutating func batch<Item>(
    _ parse: (ArraySlice<UInt8>, Int) throws -> Item, isSingle: Bool = false
  ) throws -> [Numbered<Item>]? {
    var batch: [Numbered<Item>] = []
    var size = 0
    while batch.count < (isSingle ? 1 : Self.batchLines), size < Self.batchBytes {
      if let next = splitter.next() {
        line += 1
        switch next {
        case .whole(let bytes):
          size += bytes.count
          batch.append((line, try Self.result { try parse(bytes, line) }))
        case .tooLong:
          let limit = LineSplitter.limit / 1024 / 1024
          batch.append((line, .failure(DMError(.lineTooLong, "the line is over \(limit) MiB; shorten it"))))
        }
      } else if isAtEnd {
        if splitter.isUnfinished {
          splitter = LineSplitter()
          let fault = "the last line has no line feed and may be half of one; end it with one"
          batch.append((line + 1, .failure(DMError(.unfinishedLine, fault))))
        }
        break
      } else if batch.isEmpty || hasInput() {
        try fill()
      } else {
        break
      }
    }
    return batch.isEmpty ? nil : batch
  }

  /// - Throws: an error that also prevents the processing of the following lines.
  private static func result<Item>(_ body: () throws -> Item) throws -> Result<Item, DMError> {
    do {
      return .success(try body())
    } catch let error as DMError {
      if error.code.isFatal { throw error }
      return .failure(error)
    } catch {
      return .failure(DMError(.internal, "unexpected fault in a line"))
    }
  }

  private func hasInput() -> Bool { waitUntilReadable(descriptor, milliseconds: 0) }

  private mutating func fill() throws {
    let count = try readChunk()
    chunk.withUnsafeBytes { splitter.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    if count == 0 { isAtEnd = true }
  }

  private mutating func readChunk() throws -> Int {
    do {
      return try readSome(descriptor, into: &chunk)
    } catch {
      throw DMError(.inputOutput, "cannot read \(name): \(error.text)")
    }
  }

  /// Reads the input to its end, and removes one LF at the end.
  ///
  /// The method fails soon after `limit` bytes; the caller must check the exact limit.
  ///
  /// - Throws: `invalid_utf8`, `text_too_long`, `io_error`.
  package mutating func text(limit: Int) throws -> String { try plainText(bytes(limit: limit)[...]) }

  /// Reads the input to its end as `text` does, but does not decode it.
  ///
  /// - Parameter cuts: true to read a longer input to its end and drop the bytes that are far over the limit; false to fail.
  package mutating func bytes(limit: Int, cuts: Bool = false) throws -> [UInt8] {
    var bytes: [UInt8] = []
    // Keeps 8 bytes more than the limit, so that a text over the limit is still over it after an incomplete character
    // is removed.
    let most = limit + 8
    while case let count = try readChunk(), count > 0 {
      if bytes.count <= most { bytes += chunk[..<count] }
      guard cuts || bytes.count <= limit + 1 else {
        throw DMError(.textTooLong, "the text is over \(limit / 1024) KiB; split it")
      }
    }
    if bytes.count > most {
      // Removes the last character, which may be incomplete: at most three bytes follow its first byte.
      bytes.removeLast(bytes.count - most)
      if let first = bytes.suffix(4).lastIndex(where: { $0 & 0xC0 != 0x80 }) { bytes.removeLast(bytes.count - first) }
    } else if bytes.last == UInt8(ascii: "\n") {
      bytes.removeLast()
    }
    return bytes
  }
}

/// Decodes UTF-8.
///
/// - Parameter isLossy: whether to replace invalid bytes and NUL with U+FFFD.
/// - Throws: `invalid_utf8`.
package func plainText(_ bytes: ArraySlice<UInt8>, isLossy: Bool = false) throws -> String {
  if isLossy { return repaired(String(decoding: bytes, as: UTF8.self)) }
  guard let text = String(validating: bytes, as: UTF8.self) else {
    throw DMError(.invalidUTF8, "the text is not UTF-8; convert it with iconv")
  }
  return text
}

/// Replaces each NUL with U+FFFD.
private func repaired(_ text: String) -> String {
  guard text.contains(byte: 0) else { return text }
  var scalars = String.UnicodeScalarView()
  for scalar in text.unicodeScalars { scalars.append(scalar == "\0" ? "\u{FFFD}" : scalar) }
  return String(scalars)
}
