internal import DMModel
internal import DMSystem

/// What may be fetched, and how long and how much.
///
/// Programs use the default. Only the tests of this module can make another, because the members are internal: they have a
/// server on this machine.
package struct FetchPolicy: Sendable {
  /// The ports that a URL may name.
  ///
  /// Behind others are often servers of other protocols, to which the lines of a request could be commands.
  var ports: Set<Int> = [80, 443]
  /// Addresses that may be called although they are not public, each with its port.
  var exceptions: Set<Endpoint> = []
  /// The addresses of this machine's interfaces, each with the number of bits of its network; nil if they cannot be read.
  var interfaces: @Sendable () -> [InterfaceAddress]? = interfaceAddresses
  /// The addresses of hosts, in the form of CURLOPT_RESOLVE(3); empty to ask the system.
  var resolved: [String] = []
  /// How long a preview may take, with all redirects and its image.
  var time: Duration = .seconds(5)
  /// The number of bytes of a page, and of an image, after decompression.
  var size = 1 << 20
  var headerSize = 64 << 10
  var redirects = 5

  package init() {}

  /// Whether a connection to an address may be opened.
  func allows(_ endpoint: Endpoint) -> Bool {
    exceptions.contains(endpoint) || endpoint.address.isPublic && !isOwn(endpoint.address)
  }

  /// Whether an address belongs to this machine or to a network of its interfaces; true if these cannot be read.
  private func isOwn(_ address: IPAddress) -> Bool {
    guard let interfaces = interfaces() else { return true }
    return interfaces.contains { interface in
      guard let own = IPAddress(interface.bytes), own.bytes.count == address.bytes.count else { return false }
      return IPAddress.Range(of: own, bits: interface.bits).contains(address)
    }
  }
}

/// An address and a port to which a connection is opened.
struct Endpoint: Hashable, Sendable {
  let address: IPAddress
  let port: UInt16
}
