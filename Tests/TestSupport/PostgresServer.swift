import Foundation
import Glibc
import Synchronization

/// A PostgreSQL server for the tests of this process; the server ends with the process.
///
/// The server runs as an ordinary user, in a folder of its own, which is in memory if possible. The server does not
/// sync its files, because a sync is needed only if the machine crashes, not if the server is killed.
final class PostgresServer: Sendable {
  /// The server that all tests share; each test has a database of its own.
  static let shared = Result { try PostgresServer() }

  let folder: String
  let port: UInt16
  /// The folder of the server's programs.
  let binaries: String
  private let number = Atomic<Int>(0)
  /// The databases that are no longer needed.
  private let dropped = Mutex<[String]>([])
  /// A pipe to the script that runs the server; closing the pipe ends the server, and each line restarts it.
  private let leash: Int32
  /// Gets a line each time that the server has started.
  private let output = Pipe()

  struct Failed: Error, CustomStringConvertible { let description: String }

  /// - Parameters:
  ///   - version: a major version, which is installed from PyPI; nil for the version of the system.
  ///   - primary: the server whose standby the new server is; nil for a server that is not a standby.
  ///   - prepare: called with the server's folder before the server starts; returns lines of the server's
  ///     configuration.
  init(
    version: Int? = nil, standbyOf primary: PostgresServer? = nil,
    _ prepare: (_ folder: String) throws -> [String] = { _ in [] }
  ) throws {
    let isRoot = geteuid() == 0
    let parent = Self.hasRoom("/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
    let folder = "\(parent)/dm-pg-\(UInt32.random(in: 0 ... .max))"
    self.folder = folder
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let settings = try prepare(folder)
    let programs = try version.map(Self.downloaded) ?? Self.installed()
    // Downloaded programs are copied, because the server's account may have no access to the folder of the project.
    binaries = version == nil ? programs : "\(folder)/programs/bin"
    if version != nil {
      try FileManager.default.copyItem(atPath: programs, toPath: "\(folder)/programs")
    }
    if isRoot, let user = getpwnam("postgres") {
      let files = (FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []).map {
        "\(folder)/\($0)"
      }
      for path in [folder] + files { chown(path, user.pointee.pw_uid, user.pointee.pw_gid) }
    }
    port = try Self.freePort()
    let filling =
      primary.map { "pg_basebackup -h '\($0.folder)' -p \($0.port) -U postgres -D data -R -c fast" }
      ?? "fill"
    let script = """
      set -e
      cd "$1"
      PATH=$2:$PATH version=$3
      new() {
        initdb -D "$1" -U postgres -A trust --no-sync -E UTF8 --locale=C
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
          -keyout "$1/server.key" -out "$1/server.crt"
      }
      # The processes of a run share a folder, and one that was filled there is copied in a tenth of the time.
      fill() {
        kept=${DM_TESTS_SHARED:+$DM_TESTS_SHARED/postgres$version}
        [ "$kept" ] || { new data; return; }
        # Of those that fill it at the same time, one puts its own in place.
        [ -d "$kept" ] || { new "$kept.$$"; mv -T "$kept.$$" "$kept" || rm -r "$kept.$$"; }
        cp -a "$kept" data
      }
      \(filling) >filling.log 2>&1
      printf '%s\\n' 'local all,replication postgres trust' 'local all all scram-sha-256' 'host all all 127.0.0.1/32 scram-sha-256' \
        >data/pg_hba.conf
      cat >>data/postgresql.conf
      pg_ctl -D data -w -t 60 -l log start >/dev/null 3<&-
      echo ready
      # This process holds the other end as long as the tests run.
      while read line <&3; do
        pg_ctl -D data -m immediate stop >/dev/null
        # It does not start before the last of its processes has ended.
        for try in $(seq 100); do pg_ctl -D data -w -l log start >/dev/null 3<&- && break; done
        pg_ctl -D data status >/dev/null
        echo ready
      done
      pg_ctl -D data -m immediate stop >/dev/null 2>&1 || :
      rm -rf "$1"/* "$1"/.s.*; rmdir "$1" 2>/dev/null || :
      """
    let configuration =
      [
        "listen_addresses='127.0.0.1'", "ssl=on", "port=\(port)", "unix_socket_directories='\(folder)'", "fsync=off",
        "max_connections=200", "password_encryption=scram-sha-256", "max_wal_size=64MB",
      ] + settings
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0, fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0, fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0 else {
      throw Failed(description: "no pipe")
    }
    leash = ends[1]
    let process = Process()
    let words = ["sh", "-c", script, "sh", folder, binaries, version.map(String.init) ?? ""]
    let whole = isRoot ? ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] + words : words
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["sh", "-c", "exec 3<&0; exec \"$@\" <\"$0\"", "\(folder)/conf"] + whole
    try configuration.map { $0 + "\n" }.joined().write(toFile: "\(folder)/conf", atomically: false, encoding: .utf8)
    process.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    process.standardOutput = output
    try process.run()
    try awaitReadiness()
  }

