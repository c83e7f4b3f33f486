internal import DMKit

// What to type instead of options and actions of other programs that have no equal here; this code runs only after an
// error.

/// An answer to words that other programs use.
private struct Advice {
  /// The program; nil for all programs.
  let program: String?
  let words: [String]
  let text: String

  init(_ program: String?, _ words: [String], _ text: String) {
    (self.program, self.words, self.text) = (program, words, text)
  }
}

extension Command {
  /// What to do instead of an option that neither this program nor a synonym has.
  func advice(forOption word: String) -> String? { Self.advice(for: word, of: name, in: optionAdvice) }

  /// What to do instead of an action.
  func advice(forAction word: String) -> String? { Self.advice(for: word, of: name, in: actionAdvice) }

  private static func advice(for word: String, of program: String, in all: [Advice]) -> String? {
    all.first { $0.words.contains(word) && ($0.program ?? program) == program }?.text
  }

  /// The end of an error about the bytes or the size of a text, if an option of the program changes such texts.
  ///
  /// - Parameter arguments: nil if the command line itself has the wrong bytes.
  func optionHint(for error: DMError, _ arguments: Arguments?) -> String {
    // Without a conversation, dm-send reads JSON lines, for which it has neither option.
    if let arguments, arguments.operands.isEmpty, !arguments.names("to") { return "" }
    func offers(_ option: String) -> Bool {
      allOptions.contains { $0.long == option } && arguments?.names(option) != true
    }
    switch error.code {
    case .textTooLong where offers("overflow"): return ", or have --overflow attach or truncate it"
    case .invalidUTF8 where offers("lossy"): return ", or have --lossy replace these bytes"
    default: return ""
    }
  }
}

extension Arguments {
  /// Whether the command line has this option, also if the option is not valid.
  fileprivate func names(_ option: String) -> Bool {
    words.contains { $0 == "--\(option)" || $0.hasPrefix("--\(option)=") }
  }
}

private let optionAdvice: [Advice] = [
  Advice("dm-send", ["at", "schedule", "later", "delay", "when"], "messages are sent at once; use at(1) or cron(8)"),
  Advice("dm-send", ["subject", "title"], "a message has no subject; write it in the text"),
  Advice("dm-send", ["markdown", "html", "code"], "texts are sent as they are; leave it out"),
  Advice("dm-send", ["bcc"], "use a --to for each conversation: nobody sees the others"),
  Advice("dm-tail", ["grep", "search", "find", "match", "e"], "use dm-search, or pipe the lines into grep(1)"),
  Advice("dm-tail", ["reverse", "r", "newest", "sort", "tac"], "pipe the lines into tac(1)"),
  Advice("dm-tail", ["unread"], "'dm-tail' without -n begins with unread messages"),
  Advice("dm-list", ["sort", "reverse", "order"], "pipe the lines into jq(1) or sort(1)"),
  Advice("dm-list", ["groups", "direct"], "pipe the lines into jq 'select(.is_group)'"),
  Advice("dm-search", ["regex", "regexp", "E", "P"], "pipe the lines of dm-tail -n all into grep -E"),
  Advice("dm-search", ["ignore-case", "i"], "upper and lower case are the same; leave it out"),
  Advice("dm-edit", ["everyone"], "write --for-everyone to delete a message for everyone"),
  Advice(nil, ["yes", "y", "force", "interactive", "confirm"], "nothing asks before it acts; leave it out"),
  Advice(nil, ["verbose", "debug", "trace"], "there is no such output; errors say what failed"),
]

private let actionAdvice: [Advice] = [
  Advice("dm-conversation", ["list", "ls", "all"], "dm-list lists conversations"),
  Advice("dm-conversation", ["send", "post", "say"], "dm-send sends messages"),
  Advice(
    "dm-conversation", ["open", "read", "tail", "log", "history"], "dm-tail prints messages, dm-chat opens a window"
  ),
  Advice("dm-conversation", ["search", "find", "grep"], "dm-search finds messages, 'dm-list --match' conversations"),
  Advice("dm-conversation", ["kick", "ban"], "write: dm-conversation remove CONVERSATION USER"),
  Advice("dm-conversation", ["join", "enter"], "a member can add you: dm-conversation add CONVERSATION USER"),
  Advice("dm-conversation", ["members", "who", "users"], "'dm-conversation show' lists the members"),
  Advice("dm-conversation", ["hide", "close"], "'dm-conversation archive' takes it out of the list"),
  Advice("dm-conversation", ["block"], "write: dm-user block USER"),
  Advice(
    "dm-user", ["remove", "delete", "rm", "del", "drop"],
    "users cannot be removed; 'dm-user block USER' hides what they write"),
  Advice(
    "dm-user", ["rename", "mv", "handle", "name"],
    "a handle cannot be changed; 'dm-user set --display-name NAME' changes the name that is shown"),
  Advice("dm-user", ["mute", "ignore"], "'dm-conversation mute USER' mutes, 'dm-user block USER' blocks"),
  Advice("dm-user", ["status", "online", "away", "who"], "write: dm-user presence [USER]"),
  Advice("dm-user", ["login", "su", "switch", "use"], "use --as USER, or set DM_USER"),
  Advice(
    "dm-edit", ["undo", "unsend", "retract", "recall", "revoke", "remove", "rm"],
    "'text' changes a message, 'delete' deletes it for you, and with --for-everyone for all"),
  Advice("dm-edit", ["reply", "answer"], "write: dm-send CONVERSATION --reply-to MESSAGE TEXT"),
  Advice("dm-edit", ["forward", "fwd", "share"], "write: dm-send CONVERSATION --forward MESSAGE"),
  Advice("dm-edit", ["read", "unread"], "dm-read marks messages"),
  Advice("dm-edit", ["show", "view", "get"], "dm-tail prints messages"),
  Advice(
    "dm-doctor", ["gc", "clean", "cleanup", "vacuum", "compact", "optimize"], "'purge' removes what is old, for good"
  ),
  Advice(
    "dm-doctor", ["migrate", "upgrade", "update"],
    "the first program of a new version upgrades the store; see dm-store(5)"
  ),
  Advice("dm-doctor", ["init", "create", "new"], "the first message or user creates the store: dm-user add NAME"),
  Advice("dm-sync", ["push", "pull", "now", "run", "start", "fetch"], "'dm-sync' alone synchronizes, -f keeps on"),
  Advice("dm-sync", ["unlink", "disconnect", "logout", "quit"], "'leave' takes the store off the hub, for good"),
  Advice(
    "dm", ["init", "setup", "install", "start"],
    "the first message creates the store: dm send USER TEXT; see 'dm tour'"
  ),
  Advice("dm", ["backup", "restore", "check", "purge", "repair", "stats"], "these are actions of 'dm doctor'"),
  Advice("dm", ["reply", "forward"], "write: dm send CONVERSATION --reply-to MESSAGE TEXT, or --forward MESSAGE"),
  Advice("dm", ["delete", "rm", "react"], "write: dm edit delete MESSAGE, or dm edit react EMOJI MESSAGE"),
  Advice("dm", ["block", "whoami"], "these are actions of 'dm user': block USER, show"),
  Advice("dm", ["create", "new", "add"], "write: dm user add NAME, or dm conversation create --title TITLE USER"),
  Advice("dm", ["login", "join", "connect"], "write: dm sync join"),
]
