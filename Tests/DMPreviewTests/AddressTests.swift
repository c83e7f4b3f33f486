import Glibc
import Testing

@testable import DMPreview

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

  @Test func `an address has 4 or 16 bytes`() {
    #expect(IPAddress([]) == nil)
    #expect(IPAddress([127, 0, 0]) == nil)
    #expect(IPAddress([UInt8](repeating: 0x20, count: 17)) == nil)
  }
}
