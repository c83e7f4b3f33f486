internal import DMCLI
internal import DMKit

extension DMDoctor {
  static func check(_ call: Invocation, _ upkeep: Upkeep, _ done: () -> Void) throws {
    let result = try upkeep.check(deep: call.arguments.has("deep"))
    done()
    for finding in result.findings { try call.print(finding, text: UpkeepText.line) }
    let count = result.findings.count
    guard count == 0 else { throw DMError(.storeDamaged, "\(count) \(count == 1 ? "fault" : "faults") found") }
    if !call.isJSON, !call.isQuiet { try call.output.write("no fault found\(UpkeepText.before(result.lastUsedAt))\n") }
  }
}
