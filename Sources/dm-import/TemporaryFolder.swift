internal import DMKit
internal import DMSystem

/// A folder in TMPDIR, which is removed with this object.
final class TemporaryFolder {
  private let work: WorkFolder
  /// A shell that removes the folder after this process ends, even if this process was killed.
  private let remover: Child
  private let leash: StopSignal

  var path: String { work.path }

  /// - Parameter content: what the folder is for, for the error.
  /// - Throws: `cannot_create`.
  init(_ content: String) throws {
    let folder = try environment("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    work = try WorkFolder(.restore, in: folder)
    leash = StopSignal()
    let script = "trap '' HUP INT TERM PIPE; exec >/dev/null 2>&1; cat; rm -rf \"$1\""
    do {
      remover = try Child(["sh", "-c", script, "sh", work.path], input: leash.descriptor)
    } catch {
      throw DMError(.cannotCreate, "cannot start sh(1), which removes \(content) at the end")
    }
  }
}
