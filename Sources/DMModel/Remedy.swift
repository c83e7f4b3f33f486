/// What the user can do after an error or a finding.
///
/// The library does not know what a user has to type: the programs of the suite put each remedy into words, and a
/// program that embeds the library has words of its own.
package enum Remedy: Equatable, Sendable {
  // Users, conversations and messages.
  case addUser
  /// Decide whether a user in an import is the same person as the user of the store who has the same handle.
  case confirmUser
  /// Import a direct conversation as a group, because the existing conversation has later messages.
  case importAsGroup
  case startConversation
  case listConversations
  /// Choose one of several groups that have the same title.
  case chooseGroup
  /// Clear this name, which the user has given to another conversation.
  case clearOwnName(String)
  case unblock(Handle)
  case listMessages
  case listMessagesOfConversation
  case listVisibleMessages
  case keepDraft
  /// Get the message for which the nonce was used.
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
  /// End the other process, which reads the events of the consumer with this name.
  case endOtherStream(String)

  // The store.
  case createStore
  case nameStore
  case nameStoreOrRestore
  case nameStoreToRestore
  case waitLonger
  /// Free some space, or upgrade the store without keeping a copy of it.
  case makeRoomForCopy
  case check
  case checkDeeply
  case repair
  case repairCounts
  case repairFinding
  case repairSearchIndex
  case acceptLoss
  /// Run this SQL statement, which removes a trigger or a view.
  case removeForeignPart(String)
  // The hub.
  case joinHub
  /// Install the hub into an empty database, or confirm that it shares its database with other applications.
  case nameEmptyDatabase
  case inviteUser
  case showHubStatus
  case showPending
  case listMachines
  case leaveHub

  // Backups and dumps.
  case leaveOutDamaged
  case takeDamaged

  /// The advice for a program that embeds the library; nil if no call of the library helps.
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
