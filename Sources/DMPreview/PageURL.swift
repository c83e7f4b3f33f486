internal import CCurl
internal import DMModel

/// The URL of a page or an image, as libcurl understands it, and checked by the rules of a `FetchPolicy`.
struct PageURL: ~Copyable {
  private let curl: Curl
  /// The `CURLU` handle, with which the request is made: it is parsed once, so no other parser can disagree.
  let handle: OpaquePointer
  let host: String

  /// - Parameter base: the URL to which the text is relative.
  /// - Throws: `link_refused` for another scheme, another port, user information, or a host that is not plain ASCII.
  init(_ text: String, relativeTo base: String? = nil, _ curl: Curl, _ policy: FetchPolicy) throws(DMError) {
    guard let handle = curl.functions.pointee.curl_url() else {
      throw DMError(.internal, "cannot read a URL; there is not enough memory")
    }
    do throws(DMError) {
      if let base { _ = try Self.host(of: base, handle, curl, policy) }
      host = try Self.host(of: text, handle, curl, policy)
    } catch {
      curl.functions.pointee.curl_url_cleanup(handle)
      throw error
    }
    (self.curl, self.handle) = (curl, handle)
  }

  deinit { curl.functions.pointee.curl_url_cleanup(handle) }

  private static func host(
    of text: String, _ handle: OpaquePointer, _ curl: Curl, _ policy: FetchPolicy
  ) throws(DMError) -> String {
    guard text.utf8.count <= LinkPreview.urlLimit, let encoded = encoded(text) else {
      throw DMError(.linkRefused, "the link is not a URL")
    }
    let code = curl.functions.pointee.curl_url_set(handle, CURLUPART_URL, encoded, UInt32(CURLU_DISALLOW_USER))
    guard code == CURLUE_OK else {
      throw DMError(
        .linkRefused,
        code == CURLUE_USER_NOT_ALLOWED ? "a link with a name or password is not fetched" : "the link is not a URL")
    }
    func part(_ part: CURLUPart, _ flags: Int32 = 0) -> String? {
      var text: UnsafeMutablePointer<CChar>?
      guard curl.functions.pointee.curl_url_get(handle, part, &text, UInt32(flags)) == CURLUE_OK else { return nil }
      return curl.taken(text)
    }
    guard let scheme = part(CURLUPART_SCHEME), scheme == "http" || scheme == "https" else {
      throw DMError(.linkRefused, "only links with http and https are fetched")
    }
    guard part(CURLUPART_USER) == nil, part(CURLUPART_PASSWORD) == nil else {
      throw DMError(.linkRefused, "a link with a name or password is not fetched")
    }
    guard let host = part(CURLUPART_HOST), isPlain(host), part(CURLUPART_ZONEID) == nil else {
      throw DMError(.linkRefused, "the host of the link is not a plain name; write it in ASCII, such as xn--…")
    }
    guard let port = part(CURLUPART_PORT, CURLU_DEFAULT_PORT).flatMap({ Int($0) }), policy.ports.contains(port) else {
      throw DMError(.linkRefused, "'\(host)' has a port that is not 80 or 443; links to other ports are not fetched")
    }
    return host
  }

  /// The URL with the bytes that are not ASCII written with `%`; nil if it has a control character or a space.
  private static func encoded(_ text: String) -> String? {
    var result = ""
    for byte in text.utf8 {
      switch byte {
      case 0...0x20, 0x7F: return nil
      case 0x80...: result += "%" + hexadecimal([byte])
      default: result.unicodeScalars.append(Unicode.Scalar(byte))
      }
    }
    return result
  }

  /// Whether a host is a name of letters, digits, `-`, `_` and `.`, or an address of IPv6 in brackets.
  private static func isPlain(_ host: String) -> Bool {
    func isAllowed(_ byte: UInt8, _ others: StaticString) -> Bool {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      default: others.withUTF8Buffer { $0.contains(byte) }
      }
    }
    let bytes = Array(host.utf8)
    if bytes.first == UInt8(ascii: "[") {
      return bytes.last == UInt8(ascii: "]") && bytes.dropFirst().dropLast().allSatisfy { isAllowed($0, ":.") }
    }
    return !bytes.isEmpty && bytes.count <= 253 && bytes.allSatisfy { isAllowed($0, "-_.") }
  }
}
