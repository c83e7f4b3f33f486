package import DMModel
internal import Glibc

/// A variable of the environment; an empty one counts as absent.
///
/// - Throws: `invalid_utf8`, because a repaired path would be another path.
package func environment(_ name: String) throws(DMError) -> String? {
  guard let value = getenv(name), value.pointee != 0 else { return nil }
  guard let text = String(validatingCString: value) else {
    throw DMError(.invalidUTF8, "the variable '\(name)' is not UTF-8; set it again", subject: name)
  }
  return text
}

/// The account that runs this process: getpwuid(3).
package enum Account {
  /// The login name; the number of the account if it has no name.
  package static var name: String {
    getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? String(geteuid())
  }

  /// The path of the home folder; nil if there is none.
  package static var home: String? { getpwuid(geteuid()).map { String(cString: $0.pointee.pw_dir) } }
}

/// Lets only the owner access the files that this process will create: umask(2).
package func protectNewFiles() { umask(0o077) }

/// Ends this process.
package func endProcess(_ status: Int32) -> Never { exit(status) }
