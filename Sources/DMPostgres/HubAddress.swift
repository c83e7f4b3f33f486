internal import DMModel

/// The address of a hub: one host or several, and their ports.
///
/// The text form is `HOST`, `HOST:PORT` or `[IPV6]:PORT`. Several hosts are separated by commas; after them come one
/// port for all hosts, or as many ports as hosts, as in `A,B:5432,5433`.
package struct HubAddress: Equatable, Sendable, CustomStringConvertible {
  package let host: String
  package let port: String?

  init(host: String, port: String?) {
    self.host = host
    self.port = port
  }

  /// - Throws: `bad_field` for a text that is not an address.
  package init(_ text: String) throws {
    (host, port) = Self.parts(of: text)
    let ports = port?.split(separator: ",", omittingEmptySubsequences: false) ?? []
    let hosts = host.split(separator: ",", omittingEmptySubsequences: false)
    let arePorts = ports.allSatisfy { Int($0).map { 1...65_535 ~= $0 } ?? false }
    let areHosts = hosts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "=") } }
    // Only a single host may contain colons, as an IPv6 address, because the ports of several hosts come after the last
    // host.
    let isPlain = !host.contains(":") || hosts.count == 1 && host.utf8.allSatisfy { $0 == 0x25 || isAddressByte($0) }
    let isClosed = !text.hasPrefix("[") || text.hasSuffix("]") || text.contains(text: "]:")
    guard areHosts, arePorts, isPlain, isClosed, ports.count <= 1 || ports.count == hosts.count, !text.hasSuffix(":")
    else {
      throw DMError(
        .badField, "'\(text)' is not an address; write HOST or HOST:PORT, with a port from 1 to 65535", subject: text)
    }
  }

  /// The port of the address, or PostgreSQL's default port if the address has none.
  var portOrDefault: String { port ?? "5432" }

  /// The same address, always with a port.
  var withPort: HubAddress { HubAddress(host: host, port: portOrDefault) }

  package var description: String {
    guard let port else { return host }
    return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  private static func parts(of text: String) -> (host: String, port: String?) {
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      let rest = text[text.index(after: end)...]
      return (String(text[text.index(after: text.startIndex)..<end]), rest.isEmpty ? nil : String(rest.dropFirst()))
    }
    // A text with several colons is an IPv6 address without a port.
    let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    return parts.count == 2 ? (String(parts[0]), String(parts[1])) : (text, nil)
  }
}

/// Whether a byte may be in an IPv6 address (RFC 4291, section 2.2).
private func isAddressByte(_ byte: UInt8) -> Bool {
  byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".") || (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte)
    || (0x61...0x66).contains(byte)
}
