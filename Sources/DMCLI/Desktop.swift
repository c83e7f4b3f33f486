internal import DMKit
internal import DMSystem
internal import Glibc

/// A new folder for temporary files, which only its owner can read.
package func temporaryFolder() throws -> String {
  try temporaryName(
    in: environment("XDG_RUNTIME_DIR") ?? environment("TMPDIR") ?? "/tmp", "dm-", isFolder: true)
}

/// Opens a file with the desktop's program for it (xdg-open(1)).
///
/// - Parameter path: the only file in a temporary folder; both are removed when there is no xdg-open.
/// - Throws: `usage` when there is no xdg-open, `io_error` when it fails.
package func openByDesktop(_ path: String) throws {
  let status: Int32
  do {
    status = try Child(["xdg-open", path]).wait()
  } catch {
    unlink(path)
    rmdir(folder(of: path))
    throw usage("there is no xdg-open; install xdg-utils, or save it with -o")
  }
  guard status == 0 else {
    throw DMError(.inputOutput, "xdg-open could not open '\(path)'; the file is still there", subject: path)
  }
}
