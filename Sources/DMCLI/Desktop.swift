internal import DMKit
internal import Glibc

/// A new folder for its owner alone, where temporary files go.
public func temporaryFolder() throws -> String {
  try temporaryName(
    in: environment("XDG_RUNTIME_DIR") ?? environment("TMPDIR") ?? "/tmp", "dm-", isFolder: true)
}

/// Opens a file by whatever the desktop has for it (xdg-open(1)).
///
/// - Parameter path: of the only file in a temporary folder; both are removed where there is no desktop.
/// - Throws: `usage` when there is none, `io_error` when it cannot open it.
public func openByDesktop(_ path: String) throws {
  let status: Int32
  do {
    status = try Child(["xdg-open", path]).wait()
  } catch {
    unlink(path)
    rmdir(folder(of: path))
    throw usage("there is no xdg-open; install xdg-utils, or save it with -o")
  }
  guard status == 0 else {
    throw DMError(.inputOutput, "xdg-open could not open '\(path)'; the file is there", subject: path)
  }
}
