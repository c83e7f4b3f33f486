import DMCLI
import DMSystem

// Started as 'dm-list' or as 'dm list', this executable runs dm-list.
if let program = Programs.named(ownName) { program.main() }
let name = CommandLine.argc > 1 ? "dm-" + CommandLine.arguments[1] : "dm"
if let program = Programs.named(name) { program.main(firstWord: 2) }
if Programs.apart.contains(name) { DM.runApart(name) }
DM.main()
