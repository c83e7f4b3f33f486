internal import DMSystem

extension StoreLocation {
  /// The location that the programs of dm use: `$DM_STORE` if it is set, else the `store` of the configuration file, else
  /// the folder `dm` in `$XDG_DATA_HOME` or in `~/.local/share`.
  ///
  /// - Parameter busyTimeout: how long a write waits for the lock of the store before it fails with `busy`.
  /// - Throws: `usage` if there is no home folder, or if the `store` of the file is wrong; `invalid_utf8` if a variable is
  ///   not UTF-8; `io_error` if the configuration file cannot be read.
  public static func standard(busyTimeout: Duration = .seconds(5)) throws -> StoreLocation {
    // The file is not read if the environment decides.
    if let path = try Settings()[.store] ?? Settings(SettingsFile.ofUser())[.store] {
      return named(path, busyTimeout: busyTimeout)
    }
    guard let location = try unnamed(busyTimeout: busyTimeout) else {
      throw DMError(.usage, "there is no home folder; set HOME or DM_STORE")
    }
    return location
  }

  /// The location of a store at a path that the user has named.
  ///
  /// Slashes at the end of the path are removed.
  package static func named(_ path: String, busyTimeout: Duration) -> StoreLocation {
    var bytes = Substring(path).utf8
    while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    return StoreLocation(directory: String(Substring(bytes)), isNamed: true, busyTimeout: busyTimeout)
  }

  /// The location of the store if the user has named no path; nil if there is no home folder.
  package static func unnamed(busyTimeout: Duration) throws(DMError) -> StoreLocation? {
    // The XDG Base Directory Specification says to ignore relative paths.
    if let data = try environment("XDG_DATA_HOME"), data.utf8.first == UInt8(ascii: "/") {
      return StoreLocation(directory: data + "/dm", isNamed: false, busyTimeout: busyTimeout)
    }
    return try homeFolder().map {
      StoreLocation(directory: $0 + "/.local/share/dm", isNamed: false, busyTimeout: busyTimeout)
    }
  }
}
