internal import DMKit
internal import DMSystem

/// Makes a folder that only its owner can access, for temporary files, and returns the path of the folder.
package func temporaryFolder() throws -> String {
  try temporaryName(
    in: environment("XDG_RUNTIME_DIR") ?? environment("TMPDIR") ?? "/tmp", "dm-", isFolder: true)
}

/// Opens a file with the desktop's program for this kind of file (xdg-open(1)).
///
/// - Parameter path: the only file in a temporary folder; the file and the folder are removed if xdg-open cannot
///   be started.
/// - Throws: `usage` if xdg-open cannot be started, `io_error` if it fails.
package func openByDesktop(_ path: String) throws {
  let ending: Child.Ending
  do {
    ending = try Child(["xdg-open", path]).wait()
  } catch {
    removeFile(path)
    removeEmptyFolder(folder(of: path))
    throw usage("there is no xdg-open; install xdg-utils, or save it with -o")
  }
  guard ending.isSuccess else {
    throw DMError(.inputOutput, "xdg-open could not open '\(path)'; the file is still there", subject: path)
  }
}
