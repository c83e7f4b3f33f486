internal import CSystem
package import DMModel
internal import Glibc

/// A variable of the environment; an empty one counts as absent.
///
/// - Throws: `invalid_utf8`, because replacing the invalid bytes of a path would give another path.
package func environment(_ name: String) throws(DMError) -> String? {
  guard let value = getenv(name), value.pointee != 0 else { return nil }
  guard let text = String(validatingCString: value) else {
    throw DMError(.invalidUTF8, "the variable '\(name)' is not UTF-8; set it again", subject: name)
  }
  return text
}

/// Sets an environment variable of this process and of the programs that it starts.
///
/// Must not run while another thread reads the environment: setenv(3).
package func setEnvironment(_ name: String, _ value: String) { setenv(name, value, 1) }

/// The name by which this process was started, without folders.
package var ownName: String { dm_own_name().map { String(cString: $0) } ?? "" }

/// Lets only the owner access the files that this process will create: umask(2).
package func protectNewFiles() { umask(0o077) }

/// Whether the process is about to end, so that memory need not be freed.
package enum ProcessEnd {
  // NB: unsafe, because any thread may read it; a thread that misses the change only frees memory.
  nonisolated(unsafe) package static var isNear = false
}

/// Ends this process.
package func endProcess(_ status: Int32) -> Never { exit(status) }

/// Removes the variables whose names begin with a prefix from the environment of this process.
///
/// Must not run while another thread reads the environment: unsetenv(3).
package func forgetVariables(beginningWith prefix: String) {
  var names: [String] = []
  var entry = environ
  while let variable = entry.pointee {
    let name = String(cString: variable).prefix { $0 != "=" }
    if name.hasPrefix(prefix) { names.append(String(name)) }
    entry += 1
  }
  for name in names { unsetenv(name) }
}

/// The name of this machine (gethostname(2)); empty if it has none.
package func hostName() -> String {
  var name = [CChar](repeating: 0, count: 256)
  guard gethostname(&name, name.count - 1) == 0 else { return "" }
  return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
