/// What helps after an error or a finding.
///
/// The library does not know how a user asks for that: the programs of the suite put each remedy into words, and a
/// program that embeds the library has words of its own.
package enum Remedy: Equatable, Sendable {
  // Users, conversations and messages.
  case addUser
  /// A user of an import may be somebody else than the user of the store with that handle.
  case confirmUser
  case startConversation
  case listConversations
  /// Several groups have the title.
  case chooseGroup
  /// The user has given another conversation the name.
  case clearOwnName(String)
  case unblock(Handle)
  case listMessages
  case listMessagesOfConversation
  case listVisibleMessages
  case keepDraft
  /// The message that the nonce was used for.
  case getSentMessage

  // Attachments and files.
  case sendAsFile
  case pipeContent
  case raiseMaximumSize
  case listTransfers
  case listAttachments
  case listAttachmentsOfConversation
  case writeAttachments
  case saveContent
  case nameFolder
  case nameFileOrReplace
  case replaceFile

  // Cursors and consumers.
  case takeCursor
  case takePageCursor
  case startAnew
  case chooseStart
  case acceptGap
  case makeConsumer
  case nameConsumer
  /// Another process streams the consumer of that name.
  case endOtherStream(String)

  // The store.
  case createStore
  case nameStore
  case nameStoreOrRestore
  case nameStoreToRestore
  case waitLonger
  case check
  case checkDeeply
  case repair
  case repairCounts
  case repairFinding
  case repairSearchIndex
  case acceptLoss
  /// A statement of SQL that removes a trigger or a view.
  case removeForeignPart(String)
  // The hub.
  case joinHub
  /// Install a hub into an empty database, or say that others use this one.
  case nameEmptyDatabase
  case inviteUser
  case showHubStatus
  case showPending
  case listMachines
  case leaveHub

  // Backups and dumps.
  case dump
  case leaveOutDamaged
  case takeDamaged

  /// What helps in a program that embeds the library; nil if no call of it does.
  var call: String? {
    switch self {
    case .addUser: "addUser adds them"
    case .startConversation: "a message to a handle starts one"
    case .listConversations: "the user's are in conversations(_:)"
    case .chooseGroup: "name it by its id"
    case .unblock(let handle): "unblock '\(handle)' first"
    case .listMessages, .listMessagesOfConversation, .listVisibleMessages: "history(_:) has those that the user sees"
    case .takeCursor: "take one of an event"
    case .takePageCursor: "take one of a conversation of the page before"
    case .startAnew, .chooseStart: "begin at the start, or now"
    case .acceptGap: "read the conversations again, and begin now"
    case .createStore: "the first message or user creates one"
    case .nameStore, .nameStoreOrRestore, .nameStoreToRestore: "name another location"
    case .waitLonger: "allow a longer busyTimeout"
    default: nil
    }
  }
}
