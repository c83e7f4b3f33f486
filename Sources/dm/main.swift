import DMCLI
import DMSystem

// Started by the name of a program, this is that program; and 'dm list' is 'dm-list'.
if let program = Programs.named(ownName) { program.main() }
let name = CommandLine.argc > 1 ? "dm-" + CommandLine.arguments[1] : "dm"
if let program = Programs.named(name) { program.main(firstWord: 2) }
if Programs.apart.contains(name) { DM.runApart(name) }
DM.main()
