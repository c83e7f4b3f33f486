import Testing

@testable import DMModel
@testable import DMPreview

/// Tricks to reach an address that a preview may not reach.
///
/// In a trick, `V` is the port of a server of this machine that must get no connection, and `S` the port of the server that
/// the policy allows.
struct TrickTests {
  private static let addresses = [
    "http://127.0.0.1:V/", "http://127.1:V/", "http://127.0.1:V/", "http://2130706433:V/", "http://0x7f000001:V/",
    "http://0x7F.0x0.0x0.0x1:V/", "http://0x7f.1:V/", "http://0177.0.0.1:V/", "http://0177.1:V/",
    "http://017700000001:V/", "http://127.0.0.1.:V/", "http://127.8.9.10:V/", "http://0:V/", "http://0.0.0.0:V/",
    "http://localhost:V/", "http://LocalHost:V/", "http://localhost.:V/", "http://sub.localhost:V/", "http://[::1]:V/",
    "http://[0:0:0:0:0:0:0:1]:V/", "http://[0000::0001]:V/", "http://[::]:V/", "http://[::ffff:127.0.0.1]:V/",
    "http://[::ffff:7f00:1]:V/", "http://[::127.0.0.1]:V/", "http://[::ffff:0:127.0.0.1]:V/",
    "http://[64:ff9b::127.0.0.1]:V/", "http://[2002:7f00:1::]:V/", "http://[2001:0:7f00:1::80ff:fffe]:V/",
    "http://[fe80::1%25lo]:V/", "http://[::1%25lo]:V/", "http://[fd00:ec2::254]/latest/meta-data/",
    "http://169.254.169.254/latest/meta-data/", "http://2852039166/", "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://[::ffff:169.254.169.254]/", "http://100.100.100.200/", "http://168.63.129.16/", "http://10.0.0.1/",
    "http://172.16.0.1/", "http://192.168.1.1/", "http://192.168.257/", "http://255.255.255.255/", "http://224.0.0.1/",
  ]
  private static let names = [
    "http://private.test:V/", "https://private.test:V/", "http://mixed.test:V/", "http://metadata.test/",
    "http://page.test:V/",
  ]
  private static let spellings = [
    "http://user@127.0.0.1:V/", "http://user:word@page.test:S/", "http://page.test:S@127.0.0.1:V/",
    "http://page.test@127.0.0.1:V/", "http://127.0.0.1:V#@page.test:S/", "http://127.0.0.1:V?@page.test:S/",
    "http://127.0.0.1:V\\@page.test:S/", "http://page.test:S\\@127.0.0.1:V/", "http://%31%32%37.0.0.1:V/",
    "http://127%2e0.0.1:V/", "http://127.0.0.1%00.page.test:V/", "http://127.0.0.1%0d%0aHost:x:V/",
    "http://127.0.0.1:V/%0d%0aX:%20y", "http://\u{FF11}\u{FF12}\u{FF17}.0.0.1:V/",
    "http://127\u{3002}0\u{3002}0\u{3002}1:V/",
    "http://\u{24DB}ocalhost:V/", "http:///127.0.0.1:V/", "http:127.0.0.1:V/", "http:/127.0.0.1:V/",
    "http:\\\\127.0.0.1:V/",
    "//127.0.0.1:V/", "///127.0.0.1:V/", "\\\\127.0.0.1:V/", "http://127.0.0.1 :V/", "http://127.0.0.1\t:V/",
    "http://127.0.0.1:V/ HTTP/1.1\r\nHost: page.test\r\n\r\n", "http://[127.0.0.1]:V/", "http://127.0.0.1:0V/",
  ]
  private static let schemes = [
    "file:///etc/passwd", "file://127.0.0.1/etc/passwd", "FILE:///etc/passwd", "gopher://127.0.0.1:V/_x",
    "dict://127.0.0.1:V/d:x", "ftp://127.0.0.1:V/", "ftps://127.0.0.1:V/", "tftp://127.0.0.1:V/x",
    "telnet://127.0.0.1:V/",
    "ldap://127.0.0.1:V/", "smb://127.0.0.1:V/x/y", "smtp://127.0.0.1:V/", "imap://127.0.0.1:V/", "pop3://127.0.0.1:V/",
    "rtsp://127.0.0.1:V/", "scp://127.0.0.1:V/x", "sftp://127.0.0.1:V/x", "mqtt://127.0.0.1:V/x", "ws://127.0.0.1:V/",
    "unix:/run/x.sock", "data:text/html,<title>x</title>", "javascript:alert(1)", "jar:http://127.0.0.1:V/!/",
  ]
  private static let ports = [22, 25, 53, 110, 389, 3306, 5432, 6379, 8080, 9200, 11211].map {
    "http://page.test:\($0)/"
  }
  static let all = addresses + names + spellings + schemes + ports

