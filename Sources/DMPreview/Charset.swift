internal import DMModel
internal import DMSystem

/// The text of a page, decoded.
///
/// The encoding is that of a byte order mark, else that of the header `Content-Type`, else that which a `meta` element in
/// the first 1,024 bytes names (html.spec.whatwg.org, section 13.2.3.2). Without any, and if the bytes do not fit what is
/// named, it is UTF-8 if they are valid UTF-8, and otherwise windows-1252. Bytes that do not fit become U+FFFD.
func pageText(_ bytes: [UInt8], type: String, isCut: Bool = false) -> String {
  if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return String(decoding: bytes.dropFirst(3), as: UTF8.self) }
  if bytes.starts(with: [0xFE, 0xFF]) { return decoded(bytes.dropFirst(2), "UTF-16BE") }
  if bytes.starts(with: [0xFF, 0xFE]) { return decoded(bytes.dropFirst(2), "UTF-16LE") }
  let name = charset(in: Array(type.utf8)) ?? charset(in: Array(bytes.prefix(1024)))
  let system = name.flatMap(systemName)
  // In a page that was read as ASCII, UTF-16 cannot be what the 'meta' element means.
  if let system, system != "UTF-8", !system.hasPrefix("UTF-16") { return decoded(bytes[...], system) }
  // The last character may be cut.
  let whole = isCut ? bytes.prefix(bytes.count - min(3, bytes.count)) : bytes[...]
  if system == "UTF-8" || String(validating: whole, as: UTF8.self) != nil { return utf8OrLatin(bytes, whole) }
  return decoded(bytes[...], "WINDOWS-1252")
}

/// The bytes as UTF-8, unless there are so many faults that the page only claims to be UTF-8.
private func utf8OrLatin(_ bytes: [UInt8], _ whole: ArraySlice<UInt8>) -> String {
  let text = String(decoding: bytes, as: UTF8.self)
  if String(validating: whole, as: UTF8.self) != nil { return text }
  let foreign = bytes.count { $0 >= 0x80 }
  let faults = text.unicodeScalars.count { $0 == "\u{FFFD}" }
  return faults * 2 > foreign ? decoded(bytes[...], "WINDOWS-1252") : text
}

private func decoded(_ bytes: ArraySlice<UInt8>, _ name: String) -> String {
  DMSystem.decoded(bytes, from: name) ?? String(decoding: bytes, as: UTF8.self)
}

/// The word after the first `charset=`, in lower case; nil if there is none.
func charset(in bytes: [UInt8]) -> String? {
  let mark = Array("charset".utf8)
  let lower = bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
  var start = 0
  while start + mark.count < lower.count {
    defer { start += 1 }
    guard lower[start...].starts(with: mark) else { continue }
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    var rest = lower[(start + mark.count)...].drop(while: isSpace)
    guard rest.popFirst() == UInt8(ascii: "=") else { continue }
    rest = rest.drop { isSpace($0) || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") }
    let word = rest.prefix(40).prefix { byte in
      (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "-_:.".utf8.contains(byte)
    }
    if !word.isEmpty { return String(decoding: word, as: UTF8.self) }
  }
  return nil
}

/// The name by which iconv(3) has an encoding of the web (encoding.spec.whatwg.org, section 4.2); nil for any other.
///
/// Only these encodings are asked for: iconv has others, which are stateful and seldom tested.
private func systemName(_ label: String) -> String? {
  switch label {
  case "utf-8", "utf8": "UTF-8"
  case "utf-16", "utf-16le": "UTF-16LE"
  case "utf-16be": "UTF-16BE"
  case "windows-1252", "cp1252", "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "l1", "us-ascii", "ascii":
    "WINDOWS-1252"
  case "windows-1250", "cp1250": "WINDOWS-1250"
  case "windows-1251", "cp1251": "WINDOWS-1251"
  case "windows-1253", "cp1253": "WINDOWS-1253"
  case "windows-1254", "cp1254", "iso-8859-9", "latin5": "WINDOWS-1254"
  case "windows-1255", "cp1255": "WINDOWS-1255"
  case "windows-1256", "cp1256": "WINDOWS-1256"
  case "windows-1257", "cp1257": "WINDOWS-1257"
  case "windows-1258", "cp1258": "WINDOWS-1258"
  case "windows-874", "tis-620", "iso-8859-11": "CP874"
  case "iso-8859-2", "latin2": "ISO-8859-2"
  case "iso-8859-3", "latin3": "ISO-8859-3"
  case "iso-8859-4", "latin4": "ISO-8859-4"
  case "iso-8859-5", "cyrillic": "ISO-8859-5"
  case "iso-8859-6", "arabic": "ISO-8859-6"
  case "iso-8859-7", "greek": "ISO-8859-7"
  case "iso-8859-8", "hebrew": "ISO-8859-8"
  case "iso-8859-10", "latin6": "ISO-8859-10"
  case "iso-8859-13": "ISO-8859-13"
  case "iso-8859-14": "ISO-8859-14"
  case "iso-8859-15", "latin9": "ISO-8859-15"
  case "iso-8859-16": "ISO-8859-16"
  case "koi8-r", "koi8": "KOI8-R"
  case "koi8-u": "KOI8-U"
  case "shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j": "CP932"
  case "euc-jp", "x-euc-jp": "EUC-JP"
  case "euc-kr", "ks_c_5601-1987", "korean", "windows-949": "CP949"
  case "gb2312", "gbk", "gb18030", "x-gbk", "chinese": "GB18030"
  case "big5", "big5-hkscs", "x-x-big5": "BIG5-HKSCS"
  default: nil
  }
}
