import Foundation
import Glibc
import Synchronization
import Testing

@testable import DMPreview

/// A server of this machine that answers each request as a test says, and counts its connections.
final class PageServer: Sendable {
  /// What the server does for a request.
  enum Answer: Sendable {
    /// A whole answer: status and headers, an empty line, and the body.
    case bytes([UInt8])
    /// The bytes, again and again, until the client leaves.
    case endless(start: [UInt8], [UInt8])
    /// The first bytes, and then nothing.
    case silent([UInt8])
  }

  let port: UInt16
  private let listener: Int32
  private let answer: @Sendable (String) -> Answer
  private let count = Atomic(0)
  private let sent = Atomic(0)

  /// How many connections were accepted.
  var connections: Int { count.load(ordering: .acquiring) }
  /// How many bytes endless answers have sent.
  var sentBytes: Int { sent.load(ordering: .acquiring) }
  /// The endpoint at which this machine reaches the server.
  var endpoint: Endpoint {
    get throws { Endpoint(address: try #require(IPAddress([127, 0, 0, 1])), port: port) }
  }

  /// - Parameter answer: gets the path of a request.
  init(_ answer: @escaping @Sendable (String) -> Answer) throws {
    self.answer = answer
    // On all addresses of this machine, of IPv6 too, so that a trick reaches it by whichever it can.
    listener = socket(AF_INET6, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var off: Int32 = 0
    setsockopt(listener, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &off, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let (listener, size) = (listener, length)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    port = UInt16(bigEndian: address.sin6_port)
    try #require(isBound)
    Thread.detachNewThread { [weak self] in
      while case let client = accept(listener, nil, nil), client >= 0 {
        self?.count.add(1, ordering: .releasing)
        Thread.detachNewThread { [weak self] in
          self?.serve(client)
          close(client)
        }
      }
      close(listener)
    }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  private func serve(_ client: Int32) {
    var request: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while request.suffix(4) != Array("\r\n\r\n".utf8) {
      let received = read(client, &buffer, buffer.count)
      guard received > 0 else { return }
      request += buffer[..<received]
    }
    let words = String(decoding: request, as: UTF8.self).split(separator: " ", maxSplits: 2)
    switch answer(words.count > 1 ? String(words[1]) : "") {
    case .bytes(let bytes): _ = write(bytes, to: client)
    case .endless(let start, let bytes):
      guard write(start, to: client) else { return }
      while write(bytes, to: client) { sent.add(bytes.count, ordering: .releasing) }
    case .silent(let bytes):
      _ = write(bytes, to: client)
      // Until the client leaves.
      _ = read(client, &buffer, buffer.count)
    }
  }

  private func write(_ bytes: [UInt8], to client: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard written > 0 else { return false }
      rest = rest.dropFirst(written)
    }
    return true
  }
}

extension PageServer.Answer {
  /// A page, as UTF-8 unless the header or the bytes say another encoding.
  static func page(_ html: String, _ headers: String...) -> Self { page(Array(html.utf8), headers) }

  static func page(
    _ bytes: [UInt8], _ headers: [String] = [], type: String = "text/html", status: String = "200 OK"
  ) -> Self {
    let head = ["HTTP/1.1 \(status)", "Content-Type: \(type)", "Content-Length: \(bytes.count)", "Connection: close"]
    return .bytes(Array((head + headers).map { $0 + "\r\n" }.joined().utf8) + Array("\r\n".utf8) + bytes)
  }

  static func redirect(_ target: String, status: String = "302 Found") -> Self {
    .bytes(Array("HTTP/1.1 \(status)\r\nLocation: \(target)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8))
  }
}

extension FetchPolicy {
  /// A policy that allows one server of the test, as `page.test` and as 127.0.0.1.
  init(allowing server: PageServer) throws {
    self.init()
    ports.insert(Int(server.port))
    exceptions = [try server.endpoint]
    resolved = ["page.test:\(server.port):127.0.0.1"]
  }
}
