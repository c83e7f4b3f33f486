internal import Glibc

/// An internet address of an interface of this machine, and the number of bits of its network's prefix.
package struct InterfaceAddress: Equatable, Sendable {
  /// Four bytes for IPv4, sixteen for IPv6.
  package let bytes: [UInt8]
  package let bits: Int

  package init(_ bytes: [UInt8], bits: Int) { (self.bytes, self.bits) = (bytes, bits) }
}

/// The internet addresses of the interfaces of this machine; nil if the system does not say them.
package func interfaceAddresses() -> [InterfaceAddress]? {
  var first: UnsafeMutablePointer<ifaddrs>?
  guard getifaddrs(&first) == 0 else { return nil }
  defer { freeifaddrs(first) }
  var addresses: [InterfaceAddress] = []
  var next = first
  while let interface = next?.pointee {
    next = interface.ifa_next
    guard let bytes = addressBytes(interface.ifa_addr) else { continue }
    // Without a mask, the network is the address alone.
    let mask = addressBytes(interface.ifa_netmask) ?? bytes.map { _ in 0xFF }
    let bits = mask.firstIndex { $0 != 0xFF }.map { $0 * 8 + (~mask[$0]).leadingZeroBitCount } ?? mask.count * 8
    addresses.append(InterfaceAddress(bytes, bits: bits))
  }
  return addresses
}

/// The bytes of an internet address; nil for an address of another kind.
private func addressBytes(_ address: UnsafeMutablePointer<sockaddr>?) -> [UInt8]? {
  guard let address else { return nil }
  let raw = UnsafeRawPointer(address)
  switch Int32(address.pointee.sa_family) {
  case AF_INET: return withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in.self).sin_addr, Array.init)
  case AF_INET6: return withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr, Array.init)
  default: return nil
  }
}
