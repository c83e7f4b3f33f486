package import Glibc

/// The account that runs this process.
package enum Account {
  package struct Entry: Equatable {
    package let name: String
    package let home: String
  }

  /// The login name; the number of the account if it has no name.
  package static var name: String { entry?.name ?? String(geteuid()) }

  /// The path of the home folder; nil if there is none.
  package static var home: String? { entry?.home }

  /// The entry is read from /etc/passwd, because a lookup by the C library asks nscd(8) and reads nsswitch.conf(5) at each start.
  private static var entry: Entry? {
    let list = "/etc/passwd"
    let size = FileStatus(list).map { min(Int($0.size), 1 << 20) } ?? 0
    if let bytes = readFile(list, limit: size), let entry = entry(of: geteuid(), in: bytes) { return entry }
    return entryOfDirectoryService
  }

  #if DM_STATIC
    /// From the environment: getpwuid(3) would load shared libraries, which a static program cannot do.
    private static var entryOfDirectoryService: Entry? {
      guard let name = getenv("LOGNAME") ?? getenv("USER"), name.pointee != 0 else { return nil }
      return Entry(name: String(cString: name), home: getenv("HOME").map { String(cString: $0) } ?? "")
    }
  #else
    private static var entryOfDirectoryService: Entry? {
      getpwuid(geteuid()).map {
        Entry(name: String(cString: $0.pointee.pw_name), home: String(cString: $0.pointee.pw_dir))
      }
    }
  #endif

  /// The entry of an account in a file in the format of passwd(5); nil if there is none.
  package static func entry(of account: uid_t, in bytes: [UInt8]) -> Entry? {
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let fields = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      guard fields.count >= 7, String(decoding: fields[2], as: UTF8.self) == String(account) else { continue }
      return Entry(name: String(decoding: fields[0], as: UTF8.self), home: String(decoding: fields[5], as: UTF8.self))
    }
    return nil
  }
}
