package import DMCLI
internal import DMHub
internal import DMKit

package struct DMSync: Program {
  static let follow = Flag("follow", short: "f", "go on, and print how it stands whenever that changes")
  static let linger = Flag("linger", "go on until nothing is queued and nobody follows the store, and print nothing")
  static let force = Flag("force", "leave without telling the hub")

  package static let command = Command(
    "dm-sync", "carry between a store and its hub",
    synopsis: [
      "", "-f | --linger", "join [TOKEN]", "status", "pending", "retry [ID]...", "drop ID...",
      "network [normal|poor|very-poor|offline]", "leave [--force]",
    ],
    options: [follow, linger], rules: [.atMostOne([follow, linger])],
    subcommands: [
      Command.Subcommand("join", operands: "[TOKEN]", "link a new store to the hub of an invitation", run: join),
      Command.Subcommand("status", "print how the store and its hub stand, without asking the hub", run: printStatus),
      Command.Subcommand("pending", "print what waits for the hub, and what it has refused", run: printPending),
      Command.Subcommand("retry", operands: "[ID]...", "try again what the hub has refused", run: retry),
      Command.Subcommand("drop", operands: "ID...", "give up what the hub has refused", run: drop),
      Command.Subcommand(
        "network", operands: "[normal|poor|very-poor|offline]", "play another network, or print which", run: network),
      Command.Subcommand(
        "leave", "take the store off its hub; it is only read from then on", options: [force], run: leave),
    ],
    main: sync,
    examples: [
      ("dm-sync join <invitation", "the store becomes yours of the hub"),
      ("dm-sync", "all that waits goes, all that is new comes"),
      ("dm-sync -f", "as a service"),
      ("dm-sync status --json | jq -r .color", "green, yellow or red"),
      ("dm-sync network poor", "how does your bot behave on a train?"),
    ], writes: ["hub", "outbox"])
}
