package import DMKit
package import DMStore

/// A connection to a hub, as the sync engine uses it: to PostgreSQL, or to a model of it in tests.
///
/// Every call can throw `HubFault`. After `HubFault.lost`, the link is usable only after `open` has connected again.
package protocol HubLink: AnyObject {
  /// Connects, and returns the user and the machine that this login belongs to.
  func open() throws -> HubHello

  /// Starts or stops the hub's hints, which are notifications of changes; a start takes effect before the next comparison.
  func listen(_ isOn: Bool) throws

  /// Replaces the stamp of this store on the hub (see `Stamp`), together with the next statement.
  ///
  /// - Parameters:
  ///   - held: the stamps of which the hub has one, unless another store has connected with the same login.
  ///   - answer: called with true if the hub had one of the given stamps or no stamp, otherwise with false.
  func restamp(held: [Identifier], next: Identifier, _ answer: @escaping (Bool) -> Void) throws

  /// The conversations that have changed since a horizon; all conversations for nil.
  func compare(since horizon: String?) throws -> HubComparison

  /// Pushes operations, notifies the other machines, and pulls, in one round trip.
  ///
  /// `batch` gets the entries of one conversation after the other, in the order of their revs.
  ///
  /// - Parameter limit: the maximum number of entries for each conversation.
  /// - Returns: the answers to the operations, in their order.
  func exchange(
    _ operations: [HubOperation], pulling: [HubPull], limit: Int, _ batch: (HubBatch) throws -> Void
  ) throws -> [HubAnswer]

  /// The persons that changed after a rev, in the order of their revs.
  func people(after rev: Int64) throws -> [HubPerson]

  /// At most 500 messages with the given numbers: for each message its entry, last edit and reactions; sorted by rev.
  func page(of conversation: Identifier, _ seqs: SeqRange) throws -> [HubEntry]

  /// The beginnings (`HubStart`) of the given conversations, without the conversations that must be pulled whole.
  func starts(of conversations: [Identifier], keeping kept: KeptMessages) throws -> [HubStart]

  /// The members of a conversation.
  func members(of conversation: Identifier) throws -> [HubMember]

  /// Sends the user's signals to the hub, and returns those of other users.
  func signals(_ own: HubSignals) throws -> [HubSignal]

  /// Sends own states to the hub; returns the hub's states after a rev and those of the given conversations, sorted by rev.
  ///
  /// The hub replaces its state of a conversation only if the given state names the mark of that state, and if the
  /// user's quota allows it.
  ///
  /// - Parameter limit: the maximum number of states to return, besides those of the given conversations.
  func ownStates(after rev: Int64, _ changes: [HubOwnState], limit: Int) throws -> [HubOwnState]

  /// Waits until the hub notifies this machine, a program here queues an operation or changes a signal, or `duration`
  /// has passed.
  func wait(for duration: Duration) throws -> HubHint

  func close()
}

/// The hub's greeting: the user and the machine that the login belongs to, and the state of the hub.
package struct HubHello: Equatable, Sendable {
  package let hub: Identifier
  package let epoch: Identifier
  package let startedAt: Timestamp
  /// Whether the server is a standby, which accepts no pushes and may lag behind its primary.
  package var isStandby = false
  package let person: Int64
  package let handle: String
  package let machine: Identifier
  package let now: Timestamp
  /// Seconds between two comparisons; nil if the hub notifies this machine.
  package var pollSeconds: Int?
  /// Whether the connection goes through a pooler, so that the hub cannot notify this machine.
  package var isPooled = false
  package var peopleRev: Int64 = 0
  /// Whether the hub supports signals.
  package var hasSignals = false
  /// Whether the hub supports files.
  package var hasFiles = false
  /// Whether the hub supports own states.
  package var hasOwnStates = false
  /// Whether the hub supports stamps.
  package var hasStamps = false
  /// Whether the hub supports `page` and `starts`.
  package var hasPages = false

  package init(
    hub: Identifier, epoch: Identifier, startedAt: Timestamp, isStandby: Bool = false, person: Int64, handle: String,
    machine: Identifier, now: Timestamp, pollSeconds: Int? = nil, peopleRev: Int64 = 0
  ) {
    self.hub = hub
    self.epoch = epoch
    self.startedAt = startedAt
    self.isStandby = isStandby
    self.person = person
    self.handle = handle
    self.machine = machine
    self.now = now
    self.pollSeconds = pollSeconds
    self.peopleRev = peopleRev
  }

  /// Whether the hub has so few connections left that machines must take turns.
  package var takesTurns: Bool { pollSeconds.map { $0 > 5 } ?? false }
}

package struct HubComparison: Equatable, Sendable {
  package struct Conversation: Equatable, Sendable {
    package let id: Identifier
    package let rev: Int64
    package let mark: Identifier?
    package let sees: VisibleRevs

    package init(id: Identifier, rev: Int64, mark: Identifier?, sees: VisibleRevs) {
      self.id = id
      self.rev = rev
      self.mark = mark
      self.sees = sees
    }
  }

  package let horizon: String
  package let peopleRev: Int64
  package let conversations: [Conversation]
  /// The last rev of the user's own states.
  package let ownRev: Int64

  package init(horizon: String, peopleRev: Int64, ownRev: Int64 = 0, conversations: [Conversation]) {
    self.horizon = horizon
    self.peopleRev = peopleRev
    self.ownRev = ownRev
    self.conversations = conversations
  }
}

