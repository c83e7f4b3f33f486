package import DMKit

extension DMError {
  /// The message, followed by what the user can do next.
  package var text: String {
    guard let remedy else { return message }
    // These words are a whole message, which also names the program of the other process.
    if case .endOtherStream = remedy { return remedy.words }
    if case .addUser = remedy, let subject { return message(adding: "; add them with 'dm-user add \(subject)'") }
    return message(adding: remedy.suffix)
  }
}

extension Finding {
  /// The message, followed by what the user can do next.
  package var text: String { message + (remedy?.suffix ?? "") }
}

extension Remedy {
  /// The words that say what to type.
  fileprivate var words: String {
    switch self {
    case .addUser: "add them with 'dm-user add'"
    case .startConversation: "dm-send starts one"
    case .listConversations: "dm-list names yours"
    case .confirmUser:
      "if so, give them another handle with the importer's --map; if they are the same, repeat it with --same-users"
    case .importAsGroup: "import the conversation as a group, with the importer's --as-groups"
    case .chooseGroup: "write the id of one, or name it for yourself with 'dm-conversation name'"
    case .clearOwnName(let name): "or clear that one with dm-conversation name '+\(name)' ''"
    case .unblock(let handle): "'dm-user unblock \(handle)' first"
    case .listMessages: "dm-tail prints ids"
    case .listMessagesOfConversation: "dm-tail prints its ids"
    case .listVisibleMessages: "dm-tail prints those that are"
    case .keepDraft: "dm-send --draft keeps one"
    case .getSentMessage: "or --once to get that message"

    case .sendAsFile: "--as-file sends it as it is"
    case .pipeContent: "pipe its content into dm-attach and write '-' in place of the name"
    case .raiseMaximumSize: "--max-size allows more"
    case .listTransfers: "'dm-attach --status' shows what waits"
    case .listAttachments: "'dm-attach --list' names what is there"
    case .listAttachmentsOfConversation: "'dm-attach --list' names what a conversation has"
    case .writeAttachments: "write the lines of dm-attach, or their ids"
    case .saveContent: "leave out --thumbnail"
    case .nameFolder: "or name another with -o"
    case .nameFileOrReplace: "name another with -o, or say --force"
    case .replaceFile: "or say --force"

    case .takeCursor: "take one from a line of dm-tail -f"
    case .takePageCursor: "take one from a line of dm-list"
    case .startAnew: "begin with --cursor start or now"
    case .chooseStart: "say where it begins: --cursor start, now or CURSOR"
    case .acceptGap: "look at the conversations again, then say --accept-gap to go on"
    case .makeConsumer: "dm-tail -f --consumer makes one"
    case .nameConsumer: "add --consumer NAME, or leave it out"
    case .endOtherStream(let name): "another dm-tail reads the events of the consumer '\(name)'; end that one first"

    case .createStore: "sending or 'dm-user add' creates one"
    case .nameStore: "name another --store"
    case .nameStoreOrRestore: "name another --store, or restore one"
    case .nameStoreToRestore: "name another --store to restore into"
    case .waitLonger: "or wait longer by --busy-timeout"
    case .makeRoomForCopy: "free some space, or set DM_UPGRADE_COPY=off to keep no copy"
    case .check: "see 'dm-doctor check'"
    case .checkDeeply: "see 'dm-doctor check --deep'"
    case .repair: "'dm-doctor repair' corrects that"
    case .repairCounts: "'dm-doctor repair' corrects counts, 'check --deep' says more"
    case .repairFinding: "dm-doctor repair corrects it"
    case .repairSearchIndex: "dm-doctor repair makes it anew"
    case .acceptLoss: "or go on without them by 'dm-doctor repair'"
    case .inviteUser: "the administrator of the hub can invite them"
    case .nameEmptyDatabase: "make an empty one with createdb(1), or say --shared"
    case .listMachines: "see 'dm-sync machines'; a machine is named by its label, or by its id"
    case .leaveHub: "'dm-sync leave' takes it off the hub"
    case .joinHub: "'dm-sync join' links a new one with the token of an invitation"
    case .showHubStatus: "'dm-sync status' says why"
    case .showPending: "see 'dm-sync pending', then 'dm-sync retry' or 'dm-sync drop'"
    case .removeForeignPart(let statement):
      "save what is there with 'dm-doctor dump', or remove it with sqlite3(1): \(statement)"

    case .leaveOutDamaged: "or say --damaged to leave it out"
    case .takeDamaged: "see 'dm-doctor check --deep', or say --damaged to take it along"
    }
  }

  /// The words with a punctuation mark before them: a comma if they begin with "or", else a semicolon.
  fileprivate var suffix: String { (words.hasPrefix("or ") ? ", " : "; ") + words }
}
