internal import CCurl
internal import DMModel

/// What one request receives, and the addresses that it asks for.
final class Transfer {
  private let curl: Curl
  private let policy: FetchPolicy
  private(set) var body: [UInt8] = []
  private var headerSize = 0
  /// Whether the body had more bytes than the policy allows; `body` has the first of them.
  private(set) var isFull = false
  private(set) var hasLongHeader = false
  /// Whether an address was refused.
  ///
  /// Then no other address of the host is called either.
  private(set) var isRefused = false
  private(set) var attempts: [(endpoint: Endpoint, isAllowed: Bool)] = []

  init(_ curl: Curl, _ policy: FetchPolicy) { (self.curl, self.policy) = (curl, policy) }

  /// Has a request call this object, which must exist until the request has ended.
  func receive(from request: borrowing Request) throws(DMError) {
    let context = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    try request.set(CURLOPT_WRITEDATA, context)
    try request.set(CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
      Transfer.of(context)?.take(bytes, size * count) ?? 0
    }
    try request.set(CURLOPT_HEADERDATA, context)
    try request.set(CURLOPT_HEADERFUNCTION) { _, size, count, context in
      Transfer.of(context)?.takeHeader(size * count) ?? 0
    }
    try request.set(CURLOPT_OPENSOCKETDATA, context)
    try request.set(opening: { context, purpose, address in
      guard let address, purpose == CURLSOCKTYPE_IPCXN, Transfer.of(context)?.allows(address) == true else {
        return -1  // CURL_SOCKET_BAD
      }
      return dm_open_socket(address)
    })
  }

  private static func of(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }

  /// - Returns: how many bytes were taken; fewer than `count` end the request.
  private func take(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> Int {
    guard let bytes, count > 0 else { return 0 }
    let taken = min(count, policy.size - body.count)
    body += UnsafeRawBufferPointer(start: bytes, count: taken)
    if taken < count { isFull = true }
    return taken
  }

  private func takeHeader(_ count: Int) -> Int {
    headerSize += count
    hasLongHeader = headerSize > policy.headerSize
    return hasLongHeader ? 0 : count
  }

  private func allows(_ address: UnsafePointer<curl_sockaddr>) -> Bool {
    var bytes = [UInt8](repeating: 0, count: 16)
    var port: UInt16 = 0
    let count = dm_address(address, &bytes, &port)
    guard let ip = IPAddress(Array(bytes.prefix(Int(count)))) else {
      isRefused = true
      return false
    }
    let endpoint = Endpoint(address: ip, port: port)
    isRefused = isRefused || !policy.allows(endpoint)
    attempts.append((endpoint, !isRefused))
    return !isRefused
  }
}