  deinit { close(leash) }

  /// Ends the server without a warning, as a crash does, and starts it again.
  func restart() throws {
    guard write(leash, "restart\n", 8) == 8 else { throw Failed(description: "the server has no keeper") }
    try awaitReadiness()
  }

  private func awaitReadiness() throws {
    guard let line = try output.fileHandleForReading.read(upToCount: 6), line == Data("ready\n".utf8) else {
      throw Failed(description: "PostgreSQL does not start; \(folder) has its logs")
    }
  }

  /// Whether a folder can be written to, and has a gigabyte left.
  private static func hasRoom(_ folder: String) -> Bool {
    guard FileManager.default.isWritableFile(atPath: folder),
      case .success(let space) = Result(catching: { try FileManager.default.attributesOfFileSystem(forPath: folder) })
    else { return false }
    return (space[.systemFreeSize] as? NSNumber)?.int64Value ?? 0 > 1 << 30
  }

  private static func downloaded(_ version: Int) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [repository + "/Tests/postgres/servers", "\(version)"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failed(description: "PostgreSQL \(version) cannot be installed") }
    return String(text.dropLast())
  }

  private static func installed() throws -> String {
    let root = "/usr/lib/postgresql"
    let versions = try FileManager.default.contentsOfDirectory(atPath: root).compactMap(Int.init).filter {
      FileManager.default.isExecutableFile(atPath: "\(root)/\($0)/bin/initdb")
    }
    guard let newest = versions.max() else {
      throw Failed(description: "there is no server of PostgreSQL; install the package 'postgresql'")
    }
    return "\(root)/\(newest)/bin"
  }

  static func freePort() throws -> UInt16 {
    let (socket, port) = try boundSocket()
    close(socket)
    return port
  }

  /// A socket at a free port of this machine.
  static func boundSocket() throws -> (socket: Int32, port: UInt16) {
    var port: UInt16 = 0
    let socket = try socket(at: 0) { socket, address, length in
      var (bound, length) = (sockaddr_in(), length)
      let isBound = withUnsafeMutablePointer(to: &bound) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(socket, address, length) == 0 && getsockname(socket, $0, &length) == 0
        }
      }
      port = UInt16(bigEndian: bound.sin_port)
      return isBound
    }
    return (socket, port)
  }

  /// A socket that is connected to a port of this machine.
  static func connectedSocket(to port: UInt16) throws -> Int32 {
    try socket(at: port) { connect($0, $1, $2) == 0 }
  }

  private static func socket(
    at port: UInt16, _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Bool
  ) throws -> Int32 {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let isUsable = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        use(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard isUsable else {
      close(socket)
      throw Failed(description: "port \(port) cannot be used")
    }
    return socket
  }

  /// Makes a database, and returns the connection string of its administrator.
  ///
  /// - Parameter original: the connection string of the database to copy; nil for an empty database.
  func database(copyOf original: String? = nil) throws -> String {
    let name = "hub\(number.add(1, ordering: .relaxed).newValue)"
    var statements = dropped.withLock { names in
      defer { names = [] }
      return names.map { "DROP DATABASE \($0)" }
    }
    if let original {
      statements += [
        "CREATE DATABASE \(name) TEMPLATE \(Self.name(of: original))", "GRANT CONNECT ON DATABASE \(name) TO dm_member",
      ]
    } else {
      statements.append("CREATE DATABASE \(name)")
    }
    try psql("postgres", statements)
    return administrator(of: name)
  }

  /// Removes a database without connections when the next database is made, so that one run of psql(1) does both.
  func drop(_ administrator: String) {
    dropped.withLock { $0.append(String(Self.name(of: administrator))) }
  }

  /// The name of the database in a connection string.
  static func name(of administrator: String) -> Substring {
    administrator.firstRange(of: "dbname=").map { administrator[$0.upperBound...] } ?? ""
  }

  func administrator(of database: String) -> String {
    "host=\(folder) port=\(port) user=postgres dbname=\(database)"
  }

  /// Runs SQL as the administrator, and returns the rows as lines.
  @discardableResult
  func psql(_ database: String, _ sql: String) throws -> String { try psql(database, [sql]) }

  /// Runs statements in one process, each in a transaction of its own.
  @discardableResult
  private func psql(_ database: String, _ statements: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    let connection = database.contains("=") ? database : administrator(of: database)
    // On Debian, the psql in the PATH is a script that looks for the server's version.
    process.arguments =
      ["\(binaries)/psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-d", connection]
      + statements.flatMap { ["-c", $0] }
    let (output, errors) = (Pipe(), Pipe())
    (process.standardOutput, process.standardError) = (output, errors)
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    let message = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failed(description: "psql: \(message)") }
    return text
  }
}
