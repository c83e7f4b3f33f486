internal import DMJSON
internal import DMKit
internal import DMSystem

/// The usage log: the file that `$DM_USAGE_LOG` names, to which programs append a line for each act.
///
/// A log that cannot be written never fails a program: the user is warned once.
final class UsageLog {
  private let path: String
  private let program: String
  private var hasWarned = false

  /// - Parameter warn: prints a warning.
  /// - Returns: nil if there is no usage log.
  init?(_ program: String, _ warn: (String) -> Void) {
    self.program = program
    do throws(DMError) {
      guard let path = try environment("DM_USAGE_LOG") else { return nil }
      self.path = path
    } catch {
      warn("there is no usage log: \(error.message)")
      return nil
    }
  }

  /// Appends the line of an act.
  func add(_ act: UsageAct, _ warn: (String) -> Void) {
    let status = act.extent.error.map(ExitStatus.init) ?? (act.extent.isPartial ? .someLinesFailed : .done)
    var json = JSONWriter()
    json.line(UsageRecord(act, at: .now, program: program, version: version, status: Int(status.rawValue)))
    do throws(DMError) {
      try append(json.bytes)
    } catch {
      if !hasWarned { warn("\(error.text); the usage log is incomplete") }
      hasWarned = true
    }
  }

  /// Appends a line with one write, so that lines of several processes do not mix.
  ///
  /// The file is opened for each line, so that it can be renamed, as logrotate(8) does, while a program runs.
  private func append(_ line: [UInt8]) throws(DMError) {
    let file = try OpenFile(path, for: .appending) { fileError(.inputOutput, "write the usage log", path, $0) }
    // A write to a FIFO without a reader would end the program with SIGPIPE.
    guard try file.status().kind == .regular else {
      throw DMError(.inputOutput, "the usage log '\(path)' is not a regular file")
    }
    let written: Int
    do { written = try writeSome(line[...], to: file.descriptor) } catch {
      throw fileError(.inputOutput, "write the usage log", path, error)
    }
    if written < line.count { throw DMError(.inputOutput, "the disk of the usage log '\(path)' is full") }
  }
}
