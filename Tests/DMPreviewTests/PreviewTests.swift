import Foundation
import Synchronization
import Testing

@testable import DMModel
@testable import DMPreview
@testable import DMSystem
@testable import TestSupport

/// Previews of pages of a server of the test.
struct PreviewTests {
  private func preview(
    _ path: String = "/", _ change: (inout FetchPolicy) -> Void = { _ in },
    of answer: @escaping @Sendable (String) -> PageServer.Answer
  ) throws -> PagePreview {
    let server = try PageServer(answer)
    var policy = try FetchPolicy(allowing: server)
    change(&policy)
    return try PreviewMaker(policy).preview(of: "http://page.test:\(server.port)\(path)")
  }

  private func failure(
    _ path: String = "/", _ change: (inout FetchPolicy) -> Void = { _ in },
    of answer: @escaping @Sendable (String) -> PageServer.Answer
  ) -> DMError? {
    #expect(throws: DMError.self) { try preview(path, change, of: answer) }
  }

  /// The smallest picture in the format PNG that is a whole file.
  private static let png = Array(
    Data(
      base64Encoded: """
        iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
        """) ?? Data())

  @Test func `a preview has what Open Graph says, and the image`() throws {
    let preview = try preview("/a/b?c=d#e") { path in
      switch path {
      case "/a/b?c=d":
        .page(
          """
          <!doctype html><html><head><title>other</title><meta name="description" content="other">
          <meta property="og:title" content="A &amp; B"><meta property="og:description" content="says
            what it is"><meta property="og:site_name" content="Example"><meta property="og:image" content="../i.png">
          </head><body><p>x</body></html>
          """)
      case "/i.png": .page(Self.png, type: "image/png")
      default: .page([], status: "404 Not Found")
      }
    }
    #expect(
      preview == PagePreview(title: "A & B", description: "says what it is", site: "Example", image: Self.png))
  }

  @Test func `a text gets the preview of its first link, with the attachment of the image`() throws {
    let server = try PageServer { path in
      path == "/i.png"
        ? .page(Self.png, type: "image/png") : .page("<title>\(path)</title><meta property=og:image content=/i.png>")
    }
    let maker = try PreviewMaker(FetchPolicy(allowing: server))
    let (url, id) = ("http://page.test:\(server.port)/first", Identifier(high: 1, low: 1))
    var images: [[UInt8]] = []
    let preview = try maker.linkPreview(in: "see (\(url)), not \(url)/second") { image in
      images.append(image)
      return id
    }
    #expect(try preview == LinkPreview(url: url, title: "/first").with(attachment: id))
    #expect(images == [Self.png] && server.connections == 2)
    // The image is not fetched if it is not wanted, and left out if it cannot be an attachment.
    #expect(try maker.linkPreview(in: url, attach: nil) == LinkPreview(url: url, title: "/first"))
    #expect(server.connections == 3)
    #expect(try maker.linkPreview(in: url) { _ in nil } == LinkPreview(url: url, title: "/first"))
    #expect(try maker.linkPreview(in: "no link", attach: nil) == nil)
    #expect(server.connections == 5)
  }

  @Test(
    arguments: [
      ("<title>one</title><title>two</title>", "one", nil),
      ("<meta name=twitter:title content=t><meta name=twitter:description content=d><title>x</title>", "t", "d"),
      ("<META NAME=Description CONTENT=d><TITLE>T</TITLE>", "T", "d"),
      ("<meta property=og:title content=''><title>x</title>", "x", nil),
      ("<meta property=og:title content='\u{202E}\u{200B} '><title>x</title>", "x", nil),
      ("<title>&lt;b&gt; &#x41;</title><body><title>no</title>", "<b> A", nil),
      ("<body><svg><title>drawing</title></svg><h1>x</h1>", "drawing", nil),
      ("<title>in the head</title><script>document.write('<title>no</title>')</script>", "in the head", nil),
      ("<title>unfinished", "unfinished", nil),
      ("\0<title>a\0b</title>", "a\u{FFFD}b", nil),
    ] as [(String, String, String?)])
  func `a title is the first that the page has`(html: String, title: String, description: String?) throws {
    let preview = try preview { _ in .page(html) }
    #expect(preview.title == title)
    #expect(preview.description == description)
  }

  @Test func `a redirect is followed, also a relative one, at most five times`() throws {
    let targets = ["/0": "1", "/1": "/a/2", "/a/2": "../3", "/3": "?4", "/3?4": "//page.test:PORT/5"]
    let port = Mutex("")
    let server = try PageServer { path in
      guard let target = targets[path] else { return .page("<title>end</title>") }
      return .redirect(target.replacing("PORT", with: port.withLock { $0 }))
    }
    port.withLock { $0 = "\(server.port)" }
    let maker = try PreviewMaker(FetchPolicy(allowing: server))
    #expect(try maker.preview(of: "http://page.test:\(server.port)/0").title == "end")
    #expect(server.connections == 6)
  }

  @Test func `a loop of redirects ends`() {
    let error = failure { _ in .redirect("/") }
    #expect(error?.message == "the link leads to more than 5 redirects")
  }

  // MARK: Limits

  @Test func `a page is read in five seconds or not at all`() {
    #expect(FetchPolicy().time == .seconds(5))
    #expect(FetchPolicy().size == 1_048_576)
    let error = failure("/", { $0.time = .milliseconds(300) }) { _ in .silent(Array("HTTP/1.1 200 OK\r\n".utf8)) }
    #expect(error?.code == .linkFailed)
    #expect(error?.message == "'page.test' did not answer in time")
  }

  @Test func `the time is that of all redirects together`() {
    let error = failure("/", { $0.time = .milliseconds(300) }) { path in
      path == "/" ? .redirect("/next") : .silent(Array("HTTP/1.1 200 OK\r\n\r\n<title>x".utf8))
    }
    #expect(error?.message == "'page.test' did not answer in time")
  }

  private static let endlessHead = Array("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n".utf8)

  @Test func `of an endless page little more than 1 MiB is read`() throws {
    let server = try PageServer { _ in
      .endless(start: Self.endlessHead + Array("<!-- ".utf8), [UInt8](repeating: 0x61, count: 1 << 16))
    }
    var policy = try FetchPolicy(allowing: server)
    policy.time = .seconds(60)
    let error = #expect(throws: DMError.self) {
      try PreviewMaker(policy).preview(of: "http://page.test:\(server.port)/")
    }
    #expect(error?.message == "the page of 'page.test' is over 1 MiB")
    // The rest is in the buffers of the sockets.
    #expect(server.sentBytes < 16 << 20)
  }

  @Test func `a page of 10 GB is refused by its length`() {
    let error = failure { _ in
      .silent(
        Array("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 10000000000\r\n\r\n<title>x</title>".utf8))
    }
    #expect(error?.message == "the page of 'page.test' is over 1 MiB")
  }

  @Test func `a page without a length that is too long is previewed if its head is in the first MiB`() throws {
    let preview = try preview("/", { $0.time = .seconds(60) }) { _ in
      .endless(
        start: Self.endlessHead + Array("<head><title>long</title></head><body>".utf8),
        [UInt8](repeating: 0x61, count: 1 << 16))
    }
    #expect(preview.title == "long")
  }

  @Test(arguments: [999, 1000, 1001, 1002, 50000])
  func `a page without a length is cut after the last byte that is allowed`(count: Int) throws {
    let server = try PageServer { _ in
      .bytes(Self.endlessHead + [UInt8](repeating: 0x61, count: count))
    }
    var policy = try FetchPolicy(allowing: server)
    policy.size = 1000
    let fetched = try Fetcher(Curl.loaded(), policy).fetch("http://page.test:\(server.port)/", accepts: "*/*")
    #expect(fetched.bytes.count == min(count, 1000))
    #expect(fetched.isCut == (count > 1000))
  }

  @Test func `a page that is compressed counts as it is after that`() throws {
    let folder = try ToolFolder()
    let small = try folder.compressed(Array("<title>packed</title>".utf8))
    let bomb = try folder.compressed([UInt8](repeating: 0x20, count: 64 << 20))
    #expect(bomb.count < 100_000)
    let answer: @Sendable (String) -> PageServer.Answer = {
      .page($0 == "/" ? small : bomb, ["Content-Encoding: gzip"])
    }
    #expect(try preview(of: answer).title == "packed")
    #expect(failure("/bomb", of: answer)?.message == "the page of 'page.test' is over 1 MiB")
    let twice = try folder.compressed(bomb)
    let error = failure { _ in .page(twice, ["Content-Encoding: gzip, gzip"]) }
    #expect(error?.code == .linkFailed)
  }

  @Test func `a header that is too long, or never ends, ends the request`() {
    let line = Array("X: \(String(repeating: "y", count: 1000))\r\n".utf8)
    let error = failure { _ in .endless(start: Array("HTTP/1.1 200 OK\r\n".utf8), line) }
    #expect(error?.message == "'page.test' sent a header that is too long")
    let endless = failure { _ in
      .endless(start: Array("HTTP/1.1 200 OK\r\nX: ".utf8), [UInt8](repeating: 0x79, count: 1000))
    }
    #expect(endless?.code == .linkFailed)
    let early = failure { _ in .endless(start: [], Array("HTTP/1.1 103 Early Hints\r\n\r\n".utf8)) }
    #expect(early?.code == .linkFailed)
  }

  @Test(arguments: [
    (PageServer.Answer.page("", "X: y"), "the page of 'page.test' has no title"),
    (.page([], status: "404 Not Found"), "'page.test' answered with the status 404"),
    (.page([], status: "304 Not Modified"), "'page.test' answered with the status 304"),
    (.page(Array("%PDF-1.4".utf8), type: "application/pdf"), "the link to 'page.test' leads to a file, not to a page"),
    (.bytes([]), "'page.test' sent an answer that cannot be read (libcurl 52)"),
    (.bytes(Array("<title>HTTP/0.9</title>".utf8)), "'page.test' sent an answer that cannot be read (libcurl 1)"),
    (
      .bytes(Array("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n<".utf8)),
      "'page.test' sent an answer that cannot be read (libcurl 18)"
    ),
  ])
  func `an answer without a preview is an error that names the host alone`(answer: PageServer.Answer, text: String) {
    let error = failure("/secret?key=1") { _ in answer }
    #expect(error?.message == text)
    #expect(error?.code == .linkFailed)
  }

  @Test func `nothing that a page says makes another request, but its image`() throws {
    let paths = Mutex<[String]>([])
    let server = try PageServer { path in
      paths.withLock { $0.append(path) }
      return .page(
        """
        <base href="/base/"><meta http-equiv=refresh content="0;url=/refresh"><link rel=stylesheet href=/style>
        <script src=/script></script><title>x</title><img src=/img><iframe src=/frame></iframe>
        <!DOCTYPE x [<!ENTITY e SYSTEM "/entity">]><p>&e;
        """, "Refresh: 0;url=/other", "Set-Cookie: a=b", "Link: </link>; rel=preload", "Alt-Svc: h2=\":1\"")
    }
    let maker = try PreviewMaker(FetchPolicy(allowing: server))
    #expect(try maker.preview(of: "http://page.test:\(server.port)/").title == "x")
    #expect(paths.withLock { $0 } == ["/"])
  }

  @Test func `an image that is no picture, too large or absent is left out`() throws {
    let large = Self.png + [UInt8](repeating: 0, count: 1 << 20)
    for (path, image) in [("/text", Array("<svg/>".utf8)), ("/large", large), ("/none", [])] {
      let preview = try preview { asked in
        asked == "/"
          ? .page("<title>x</title><meta property=og:image content='\(path)'>") : .page(image, type: "image/png")
      }
      #expect(preview.image == nil, "\(path)")
    }
  }
}

extension ToolFolder {
  /// The bytes, compressed by gzip.
  fileprivate func compressed(_ bytes: [UInt8]) throws -> [UInt8] {
    let name = "x\(UInt32.random(in: 0 ... .max))"
    try write(bytes, to: name)
    var packed: [UInt8] = []
    _ = try tool("gzip").run(["-9c", name]) { packed += $0 }
    return packed
  }
}
