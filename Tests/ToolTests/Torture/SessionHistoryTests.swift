import Testing

/// Tests of the checker of session guarantees.
struct SessionHistoryTests {
  private typealias Seen = SessionHistory.Seen

  /// The faults of a history of two sessions.
  private func faults(_ one: [SessionHistory.Event], _ other: [SessionHistory.Event] = []) -> [String] {
    var history = SessionHistory()
    for event in one { history.note(event, in: "a") }
    for event in other { history.note(event, in: "b") }
    return history.faults()
  }

  private let first = Seen(nonce: "a-1", seq: 1, version: 0)
  private let second = Seen(nonce: "b-1", seq: 2, version: 0)

  @Test func `the checker reports no fault in a history without faults`() {
    let waiting = Seen(nonce: "a-1", seq: nil, version: 0)
    let edited = Seen(nonce: "a-1", seq: 1, version: 1)
    #expect(
      faults(
        [
          .wrote(nonce: "a-1", version: 0), .saw([waiting]), .saw([first]), .wrote(nonce: "a-1", version: 1),
          .saw([edited, second]), .read(upTo: 2), .sawUnread([3]),
        ], [.saw([first]), .wrote(nonce: "b-1", version: 0), .saw([edited, second])]
      ).isEmpty)
  }

  @Test func `the checker reports a session that does not see its own writes`() {
    #expect(faults([.wrote(nonce: "a-1", version: 0), .saw([])], [.saw([first])]).count == 1)
    #expect(faults([.wrote(nonce: "a-1", version: 1), .saw([first])]).count == 1)
    #expect(faults([.read(upTo: 2), .sawUnread([2, 3])]).count == 1)
  }

  @Test func `the checker reports a session that no longer sees what it saw before`() {
    #expect(faults([.saw([first, second]), .saw([second])]).count == 1)
    #expect(faults([.saw([Seen(nonce: "a-1", seq: 1, version: 2)]), .saw([first])]).count == 1)
    #expect(faults([.saw([first]), .saw([Seen(nonce: "a-1", seq: 3, version: 0)])]).count == 1)
  }

  @Test func `the checker reports a message whose number is lower than that of one that its sender had read or sent`() {
    #expect(faults([.saw([second]), .wrote(nonce: "a-1", version: 0), .saw([first, second])]).count == 1)
    let third = Seen(nonce: "a-2", seq: 3, version: 0)
    #expect(
      faults([.wrote(nonce: "a-2", version: 0), .wrote(nonce: "a-1", version: 0), .saw([first, third])]).count == 1)
  }

  @Test func `the checker reports a message that was accepted and then lost, duplicated or printed out of order`() {
    #expect(!faults([.wrote(nonce: "a-1", version: 0)]).isEmpty)
    #expect(faults([.saw([first, first])]).count == 2)
    #expect(faults([.saw([second, first])]).count == 1)
  }
}
