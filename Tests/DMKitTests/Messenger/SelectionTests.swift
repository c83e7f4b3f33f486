import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// Histories and streams with a sender, mentions or a thread.
struct SelectionTests {
  private func seqs(_ user: Messenger, _ change: (inout HistoryQuery) throws -> Void) throws -> [Int] {
    var query = HistoryQuery(.title("ops"))
    try change(&query)
    return try user.history(of: query).map(\.number)
  }

  /// Sends a message of Alice, and then `count` pairs of another message of Alice and an answer of Bob, which answers
  /// the previous answer and mentions Alice.
  ///
  /// - Returns: the numbers of the first message and of the last answer.
  private func chain(_ group: OpsGroup, _ count: Int) throws -> (first: Int, last: Int) {
    var previous = try group.alice.say("first", to: "+ops").number
    let first = previous
    for number in 1...count {
      try group.alice.say("aside \(number)", to: "+ops")
      previous = try group.bob.say("answer \(number) @alice", to: "+ops", replyTo: "\(previous)").number
    }
    return (first, previous)
  }

  @Test func `a limit counts the messages that a sender, mentions or a thread select`() throws {
    let group = try OpsGroup()
    let (first, last) = try chain(group, 40)
    let answers = (1...40).map { first + 2 * $0 }
    #expect(last == answers.last)
    let bob: Handle = "bob"
    #expect(try seqs(group.alice) { $0.sender = bob }.suffix(30) == answers.suffix(30))
    #expect(
      try seqs(group.alice) {
        $0.sender = bob
        $0.limit = 3
      } == answers.suffix(3))
    #expect(
      try seqs(group.alice) {
        $0.mentionsOnly = true
        $0.limit = 3
      } == answers.suffix(3))
    for message in [first, answers[20], last] {
      #expect(
        try seqs(group.alice) {
          $0.thread = .number(message, in: nil)
          $0.limit = nil
        } == [first] + answers)
    }
    #expect(
      try seqs(group.alice) {
        $0.thread = .number(first, in: nil)
        $0.limit = 2
      } == answers.suffix(2))
    var everywhere = HistoryQuery()
    everywhere.mentionsOnly = true
    everywhere.limit = 2
    #expect(try group.alice.history(of: everywhere).map(\.number) == answers.suffix(2))
  }

  @Test func `a thread ends where a message is hidden from the user`() throws {
    let group = try OpsGroup()
    let root = try group.alice.say("root", to: "+ops").number
    let hidden = try group.carol.say("hidden", to: "+ops", replyTo: "\(root)").number
    let next = try group.bob.say("next", to: "+ops", replyTo: "\(hidden)").number
    func thread(_ user: Messenger, of message: Int) throws -> [Int] {
      try seqs(user) { $0.thread = .number(message, in: nil) }
    }
    #expect(try thread(group.alice, of: root) == [root, hidden, next])
    _ = try group.alice.setBlocked(true, ["carol"])
    #expect(try thread(group.alice, of: root) == [root])
    #expect(try thread(group.alice, of: next) == [next])
    #expect(try code { try thread(group.alice, of: hidden) } == .unknownMessage)
    #expect(try thread(group.bob, of: root) == [root, hidden, next])
  }

  @Test func `a stream with a thread has later answers, and no other messages`() throws {
    let group = try OpsGroup()
    let root = try group.alice.say("root", to: "+ops").number
    var query = EventQuery([.title("ops")], from: .now)
    query.thread = .number(root, in: nil)
    query.kinds = Set(MessagingEvent.Kind.allCases).subtracting([.typing, .presence, .hub])
    query.marksDelivered = false
    query.signalsPresence = false
    let follower = try Follower(group.alice, query)
    _ = try follower.untilCaughtUp()
    try group.bob.say("aside", to: "+ops")
    let answer = try group.bob.say("answer", to: "+ops", replyTo: "\(root)").number
    try group.carol.say("deeper", to: "+ops", replyTo: "\(answer)")
    var texts: [String?] = []
    _ = try follower.until { event in
      if case .message(let message, _) = event { texts.append(message.text) } else { texts.append(nil) }
      return texts.last == "deeper"
    }
    #expect(texts == ["answer", "deeper"])
  }
}
