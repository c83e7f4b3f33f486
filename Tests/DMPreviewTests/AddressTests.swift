import Glibc
import Testing

@testable import DMModel
@testable import DMPreview
@testable import DMSystem

struct AddressTests {
  private func address(_ text: String) throws -> IPAddress {
    var bytes = [UInt8](repeating: 0, count: 16)
    let isSix = text.utf8.contains(UInt8(ascii: ":"))
    try #require(inet_pton(isSix ? AF_INET6 : AF_INET, text, &bytes) == 1, "\(text)")
    return try #require(IPAddress(Array(bytes.prefix(isSix ? 16 : 4))))
  }

  @Test(arguments: [
    "0.0.0.0", "0.1.2.3", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.100.100.200", "100.127.255.255", "127.0.0.1",
    "127.255.255.254", "168.63.129.16", "169.254.0.1", "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.0.0.1",
    "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1", "192.168.255.255", "198.18.0.1", "198.19.255.255",
    "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
  ])
  func `an address of IPv4 that is not public is refused`(text: String) throws {
    #expect(try !address(text).isPublic)
  }

  @Test(arguments: [
    "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
    "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0",
    "198.17.255.255", "198.20.0.0", "223.255.255.255",
  ])
  func `the addresses beside a range are public`(text: String) throws {
    #expect(try address(text).isPublic)
  }

  @Test(arguments: [
    "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:1.1.1.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1",
    "64:ff9b:1::1", "100::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:2::1", "2001:10::1",
    "2001:20::1",
    "2001:db8::1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "3ffe::1", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254",
    "fd12:3456:789a::1", "fe80::1", "febf::1", "fec0::1", "ff02::1", "ff0e::1", "1::1", "4000::1",
  ])
  func `an address of IPv6 that is not public, or that contains one of IPv4, is refused`(text: String) throws {
    #expect(try !address(text).isPublic)
  }

  @Test(arguments: ["2001:200::1", "2001:4860:4860::8888", "2003::1", "2606:4700::1111", "2a00:1450::1", "3000::1"])
  func `a global address of IPv6 is public`(text: String) throws {
    #expect(try address(text).isPublic)
  }

  /// A policy of a machine with these interfaces, such as `198.18.0.1/15`.
  private func policy(_ interfaces: [String]) throws -> FetchPolicy {
    let addresses = try interfaces.map { text in
      let parts = text.split(separator: "/")
      return InterfaceAddress(try address(String(parts[0])).bytes, bits: try #require(Int(parts[1])))
    }
    var policy = FetchPolicy()
    policy.interfaces = { addresses }
    return policy
  }

  @Test(arguments: [
    ("93.184.216.34/32", "93.184.216.34", "93.184.216.35"), ("93.184.216.34/24", "93.184.216.1", "93.184.217.1"),
    ("93.184.216.34/20", "93.184.223.255", "93.184.224.0"),
    ("2a00:1450:1:2::5/64", "2a00:1450:1:2::6", "2a00:1450:1:3::5"),
    ("2a00:1450:1:2::5/128", "2a00:1450:1:2:8000::1", "2a00:1450:1:3::5"),
    ("2a00:1450:1:2::5/48", "2a00:1450:1:ffff::1", "2a00:1450:2:2::5"), ("0.0.0.0/0", "1.1.1.1", "2003::1"),
    ("2a00::1/0", "2003::1", "1.1.1.1"),
  ])
  func `an address of an interface's network is refused, and one beside it is not`(
    interface: String, own: String, other: String
  ) throws {
    let policy = try policy(["10.0.0.1/8", interface, "fe80::1/64"])
    #expect(try !policy.allows(Endpoint(address: address(own), port: 80)))
    #expect(try policy.allows(Endpoint(address: address(other), port: 80)))
  }

  @Test func `no address is allowed if the interfaces cannot be read`() throws {
    var policy = FetchPolicy()
    policy.interfaces = { nil }
    #expect(try !policy.allows(Endpoint(address: address("1.1.1.1"), port: 80)))
  }

  @Test(arguments: [("93.184.216.34", "93.184.216.0/24"), ("[2a00:1450:1:2::6]", "2a00:1450:1:2::5/128")])
  func `a name that leads to a network of this machine is refused`(host: String, interface: String) throws {
    var policy = try policy([interface])
    policy.resolved = ["own.test:80:\(host)"]
    for link in ["http://own.test/", "http://\(host)/"] {
      let fetcher = Fetcher(try Curl.loaded(), policy)
      let error = #expect(throws: DMError.self) { try fetcher.fetch(link, accepts: "*/*") }
      #expect(error?.code == .linkRefused)
      #expect(fetcher.attempts.map(\.isAllowed) == [false])
    }
  }

  @Test func `the system says the addresses of its interfaces`() throws {
    let addresses = try #require(interfaceAddresses())
    for address in addresses {
      #expect([4, 16].contains(address.bytes.count) && 0...address.bytes.count * 8 ~= address.bits)
    }
    // Each machine of ours has a loopback interface.
    #expect(addresses.contains(InterfaceAddress([127, 0, 0, 1], bits: 8)))
  }

  @Test func `an address has 4 or 16 bytes`() {
    #expect(IPAddress([]) == nil)
    #expect(IPAddress([127, 0, 0]) == nil)
    #expect(IPAddress([UInt8](repeating: 0x20, count: 17)) == nil)
  }
}
