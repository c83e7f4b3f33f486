internal import CCurl
internal import DMModel

/// The functions of libcurl.
// NB: they are pointers into a library that stays loaded, and are never written to.
struct Curl: @unchecked Sendable {
  let functions: UnsafePointer<CurlFunctions>

  /// The functions of the system's libcurl, which is loaded once.
  ///
  /// - Throws: `link_failed` if libcurl is not installed.
  static func loaded() throws(DMError) -> Curl {
    guard let shared else {
      throw DMError(
        .linkFailed, "cannot fetch a page without 'libcurl.so.4', 7.87 or newer; on Debian, install libcurl4")
    }
    return shared
  }

  private static let shared: Curl? = {
    let functions = UnsafeMutablePointer<CurlFunctions>.allocate(capacity: 1)
    if dm_load_curl(functions) == 1 { return Curl(functions: functions) }
    functions.deallocate()
    return nil
  }()

  /// A text that libcurl has allocated.
  func taken(_ text: UnsafeMutablePointer<CChar>?) -> String? {
    guard let text else { return nil }
    defer { functions.pointee.curl_free(text) }
    return String(validatingCString: text)
  }
}

/// A request of libcurl.
///
/// An option that this libcurl does not have is an error, so that no limit is missing silently.
struct Request: ~Copyable {
  let curl: Curl
  let handle: UnsafeMutableRawPointer

  /// - Throws: `internal` without memory.
  init(_ curl: Curl) throws(DMError) {
    guard let handle = curl.functions.pointee.curl_easy_init() else {
      throw DMError(.internal, "cannot make a request; there is not enough memory")
    }
    (self.curl, self.handle) = (curl, handle)
  }

  deinit { curl.functions.pointee.curl_easy_cleanup(handle) }

  func set(_ option: CURLoption, _ value: Int) throws(DMError) {
    try check(dm_curl_set(curl.functions, handle, option, value))
  }

  func set(_ option: CURLoption, _ value: String) throws(DMError) {
    try check(dm_curl_set_text(curl.functions, handle, option, value))
  }

  func set(_ option: CURLoption, _ value: UnsafeRawPointer) throws(DMError) {
    try check(dm_curl_set_pointer(curl.functions, handle, option, value))
  }

  func set(_ option: CURLoption, _ function: @escaping dm_curl_write) throws(DMError) {
    try check(dm_curl_set_write(curl.functions, handle, option, function))
  }

  func set(opening function: @escaping dm_curl_open) throws(DMError) {
    try check(dm_curl_set_open(curl.functions, handle, function))
  }

  func number(_ info: CURLINFO) -> Int { dm_curl_number(curl.functions, handle, info) }

  func text(_ info: CURLINFO) -> String? {
    dm_curl_text(curl.functions, handle, info).flatMap { String(validatingCString: $0) }
  }

  func perform() -> CURLcode { curl.functions.pointee.curl_easy_perform(handle) }

  private func check(_ code: CURLcode) throws(DMError) {
    guard code == CURLE_OK else {
      throw DMError(.linkFailed, "cannot fetch a page with this libcurl; install 7.87 or newer")
    }
  }
}
