internal import DMCLI
internal import DMKit
internal import DMSystem

/// The actions of `dm` itself: list the programs, show their manual pages, and play a tour.
struct DM: Program {
  static let again = Flag("again", "remove the store of the last tour, and begin anew")

  static let command = Command(
    "dm", "direct messaging as a suite of small programs",
    synopsis: ["", "PROGRAM [ARGUMENT]...", "help [PROGRAM]", "config", "tour [--again]"],
    subcommands: [
      Command.Subcommand("help", operands: "[PROGRAM]", "show the manual page of a program", run: showManual),
      Command.Subcommand("config", "print the settings, and where each value comes from", run: ShownSettings.print),
      Command.Subcommand(
        "tour", "play a conversation, step by step, in a store that is kept", options: [again], run: playTour),
    ] + Programs.all.map { Command.Subcommand(short($0.name), $0.program.command.summary, run: misplaced) },
    main: list,
    examples: [
      ("dm", "the programs, and where to begin"), ("dm send alice 'lunch?'", "the same as 'dm-send alice …'"),
      ("dm help send | head", "the manual page dm-send(1)"),
      ("dm config", "the settings, and where each value comes from"),
    ], writes: ["setting", "error"], isConfigured: false)

  private static func short(_ name: String) -> String { String(name.dropFirst("dm-".count)) }

  /// Refuses options before the name of the program, because they are options of that program.
  private static func misplaced(_ call: Invocation) throws {
    throw usage("the name of the program comes first: 'dm send bob --reply-to 3 yes'")
  }

  /// Completes `dm send bob` like `dm-send bob`.
  static func completed(_ words: [String]) -> (command: Command, words: [String]) {
    guard words.count > 1, let program = Programs.all.first(where: { $0.name == "dm-" + words[0] })?.program else {
      return (command, words)
    }
    return (program.command, Array(words.dropFirst()))
  }

  private static func list(_ call: Invocation) throws {
    var text = "The programs of dm, each with --help and a manual page ('dm help send'):\n\n"
    for program in command.subcommands { text += listed("dm " + program.name, program.summary) }
    text += "\nWhere to begin:\n\n"
    for (line, meaning) in beginning { text += listed(line, meaning) }
    try call.output.write(text)
  }

  private static let beginning = [
    ("dm tour", "a conversation of two people and a bot, step by step"),
    ("dm help tutorial", "an introduction, one pipeline after another"),
    ("dm user add bob", "add a user to your store"),
    ("dm send bob 'lunch?'", "send a message"), ("dm list --as bob", "list the conversations of bob"),
    ("dm sync join", "link a new store to a hub, to reach people on other machines"),
  ]

  private static func listed(_ left: String, _ right: String) -> String {
    "  \(left)\(String(repeating: " ", count: max(1, 23 - left.count)))\(right)\n"
  }

  private static func showManual(_ call: Invocation) throws {
    try call.arguments.atMost(1)
    let word = call.arguments.operands.first ?? "dm"
    let page = word == "dm" || word.hasPrefix("dm-") ? word : "dm-" + word
    guard let section = section(of: page) else {
      let near = nearest(to: word, among: Programs.all.map { short($0.name) })
      throw usage("there is no program '\(word)'; \(near.map { "did you mean '\($0)'?" } ?? "'dm' lists them")")
    }
    let ending = try ending(of: ["man", section, page], otherwise: "there is no man(1) here; see '\(page) --help'")
    // If man(1) fails, it has already printed the reason, such as that the page is not installed.
    if ending.exitStatus == 0 || ending.exitStatus == nil { ending.repeated() }
    throw DMError(.unknownFile, "man(1) does not show '\(page)'; see '\(page) --help'")
  }

  /// The section of the manual that has a page; nil if there is no such page.
  private static func section(of page: String) -> String? {
    switch page {
    case "dm", "dm-tutorial": "7"
    case "dm-config", "dm-protocol", "dm-store": "5"
    case "dm-hub": "8"
    default: Programs.all.contains { $0.name == page } ? "1" : nil
    }
  }

  private static func playTour(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    try call.configure()
    let store = try call.location().directory + (call.arguments.isGiven(Common.store) ? "" : "-tour")
    // The commands of the tour read the lines of each other.
    let script = "export DM_PIPE=json\n" + String(decoding: PackageResources.tour_sh, as: UTF8.self)
    let folder = ownFolder ?? "/usr/bin"
    try run(
      ["sh", "-c", script, "dm tour", store, call.arguments[again] ? "again" : "", folder],
      otherwise: "there is no sh(1) here")
  }

  /// Runs a program that is a separate file beside this one, and ends with the same status or signal.
  static func runApart(_ name: String) {
    let program = (ownFolder.map { $0 + "/" } ?? "") + name
    do throws(DMError) {
      try run(
        [program] + CommandLine.arguments.dropFirst(2),
        otherwise: "cannot run '\(program)'; it is a part of a complete installation, beside 'dm'")
    } catch {
      printError("dm", error.text)
      endProcess(ExitStatus(error.code).rawValue)
    }
  }

  /// Runs a command, and ends this process with the same status or signal.
  private static func run(_ words: [String], otherwise message: String) throws(DMError) {
    try ending(of: words, otherwise: message).repeated()
  }

  private static func ending(of words: [String], otherwise message: String) throws(DMError) -> Child.Ending {
    do { return try Child(words).wait() } catch { throw DMError(.unknownFile, message) }
  }
}
