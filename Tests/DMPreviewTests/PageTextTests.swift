import Testing

@testable import DMModel
@testable import DMPreview

struct PageTextTests {
  private static let latin: [UInt8] = Array("<title>caf".utf8) + [0xE9] + Array("</title>".utf8)

  @Test(
    arguments: [
      ("text/html; charset=iso-8859-1", latin, "<title>café</title>"),
      ("text/html; charset=\"windows-1252\"", latin, "<title>café</title>"),
      ("text/html", latin, "<title>café</title>"),
      ("text/html; charset=utf-8", latin, "<title>café</title>"),
      ("text/html; charset=no-such", latin, "<title>café</title>"),
      ("text/html", Array("<title>café</title>".utf8), "<title>café</title>"),
      ("text/html; charset=koi8-r", [0xD0, 0xD2, 0xC9], "при"),
      ("text/html; charset=Shift_JIS", [0x93, 0xFA, 0x96, 0x7B], "日本"),
      ("text/html; charset=gb2312", [0xD6, 0xD0], "中"),
      ("text/html; charset=euc-kr", [0xC7, 0xD1], "한"),
      ("text/html; charset=big5", [0xA4, 0xA4], "中"),
      ("text/html", Array("<meta charset='koi8-r'>".utf8) + [0xD0], "<meta charset='koi8-r'>п"),
      ("text/html; charset=utf-8", [0xFE, 0xFF, 0x00, 0x41, 0x20, 0xAC], "A€"),
      ("text/html", [0xFF, 0xFE, 0x41, 0x00, 0xAC, 0x20], "A€"),
      ("text/html; charset=latin1", [0xEF, 0xBB, 0xBF] + Array("é".utf8), "é"),
      ("text/html; charset=shift_jis", [0x41, 0x93], "A\u{FFFD}"),
      ("text/html; charset=euc-jp", [0xFF, 0x41], "\u{FFFD}A"),
    ] as [(String, [UInt8], String)])
  func `a page is decoded as its mark, its header, its 'meta' element or its bytes say`(
    type: String, bytes: [UInt8], text: String
  ) {
    #expect(pageText(bytes, type: type) == text)
  }

  @Test(arguments: [
    "charset=utf-7", "charset=iso-2022-cn-ext", "charset=UTF-8//TRANSLIT", "charset=../../x", "charset=",
    "charset=\"", "charset", "charset = '\u{0}", "charset=utf-16",
  ])
  func `an encoding that the web does not use is not asked for`(type: String) {
    #expect(pageText(Array("+ADw-title+AD4-".utf8), type: type).contains("title") || type.hasSuffix("16"))
  }

  @Test(arguments: [
    ("a\u{1B}[31mb\u{7}", "a [31mb"), ("x\u{202E}txt.exe\u{202C}", "xtxt.exe"), ("a\u{2066}b\u{2069}", "ab"),
    (" a \r\n\t b\u{2028}c ", "a b c"), ("z\u{200B}\u{AD}\u{FEFF}w", "zw"),
    ("👩\u{200D}👩\u{200D}👧", "👩\u{200D}👩\u{200D}👧"),
    ("\u{E0041}x", "x"), ("a\u{85}b\u{9B}c", "a b c"),
  ])
  func `a line of a page has no character that controls a terminal, reorders text or is invisible`(
    text: String, line: String
  ) {
    #expect(safeLine(text, limit: 300) == line)
  }

  @Test func `a long line is cut to the limit`() {
    #expect(safeLine(String(repeating: "é", count: 300), limit: 300)?.unicodeScalars.count == 300)
    let cut = safeLine(String(repeating: "é ", count: 300), limit: 300)
    #expect(cut?.unicodeScalars.count == 300)
    #expect(cut?.hasSuffix("…") == true)
    #expect(safeLine("\u{202E} \n", limit: 300) == nil)
  }

  @Test(arguments: [
    ("see https://a.test/b.", "https://a.test/b"), ("(http://a.test/x)", "http://a.test/x"),
    ("http://a.test/x_(y)", "http://a.test/x_(y)"), ("HTTPS://A.test", "HTTPS://A.test"),
    ("<http://a.test/>, then http://b.test", "http://a.test/"), ("xhttp://a.test http://b.test/", "http://b.test/"),
    ("“http://a.test/?q=1&r=2#f”", "http://a.test/?q=1&r=2#f"),
    ("ftp://a.test http:// https://c.test!", "https://c.test"),
    ("https://a.test/\u{202E}gpj", "https://a.test/"), ("http://é.test/ü", "http://é.test/ü"),
    ("*http://a.test*", "http://a.test"), ("[x](http://a.test/y)", "http://a.test/y"),
  ])
  func `a link is found as people write it`(text: String, link: String) {
    #expect(firstLink(in: text) == link)
  }

  @Test(arguments: ["", "hello", "http:", "http://", "https:// x", "http:/a", "mailto:a@b.test", "www.a.test", "::://"])
  func `a text without a link has none`(text: String) { #expect(firstLink(in: text) == nil) }
}