/// A conversation to pull, with the rev and the mark of the last entry that this store has.
package struct HubPull: Equatable, Sendable {
  package let conversation: Identifier
  package let rev: Int64
  package let mark: Identifier?

  package init(conversation: Identifier, rev: Int64, mark: Identifier?) {
    self.conversation = conversation
    self.rev = rev
    self.mark = mark
  }
}

/// A part of the result of a pull.
package enum HubBatch: Equatable, Sendable {
  case entries([HubEntry])
  /// At the rev of this store's last entry, the hub has a different entry, because the hub was restored to an earlier state.
  case fork(Identifier)
}

/// An operation in the form in which it is pushed.
package struct HubOperation: Equatable, Sendable {
  package let act: Outbox.Act
  package let nonce: Identifier
  package var conversation: Identifier?
  /// The id of the message that the operation sends or refers to.
  package var id: Identifier?
  /// The number of the message that the operation refers to.
  package var seq: Int?
  package var arguments: HubArguments
  package var payload: [UInt8]?
  /// Whether other machines are notified of the operation at once.
  package var isAnnounced = true

  package init(
    _ act: Outbox.Act, nonce: Identifier, conversation: Identifier? = nil, id: Identifier? = nil, seq: Int? = nil,
    arguments: HubArguments = HubArguments(), payload: [UInt8]? = nil
  ) {
    self.act = act
    self.nonce = nonce
    self.conversation = conversation
    self.id = id
    self.seq = seq
    self.arguments = arguments
    self.payload = payload
  }
}

package struct HubAnswer: Equatable, Sendable {
  package var conversation: Identifier?
  package var id: Identifier?
  package var rev: Int64?
  package var isDuplicate = false
  /// The error code, if the hub refuses the operation.
  package var fault: String?
  /// When the operation may be tried again.
  package var retryAt: Timestamp?

  package init(
    conversation: Identifier? = nil, id: Identifier? = nil, rev: Int64? = nil, isDuplicate: Bool = false,
    fault: String? = nil, retryAt: Timestamp? = nil
  ) {
    self.conversation = conversation
    self.id = id
    self.rev = rev
    self.isDuplicate = isDuplicate
    self.fault = fault
    self.retryAt = retryAt
  }
}

package struct HubPerson: Equatable, Sendable {
  package let id: Int64
  package let handle: String
  package let profile: [UInt8]?
  package let showsPresence: Bool
  package let createdAt: Timestamp
  package let rev: Int64
  package let isDisabled: Bool

  package init(
    id: Int64, handle: String, profile: [UInt8]?, showsPresence: Bool, createdAt: Timestamp, rev: Int64,
    isDisabled: Bool
  ) {
    self.id = id
    self.handle = handle
    self.profile = profile
    self.showsPresence = showsPresence
    self.createdAt = createdAt
    self.rev = rev
    self.isDisabled = isDisabled
  }
}

package struct HubMember: Equatable, Sendable {
  package let person: Int64
  package let isOwner: Bool
  package let since: Int64

  package init(person: Int64, isOwner: Bool, since: Int64) {
    self.person = person
    self.isOwner = isOwner
    self.since = since
  }
}

/// The signals that a machine sends to the hub, and what it asks about the signals of other users.
package struct HubSignals: Equatable, Sendable {
  /// The conversations in which the user types, and for how many milliseconds more the signal is valid.
  package var typing: [(conversation: Identifier, rest: Int)] = []
  /// The conversations in which the user no longer types.
  package var ended: [Identifier] = []
  /// Whether the user is online.
  package var isPresent = false
  /// The users who must not see when the user was online; nil if the list has not changed.
  package var hiddenFrom: [Handle]?
  /// The conversations for which the machine asks who is typing.
  package var watched: [Identifier] = []
  /// The machine asks who was online in the last `seenSeconds` seconds; nil if the machine does not ask.
  package var seenSeconds: Int?

  package init() {}

  package static func == (one: Self, other: Self) -> Bool {
    one.typing.elementsEqual(other.typing, by: ==)
      && (one.ended, one.isPresent, one.hiddenFrom, one.watched, one.seenSeconds)
        == (other.ended, other.isPresent, other.hiddenFrom, other.watched, other.seenSeconds)
  }
}

/// A signal of another user.
package enum HubSignal: Equatable, Sendable {
  /// A person types in a conversation; the signal is valid for `rest` milliseconds more.
  case typing(Identifier, person: Int64, rest: Int64)
  /// A person was last online `age` milliseconds ago.
  case present(person: Int64, age: Int64)
}

/// The user's own decisions about a conversation, such as a pin, as bytes that the hub does not read.
package struct HubOwnState: Equatable, Sendable {
  /// The conversation; `HubOwnState.general` for the state with decisions about no single conversation, such as blocks.
  package let conversation: Identifier
  /// The rev of the state on the hub; 0 for a state that is sent to the hub.
  package let rev: Int64
  /// The mark of the state on the hub; for a state that is sent to the hub, the mark of the state that it replaces.
  package let mark: Identifier?
  package let state: [UInt8]
  /// Whether the state was written in the present epoch of the hub; a restore of the hub begins a new epoch.
  package let isPresent: Bool

  package static let general = Identifier(high: 0, low: 0)

  package init(conversation: Identifier, rev: Int64 = 0, mark: Identifier?, state: [UInt8], isPresent: Bool = true) {
    self.isPresent = isPresent
    self.conversation = conversation
    self.rev = rev
    self.mark = mark
    self.state = state
  }
}
