import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// A hub that is not on this machine must show a certificate for its name.
struct HubTLSTests {
  /// A server with a certificate for `hub.test`, and the authority that has signed it.
  private static let server = Result { () throws -> (server: PostgresServer, authority: String) in
    let server = try PostgresServer { folder in
      let script = """
        set -e; cd '\(folder)'; new='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
        openssl req -x509 $new -days 2 -subj /CN=authority -keyout ca.key -out ca.crt
        openssl req $new -subj /CN=hub.test -keyout server.key -out server.csr
        printf subjectAltName=DNS:hub.test >names
        openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.crt
        openssl req -x509 $new -days 2 -subj /CN=authority -keyout other.key -out other.crt
        chmod 600 *.key
        """
      try ToolFixture().done("sh", ["-c", script])
      return ["ssl=on", "ssl_cert_file='\(folder)/server.crt'", "ssl_key_file='\(folder)/server.key'"]
    }
    return (server, server.folder + "/ca.crt")
  }

  /// Tries to join over the network, with a changed host name and certificate in the token.
  private func join(_ server: PostgresServer, host: String, authority: String?) throws -> (ToolFixture, Outcome) {
    let token = try HubFixture(server).invite("alice").dropFirst("dm1:".count)
    let padded = token.replacing("-", with: "+").replacing("_", with: "/")
    let bytes = try #require(Data(base64Encoded: padded + String(repeating: "=", count: (4 - padded.count % 4) % 4)))
    var members = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: String])
    members["host"] = host
    members["hostaddr"] = "127.0.0.1"
    members["port"] = "\(server.port)"
    members["ca"] = try authority.map { try String(contentsOfFile: $0, encoding: .utf8) }
    let changed = try JSONSerialization.data(withJSONObject: members).base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    let machine = try ToolFixture()
    machine.set("DM_SYNC", "off")
    return (machine, try machine.run("dm-sync", ["join", "dm1:" + changed]))
  }

  @Test func `a hub with a valid certificate for its name is joined over an encrypted connection`() throws {
    let (server, authority) = try Self.server.get()
    let (machine, joined) = try join(server, host: "hub.test", authority: authority)
    #expect(joined.status == .exit(0), "\(joined.stderr)")
    let follower = try LiveProcess(machine, "dm-sync", ["-f"], stdin: .null)
    defer { follower.process.send(SIGKILL) }
    while try follower.record()["state"]?.string != "live" {}
    let versions = try server.psql(
      "postgres",
      "SELECT DISTINCT s.version FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) WHERE a.usename LIKE 'u\\_%'")
    #expect(versions.hasPrefix("TLSv1."), "\(versions)")
  }

  @Test func `a hub with another certificate, another name or no certificate is refused`() throws {
    let (server, authority) = try Self.server.get()
    let plain = try PostgresServer { _ in ["ssl=off"] }
    let attempts = try [
      join(server, host: "hub.test", authority: server.folder + "/other.crt"),
      join(server, host: "other.test", authority: authority),
      // The certificate authorities of the system have not signed this certificate.
      join(server, host: "hub.test", authority: nil), join(plain, host: "hub.test", authority: authority),
    ]
    for (machine, refused) in attempts {
      #expect(refused.status == .exit(78), "\(refused.stderr)")
      #expect(!FileManager.default.fileExists(atPath: machine.store + "/hub"))
    }
  }
}
