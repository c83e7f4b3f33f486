internal import CSystem
internal import Glibc

/// Decodes bytes of a character encoding, with iconv(3).
///
/// Bytes that do not fit become U+FFFD, one for each.
///
/// - Parameter name: the name of the encoding in iconv.
/// - Returns: nil if the system does not have the encoding.
package func decoded(_ bytes: ArraySlice<UInt8>, from name: String) -> String? {
  let converter = iconv_open("UTF-8", name)
  guard converter != iconv_t(bitPattern: -1) else { return nil }
  defer { iconv_close(converter) }
  var input = bytes.map { CChar(bitPattern: $0) }
  var result: [UInt8] = []
  var output = [CChar](repeating: 0, count: 64 << 10)
  input.withUnsafeMutableBufferPointer { input in
    var next = input.baseAddress
    var rest = input.count
    while rest > 0 {
      var written = 0
      let (status, code) = output.withUnsafeMutableBufferPointer { output in
        var end = output.baseAddress
        var room = output.count
        errno = 0
        let status = iconv(converter, &next, &rest, &end, &room)
        written = output.count - room
        return (status, errno)
      }
      result += output[..<written].lazy.map { UInt8(bitPattern: $0) }
      if status != -1 || code == E2BIG { continue }
      result += "\u{FFFD}".utf8
      // An incomplete character at the end is one fault.
      guard code == EILSEQ, rest > 1 else { break }
      next = next.map { $0 + 1 }
      rest -= 1
    }
  }
  return String(decoding: result, as: UTF8.self)
}
