import Testing

@testable import DMMedia
@testable import DMModel

struct PreparedFileTests {
  @Test func `a prepared file gets the extension of its format, unless its name is kept`() {
    var file = PreparedFile(path: "x", kind: .image, format: .jpeg)
    #expect(file.name("a.png", keeps: false) == "a.jpg")
    #expect(file.name("a.JPEG", keeps: false) == "a.JPEG")
    #expect(file.name("a", keeps: false) == "a.jpg")
    #expect(file.name("a.png", keeps: true) == "a.png")
    #expect(file.name("../.a", keeps: true) == "a")
    #expect(file.name(nil, keeps: false) == "file.jpg")
    #expect(file.name(nil, keeps: true) == "file.jpg")
    file.format = .text
    #expect(file.name("Makefile", keeps: false) == "Makefile")
    #expect(file.name("a.md", keeps: false) == "a.md")
    #expect(file.name(nil, keeps: false) == "file")
  }
}
