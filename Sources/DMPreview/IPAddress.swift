/// An internet address, and whether a page may be fetched from it.
package struct IPAddress: Hashable, Sendable {
  /// Four bytes for IPv4, sixteen for IPv6.
  package let bytes: [UInt8]

  /// - Returns: nil unless there are four or sixteen bytes.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  /// Whether the address is a public one of a single machine.
  ///
  /// Of IPv6, only the global addresses are public (RFC 4291, section 2.4), and of these not the ranges in the table.
  /// So addresses that contain one of IPv4 (mapped, compatible, translated, 6to4, Teredo) are never public.
  package var isPublic: Bool {
    if bytes.count == 4 { return !Self.refused4.contains { $0.contains(self) } }
    return Self.global6.contains(self) && !Self.refused6.contains { $0.contains(self) }
  }

  /// A range of addresses: those whose first bits are those of a prefix.
  struct Range: Hashable, Sendable {
    /// As many bytes as the bits need, or more.
    let prefix: [UInt8]
    let bits: Int

    fileprivate init(_ prefix: UInt8..., bits: Int) { (self.prefix, self.bits) = (prefix, bits) }

    /// The network of an interface that has this address.
    ///
    /// A network of IPv6 has at most 64 bits (RFC 4291, section 2.5.1), also if DHCP has given the interface an address
    /// alone, with 128.
    init(of address: IPAddress, bits: Int) {
      prefix = address.bytes
      self.bits = address.bytes.count == 4 ? bits : min(bits, 64)
    }

    /// - Parameter address: an address of the version of the prefix.
    func contains(_ address: IPAddress) -> Bool {
      let (bytes, whole) = (address.bytes, bits / 8)
      guard bytes[..<whole].elementsEqual(prefix[..<whole]) else { return false }
      let rest = bits % 8
      return rest == 0 || (bytes[whole] ^ prefix[whole]) >> UInt8(8 - rest) == 0
    }
  }

  /// From the IANA IPv4 Special-Purpose Address Registry, with multicast and the address of a cloud.
  private static let refused4 = [
    Range(0, bits: 8),  // this network, and 'unspecified'
    Range(10, bits: 8),  // private
    Range(100, 64, bits: 10),  // between a provider and its customers; metadata of Alibaba Cloud
    Range(127, bits: 8),  // loopback
    Range(168, 63, 129, 16, bits: 32),  // metadata of Azure
    Range(169, 254, bits: 16),  // link-local; metadata of most clouds
    Range(172, 16, bits: 12),  // private
    Range(192, 0, 0, bits: 24),  // protocol assignments; metadata of Oracle Cloud
    Range(192, 0, 2, bits: 24),  // documentation
    Range(192, 88, 99, bits: 24),  // relays of 6to4
    Range(192, 168, bits: 16),  // private
    Range(198, 18, bits: 15),  // benchmarks
    Range(198, 51, 100, bits: 24),  // documentation
    Range(203, 0, 113, bits: 24),  // documentation
    Range(224, bits: 4),  // multicast
    Range(240, bits: 4),  // reserved, and broadcast
  ]

  private static let global6 = Range(0x20, bits: 3)

  /// From the IANA IPv6 Special-Purpose Address Registry: the ranges within the global addresses.
  private static let refused6 = [
    Range(0x20, 0x01, 0x00, bits: 23),  // protocol assignments: Teredo, benchmarks, ORCHID
    Range(0x20, 0x01, 0x0D, 0xB8, bits: 32),  // documentation
    Range(0x20, 0x02, bits: 16),  // 6to4
    Range(0x3F, 0xFE, bits: 16),  // 6bone, given back
    Range(0x3F, 0xFF, 0x00, bits: 20),  // documentation
  ]
}
