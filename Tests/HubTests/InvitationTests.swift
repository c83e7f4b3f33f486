import Testing

@testable import DMKit
@testable import DMModel
@testable import DMPostgres
@testable import DMSync
@testable import StoreSupport
@testable import TestSupport

/// Tokens that another person has read, and invalid addresses and certificates.
struct InvitationTests {
  @Test func `joining ends the connection of a thief who has read the token`() throws {
    let hub = try PostgresHub()
    let invitation = try hub.administrator.invite(Handle("dave"), days: 1)
    let thief = try PQConnection(Credentials(invitation).settings())
    try thief.run([PQConnection.Statement("SELECT * FROM dm1.hello(1)")])
    try Joining(TemporaryStore(users: []).messenger("dave")).join(invitation)
    #expect(throws: HubFault.self) { try thief.run([PQConnection.Statement("SELECT * FROM dm1.changed(NULL)")]) }
    // The login now has another password.
    #expect(throws: HubFault.self) { try PQConnection(Credentials(invitation).settings()) }
  }

  @Test func `joining with a used token fails with 'already used', and the password of the login does not change`()
    throws
  {
    let hub = try PostgresHub()
    let invitation = try hub.administrator.invite(Handle("dave"), days: 1)
    let thief = try PQConnection(Credentials(invitation).settings())
    try thief.run([PQConnection.Statement("SELECT dm1.joined()")])
    let refused = #expect(throws: HubFault.self) {
      try Joining(TemporaryStore(users: []).messenger("dave")).join(invitation)
    }
    #expect(refused?.text.contains("this invitation was already used") == true)
    _ = try PQConnection(Credentials(invitation).settings())
  }

  @Test(arguments: [
    ("/run/postgresql", nil, false), ("127.0.0.1", nil, false), ("localhost,::1", nil, false),
    ("127.0.0.1", "ca.crt", true), ("hub.example.org", nil, true), ("/run/postgresql,203.0.113.5", nil, true),
    ("localhost,203.0.113.5", nil, true), ("/run/postgresql", "ca.crt", false),
  ])
  func `the certificate of a hub is verified, unless all hosts are local and no authority is given`(
    host: String, authority: String?, isVerified: Bool
  ) throws {
    var credentials = Credentials(host: host, port: "5432", database: "x", user: "u", password: "p")
    credentials.authority = authority
    let settings = Dictionary(uniqueKeysWithValues: try credentials.settings().map { ($0.name, $0.value) })
    #expect((settings["sslmode"] == "verify-full") == isVerified)
    #expect(!isVerified || settings["channel_binding"] == "require")
    // The password itself is never sent: the connection requires SCRAM, requires channel binding, which needs SCRAM, or
    // uses a socket in a folder of the server.
    let isSent = settings["require_auth"] == nil && settings["channel_binding"] != "require" && !host.hasPrefix("/")
    #expect(!isSent)
  }

  @Test func `no password is sent to a socket in a folder that every user can write to`() throws {
    let credentials = Credentials(host: "/tmp", port: "5432", database: "x", user: "u", password: "p")
    if try PQConnection.libraryVersion() >= 160_000 {
      #expect(try credentials.settings().contains { $0.name == "require_auth" })
    } else {
      #expect(throws: DMError.self) { try credentials.settings() }
    }
  }

  @Test(arguments: [
    ("hub.test", "hub.test", nil), ("hub.test:5433", "hub.test", "5433"), ("::1", "::1", nil),
    ("[::1]:5433", "::1", "5433"), ("a,b:5433", "a,b", "5433"), ("a,b:5433,5434", "a,b", "5433,5434"),
  ])
  func `an address is parsed into a host and a port`(text: String, host: String, port: String?) throws {
    let address = try HubAddress(text)
    #expect(address.host == host && address.port == port)
    #expect(try HubAddress(address.description) == address)
  }

  @Test(arguments: [
    "", "hub.test:", "hub.test:x", "hub.test:0", "hub.test:65536", "a b", "a,b,c:1,2", "a,,b", "host=x", "a:1,x",
  ])
  func `an invalid address is refused`(text: String) {
    #expect(throws: DMError.self) { try HubAddress(text) }
  }

  @Test func `a file that is not a certificate is refused`() {
    #expect(
      !isCertificate("hello") && !isCertificate("-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----"))
  }
}
