import Foundation
import Synchronization

@testable import TestSupport

/// A proxy between stores and the server of their hub, which can stop connections after a number of bytes.
final class CuttingProxy: Sendable {
  /// How a connection is stopped: it is closed, it is closed after random bytes, or it stays open and transfers nothing more.
  enum End: CaseIterable { case cut, garbage, silent }
  enum Way: CaseIterable { case toHub, fromHub }

  struct Stop {
    let bytes: Int
    let way: Way
    let end: End
  }

  private struct State {
    /// When each new connection is stopped; nil for never.
    var stop: Stop?
    /// The delay of each transfer in new connections, in milliseconds.
    var delay: Int32 = 0
    /// The bytes that all connections have transferred since `pass`.
    var carried: [Way: Int] = [:]
    /// Connections of earlier generations are silent.
    var generation = 0
    /// The sockets of silent connections, which the proxy closes when it ends.
    var silent: [Int32] = []
  }

  let port: UInt16
  private let listener: Int32
  private let server: UInt16
  private let state = Mutex(State())

  init(to server: PostgresServer) throws {
    self.server = server.port
    (listener, port) = try PostgresServer.boundSocket()
    guard listen(listener, 16) == 0 else { throw SpawnError(description: "nobody can listen at port \(port)") }
    let listener = listener
    Thread.detachNewThread { [weak self] in
      while case let client = accept(listener, nil, nil), client >= 0 { self?.connect(client) }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
    state.withLock { for socket in $0.silent { close(socket) } }
  }

  /// Lets new connections transfer everything, and counts the bytes from 0.
  func pass() { state.withLock { ($0.stop, $0.delay, $0.carried) = (nil, 0, [:]) } }

  /// Delays each transfer in new connections.
  func slow(milliseconds: Int) { state.withLock { ($0.stop, $0.delay) = (nil, Int32(milliseconds)) } }

  /// Stops each new connection after a number of bytes in one direction.
  func stop(_ stop: Stop) { state.withLock { $0.stop = stop } }

  /// Makes the existing connections silent.
  func silence() { state.withLock { $0.generation += 1 } }

  /// The bytes that were transferred in one direction since `pass`.
  func carried(_ way: Way) -> Int { state.withLock { $0.carried[way] ?? 0 } }

  private func connect(_ client: Int32) {
    guard case .success(let hub) = Result(catching: { try PostgresServer.connectedSocket(to: server) }) else {
      close(client)
      return
    }
    let (stop, delay, generation) = state.withLock { ($0.stop, $0.delay, $0.generation) }
    Thread.detachNewThread { [weak self] in
      var left = stop?.bytes ?? .max
      while let self {
        var awaited = [client, hub].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard poll(&awaited, 2, -1) > 0 else { break }
        let way = awaited[0].revents != 0 ? Way.toHub : .fromHub
        let (source, target) = way == .toHub ? (client, hub) : (hub, client)
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(source, &bytes, bytes.count)
        if delay > 0 { poll(nil, 0, delay) }
        let isSilent = state.withLock { $0.generation != generation }
        let passing = stop?.way == way ? min(count, left) : count
        if isSilent || passing < count && stop?.end == .silent {
          if !isSilent { _ = write(target, bytes, passing) }
          state.withLock { $0.silent += [client, hub] }
          return
        }
        guard count > 0, write(target, bytes, passing) == passing else { break }
        if stop?.way == way { left -= passing }
        state.withLock { $0.carried[way, default: 0] += passing }
        if passing < count {
          let noise = (0..<64).map { _ in UInt8.random(in: 0...255) }
          if stop?.end == .garbage { _ = write(target, noise, noise.count) }
          break
        }
      }
      close(client)
      close(hub)
    }
  }
}

extension ToolFixture {
  /// Makes a linked store connect to its hub at a port of this machine.
  func redirect(to port: UInt16) throws {
    try changeCredentials { name, value in
      switch name {
      case "host": "127.0.0.1"
      case "port": "\(port)"
      default: value
      }
    }
  }
}
