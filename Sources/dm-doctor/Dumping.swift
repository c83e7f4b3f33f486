internal import DMCLI
internal import DMKit

extension DMDoctor {
  static func dump(_ call: Invocation, _ upkeep: Upkeep, _ done: () -> Void) throws {
    let dump = try upkeep.dump(orElse: environment("TMPDIR"))
    done()
    if let folder = dump.spareFolder {
      complain(command.name, "cannot write to the folder of the store; the lines wait in '\(folder)'")
    }
    try dump.forEach { try call.output.write(lines: $0) }
  }
}
