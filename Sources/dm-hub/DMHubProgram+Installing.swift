internal import DMCLI
internal import DMHub
internal import DMKit

extension DMHubProgram {
  static func install(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    let certificate = try call.arguments[authority].map(readCertificate)
    let findings = try asking(call) { administrator in
      let versions = try administrator.install(
        address: call.arguments[address], authority: certificate, isShared: call.arguments[shared])
      if !call.isQuiet, !call.isJSON { try call.output.write(versions.line) }
      return try administrator.check()
    }
    // What an installation cannot mend stays, and is said.
    for finding in findings { printError(command.name, finding.text) }
  }

  static func check(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    let findings = try asking(call) { try $0.check() }
    for finding in findings { try call.print(finding, text: \.line) }
    let count = findings.count { !$0.isNote }
    if count > 0 {
      try call.output.flush()
      throw DMError(.hubDamaged, "\(count == 1 ? "1 fault" : "\(count) faults") found; 'dm-hub install' mends most")
    }
  }

  static func uninstall(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    guard call.arguments[force] else { throw usage("all that was said on the hub would be gone; if so, say --force") }
    try asking(call) { try $0.uninstall() }
  }
}