  private enum Way: CaseIterable { case link, redirect, permanentRedirect, image, secureImage }

  private final class Scene {
    let victim: PageServer
    let server: PageServer
    let policy: FetchPolicy

    init() throws {
      victim = try PageServer { _ in .page("<title>secret</title>") }
      let port = victim.port
      server = try PageServer { path in
        guard let number = Int(path.drop { !$0.isNumber }), number < TrickTests.all.count else { return .page("") }
        let trick = TrickTests.filled(TrickTests.all[number], victim: port, server: 0)
        let quoted = trick.replacing("&", with: "&amp;").replacing("\"", with: "&quot;")
        return switch path.prefix(2) {
        case "/r": .redirect(trick)
        case "/p": .redirect(trick, status: "308 Permanent Redirect")
        case "/s": .page("<title>x</title><meta property='og:image:secure_url' content=\"\(quoted)\">")
        default: .page("<title>x</title><meta property=og:image content=\"\(quoted)\">")
        }
      }
      var policy = try FetchPolicy(allowing: server)
      policy.ports.insert(Int(port))
      policy.time = .seconds(60)
      policy.resolved += [
        "private.test:\(port):127.0.0.1", "mixed.test:\(port):127.0.0.1,1.1.1.1", "metadata.test:80:169.254.169.254",
        "page.test:\(port):127.0.0.1",
      ]
      self.policy = policy
    }
  }

  private static func filled(_ trick: String, victim: UInt16, server: UInt16) -> String {
    trick.replacing(":V", with: ":\(victim)").replacing(":0V", with: ":0\(victim)").replacing(":S", with: ":\(server)")
  }

  @Test(arguments: all.indices)
  func `a trick reaches no address but that of the allowed server`(number: Int) throws {
    let scene = try Scene()
    let maker = try PreviewMaker(scene.policy)
    let base = "http://page.test:\(scene.server.port)"
    for way in Way.allCases {
      let fetcher = try Fetcher(Curl.loaded(), scene.policy)
      let link =
        switch way {
        case .link: Self.filled(Self.all[number], victim: scene.victim.port, server: scene.server.port)
        case .redirect: "\(base)/r\(number)"
        case .permanentRedirect: "\(base)/p\(number)"
        case .image: "\(base)/i\(number)"
        case .secureImage: "\(base)/s\(number)"
        }
      let result = Result { () throws(DMError) in try maker.preview(of: link, fetcher) }
      switch way {
      case .image, .secureImage:
        #expect(try result.get() == PagePreview(title: "x", description: nil, site: nil, image: nil))
      default: #expect(throws: DMError.self) { try result.get() }
      }
      let allowed = try scene.server.endpoint
      #expect(fetcher.attempts.filter(\.isAllowed).allSatisfy { $0.endpoint == allowed }, "\(way): \(fetcher.attempts)")
    }
    #expect(scene.victim.connections == 0)
  }

  @Test func `there are at least 60 tricks, and each is another`() { #expect(Set(Self.all).count >= 60) }

  @Test func `the server that tricks must not reach can be reached if it is allowed`() throws {
    let scene = try Scene()
    let policy = try FetchPolicy(allowing: scene.victim)
    #expect(try PreviewMaker(policy).preview(of: "http://127.0.0.1:\(scene.victim.port)/").title == "secret")
    #expect(scene.victim.connections == 1)
  }

  @Test func `programs may call no address of this machine`() throws {
    let server = try PageServer { _ in .page("<title>secret</title>") }
    #expect(throws: DMError.self) { try PreviewMaker().preview(of: "http://127.0.0.1:\(server.port)/") }
    #expect(FetchPolicy().ports == [80, 443])
    #expect(FetchPolicy().exceptions.isEmpty)
    #expect(FetchPolicy().resolved.isEmpty)
    #expect(throws: DMError.self) { try PreviewMaker().preview(of: "http://localhost/") }
    #expect(server.connections == 0)
  }

  @Test func `a name that means another address at the next request is checked again`() throws {
    // The first request of 'page.test' may be made; for the second, which a redirect asks for, the name has a private address.
    let victim = try PageServer { _ in .page("<title>secret</title>") }
    let port = victim.port
    let server = try PageServer { _ in .redirect("http://page.test:\(port)/") }
    var policy = try FetchPolicy(allowing: server)
    policy.ports.insert(Int(port))
    policy.resolved.append("page.test:\(port):127.0.0.1")
    let error = #expect(throws: DMError.self) {
      try PreviewMaker(policy).preview(of: "http://page.test:\(server.port)/")
    }
    #expect(error?.code == .linkRefused)
    #expect((server.connections, victim.connections) == (1, 0))
  }
}
