internal import CCurl
internal import DMModel
internal import DMSystem

/// What a server has sent.
struct Fetched: Sendable {
  /// The address of the content, after all redirects.
  let url: String
  let host: String
  /// The value of the header `Content-Type`; empty if there is none.
  let type: String
  let bytes: [UInt8]
  /// Whether the content goes on after `bytes`.
  let isCut: Bool
}

/// Fetches pages and images, as a `FetchPolicy` allows.
///
/// Nothing of the environment changes what is fetched: there is no proxy, no cookie, no cache, no name and no password. A
/// redirect is a new request, whose URL is checked as the first one was. An address is checked when its socket is made,
/// and the same bytes are then connected to; so it does not matter how the address was written, or what the name meant
/// when it was asked for before.
final class Fetcher {
  private let curl: Curl
  private let policy: FetchPolicy
  /// On the monotonic clock, in microseconds.
  private let deadline: Int64
  /// Every address that was asked for, and whether it was called, for tests.
  private(set) var attempts: [(endpoint: Endpoint, isAllowed: Bool)] = []

  init(_ curl: Curl, _ policy: FetchPolicy) {
    (self.curl, self.policy) = (curl, policy)
    deadline = monotonicMicroseconds() + Int64(policy.time / .microseconds(1))
  }

  /// Fetches what a URL leads to.
  ///
  /// - Parameters:
  ///   - base: the URL to which `text` is relative.
  ///   - accepts: the value of the header `Accept`.
  /// - Throws: `link_refused`, `link_failed`; the message names the host, but no other part of the URL.
  func fetch(_ text: String, relativeTo base: String? = nil, accepts: String) throws(DMError) -> Fetched {
    var next = text
    var base = base
    for _ in 0...policy.redirects {
      let url = try PageURL(next, relativeTo: base, curl, policy)
      switch try get(url, accepts) {
      case .content(let fetched): return fetched
      case .redirect(let target): (next, base) = (target, nil)
      }
    }
    throw DMError(.linkFailed, "the link leads to more than \(policy.redirects) redirects")
  }

  private enum Answer {
    case content(Fetched)
    case redirect(String)
  }

  private func get(_ url: borrowing PageURL, _ accepts: String) throws(DMError) -> Answer {
    let milliseconds = (deadline - monotonicMicroseconds()) / 1000
    guard milliseconds > 0 else { throw slow(url.host) }
    let request = try Request(curl)
    let transfer = Transfer(curl, policy)
    let lists = Lists(curl)
    try Self.restrict(request)
    try request.set(CURLOPT_CURLU, UnsafeRawPointer(url.handle))
    try request.set(CURLOPT_TIMEOUT_MS, Int(milliseconds))
    try request.set(CURLOPT_CONNECTTIMEOUT_MS, Int(milliseconds))
    // From 8.4 on, libcurl also ends the transfer of a body without a length there, so one byte must be left with which
    // `Transfer` finds that the body goes on.
    try request.set(CURLOPT_MAXFILESIZE, policy.size + 1)
    try lists.set(CURLOPT_HTTPHEADER, ["Accept: \(accepts)"], request)
    try lists.set(CURLOPT_RESOLVE, policy.resolved, request)
    try transfer.receive(from: request)
    let code = withExtendedLifetime((transfer, lists)) { request.perform() }
    attempts += transfer.attempts
    if !transfer.isRefused, code == CURLE_OK || transfer.isFull { return try answer(request, transfer, url.host) }
    throw failure(code, transfer, url.host)
  }

  /// Sets what is the same for all requests.
  private static func restrict(_ request: borrowing Request) throws(DMError) {
    try request.set(CURLOPT_PROTOCOLS_STR, "http,https")
    try request.set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
    try request.set(CURLOPT_FOLLOWLOCATION, 0)
    try request.set(CURLOPT_PROXY, "")
    try request.set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
    try request.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    try request.set(CURLOPT_HTTP09_ALLOWED, 0)
    try request.set(CURLOPT_SSL_VERIFYPEER, 1)
    try request.set(CURLOPT_SSL_VERIFYHOST, 2)
    try request.set(CURLOPT_FRESH_CONNECT, 1)
    try request.set(CURLOPT_FORBID_REUSE, 1)
    try request.set(CURLOPT_NOSIGNAL, 1)
    // Otherwise the end of a request would wait for the answer of a slow server of names.
    try request.set(CURLOPT_QUICK_EXIT, 1)
    try request.set(CURLOPT_ACCEPT_ENCODING, "gzip")
    try request.set(CURLOPT_USERAGENT, "Mozilla/5.0 (compatible; dm link preview)")
  }

  private func answer(
    _ request: borrowing Request, _ transfer: Transfer, _ host: String
  ) throws(DMError) -> Answer {
    let status = request.number(CURLINFO_RESPONSE_CODE)
    if (300..<400).contains(status), let target = request.text(CURLINFO_REDIRECT_URL) { return .redirect(target) }
    guard status == 200 else { throw DMError(.linkFailed, "'\(host)' answered with the status \(status)") }
    guard let url = request.text(CURLINFO_EFFECTIVE_URL) else {
      throw DMError(.linkFailed, "'\(host)' sent an answer that cannot be read")
    }
    let type = request.text(CURLINFO_CONTENT_TYPE) ?? ""
    return .content(Fetched(url: url, host: host, type: type, bytes: transfer.body, isCut: transfer.isFull))
  }

  private func failure(_ code: CURLcode, _ transfer: Transfer, _ host: String) -> DMError {
    if transfer.isRefused {
      return DMError(.linkRefused, "'\(host)' has an address that is not public, so nothing is fetched from it")
    }
    if transfer.hasLongHeader { return DMError(.linkFailed, "'\(host)' sent a header that is too long") }
    switch code {
    case CURLE_OPERATION_TIMEDOUT: return slow(host)
    case CURLE_FILESIZE_EXCEEDED: return tooLarge(host)
    case CURLE_COULDNT_RESOLVE_HOST:
      return DMError(.linkFailed, "there is no host '\(host)', or its name cannot be looked up")
    case CURLE_COULDNT_CONNECT: return DMError(.linkFailed, "cannot connect to '\(host)'")
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_ISSUER_ERROR:
      return DMError(.linkFailed, "the certificate of '\(host)' does not fit, or is not trusted")
    default: return DMError(.linkFailed, "'\(host)' sent an answer that cannot be read (libcurl \(code.rawValue))")
    }
  }

  private func slow(_ host: String) -> DMError {
    DMError(.linkFailed, "'\(host)' did not answer in time")
  }
}

/// The error for a page that is longer than is read.
func tooLarge(_ host: String) -> DMError { DMError(.linkFailed, "the page of '\(host)' is over 1 MiB") }

/// Lists of libcurl, which must exist until a request has ended.
private final class Lists {
  private let curl: Curl
  private var lists: [UnsafeMutablePointer<curl_slist>] = []

  init(_ curl: Curl) { self.curl = curl }

  deinit { for list in lists { curl.functions.pointee.curl_slist_free_all(list) } }

  func set(_ option: CURLoption, _ texts: [String], _ request: borrowing Request) throws(DMError) {
    var list: UnsafeMutablePointer<curl_slist>?
    for text in texts { list = curl.functions.pointee.curl_slist_append(list, text) ?? list }
    guard let list else { return }
    lists.append(list)
    try request.set(option, UnsafeRawPointer(list))
  }
}
