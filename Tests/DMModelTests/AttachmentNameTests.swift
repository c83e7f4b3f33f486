import Testing

@testable import DMModel

/// Swift Testing has a type of this name, too.
private typealias Attachment = DMModel.Attachment

struct AttachmentNameTests {
  @Test(arguments: [
    ("photo.jpg", "photo.jpg"), ("/home/bob/photo.jpg", "photo.jpg"), ("../../etc/passwd", "passwd"),
    ("photos/", "photos"), ("photos///", "photos"), ("", "file"), ("/", "file"), ("///", "file"), (".", "file"),
    ("..", "file"), ("../..", "file"), ("a/..", "file"), ("-", "file"), ("--", "file"), (" ", "file"),
    ("-rf", "rf"), ("--help.txt", "help.txt"), (".bashrc", "bashrc"), ("...", "file"), ("-. .-a", "a"),
    ("a.", "a."), ("a  ", "a"), ("  a b  ", "a b"), ("\u{0}", "file"), ("a\u{0}/b", "b"), ("a\u{0}b", "ab"),
    ("a\nb\tc\u{1B}[31m.txt", "abc[31m.txt"), ("a\u{7F}\u{85}\u{9B}b", "ab"), ("a\u{2028}b\u{2029}c", "abc"),
    ("photo\u{202E}gpj.exe", "photogpj.exe"), ("a\u{200E}\u{200F}\u{61C}\u{2066}\u{2069}b", "ab"), ("\u{FEFF}a", "a"),
    ("a\u{E0041}\u{E007F}b", "ab"), ("\u{202E}/", "file"), ("\u{202E}.a", "a"), ("a\\b", "a\\b"),
    ("naïve 日本 👨‍👩‍👧.png", "naïve 日本 👨‍👩‍👧.png"), ("e\u{301}", "e\u{301}"), ("$(rm -rf ~)", "$(rm -rf ~)"),
  ])
  func `any attachment name becomes a safe file name`(_ name: String, _ safe: String) {
    #expect(Array(Attachment.safeName(name).utf8) == Array(safe.utf8))
  }

  @Test(arguments: ["x", "é", "日", "👍", "e\u{301}"], ["", ".jpg", ".verylongextension", ".no such"])
  func `a name is cut to 255 bytes, between characters, and keeps its extension`(_ letter: String, _ ending: String) {
    let whole = String(repeating: letter, count: 300) + ending
    let name = Attachment.safeName(whole)
    #expect((252...255).contains(name.utf8.count))
    #expect(!name.unicodeScalars.contains("\u{FFFD}"))
    #expect(name.hasSuffix(ending == ".jpg" ? ending : ""))
    #expect(Attachment.safeName(name) == name, "a safe name is not changed")
    let stem = ending == ".jpg" ? name.utf8.dropLast(4) : name.utf8[...]
    #expect(whole.utf8.starts(with: stem))
  }

  @Test func `a name of 255 bytes is not cut`() {
    let most = String(repeating: "x", count: 251) + ".jpg"
    #expect(Attachment.safeName(most) == most)
    #expect(Attachment.safeName("x" + most) == most)
  }

  @Test(arguments: [
    ("a.jpg", "jpg"), ("a.tar.gz", "gz"), ("a.JPG", "JPG"), ("a.mp3", "mp3"), ("a", nil), ("a.", nil), (".jpg", nil),
    ("a.b c", nil), ("a.é", nil), ("a.12345678901234567", nil), ("a.1234567890123456", "1234567890123456"),
    ("", nil), ("a.jp/g", nil),
  ])
  func `an extension is at most 16 ASCII letters and digits`(_ name: String, _ ending: String?) {
    #expect(Attachment.fileExtension(of: name) == ending)
  }

  @Test(arguments: [
    ("a.png", "jpg", "a.jpg"), ("a", "jpg", "a.jpg"), ("a.tar.gz", "zip", "a.tar.zip"), ("a.", "jpg", "a..jpg"),
    ("a.b c", "jpg", "a.b c.jpg"), ("photo.jpg", "thumbnail.webp", "photo.thumbnail.webp"),
  ])
  func `a new extension replaces the old one`(_ name: String, _ ending: String, _ expected: String) {
    #expect(Attachment.name(name, withExtension: ending) == expected)
  }

  @Test(arguments: [("a.png", "a-2.png"), ("a", "a-2"), ("a.tar.gz", "a.tar-2.gz"), ("a.b c", "a.b c-2")])
  func `a number is inserted before the extension`(_ name: String, _ expected: String) {
    #expect(Attachment.name(name, numbered: 2) == expected)
  }

  @Test(arguments: ["x", "é", "日", "👍"])
  func `a name with a new extension or a number has at most 255 bytes`(_ letter: String) {
    let name = Attachment.safeName(String(repeating: letter, count: 300) + ".gif")
    for made in [
      Attachment.name(name, withExtension: "thumbnail.webp"), Attachment.name(name, numbered: 12),
      Attachment.name(String(repeating: letter, count: 300), withExtension: "jpg"),
    ] {
      #expect((252...255).contains(made.utf8.count))
      #expect(Attachment.safeName(made) == made)
    }
  }
}
