import Testing

@testable import DMKit
@testable import DMModel
@testable import DMStore
@testable import DMSync
@testable import StoreSupport
@testable import TestSupport

/// Entries of a hostile member or of a faulty hub never stop the store of another member.
struct HostileLogTests {
  @Test(arguments: 1...60) func `entries with random contents do not damage a store, and other conversations go on`(
    seed: UInt64
  ) throws {
    var dice = SplitMix64(seed: seed)
    let hub = SharedHub()
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    let mallory = hub.model.invite("mallory")
    try alice.sync()
    let group = Identifier.random(.group(by: "mallory"))
    _ = try hub.model.push(mallory, [HubOperation(.group, conversation: group, handles: ["alice", "bob"])])
    for _ in 0..<30 {
      let operation = operation(&dice, group, hub.model.conversations[group])
      _ = try hub.model.push(mallory, [operation])
      if dice.below(4) == 0 { garble(&hub.model, group, &dice) }
      if dice.below(5) == 0 { try alice.sync() }
    }
    try alice.sync()
    try alice.check()
    // A conversation without faulty entries goes on.
    try bob.say("hello", to: "alice")
    try bob.sync()
    try alice.sync()
    #expect(try alice.texts("bob") == ["1 bob: hello"])
    try alice.check()
  }

  private func payload(_ dice: inout SplitMix64) -> [UInt8]? {
    func text() -> String {
      ["", "hi", "@alice", "\u{202E}x", "a\u{0}b", String(repeating: "é", count: 40_000), "👍"][dice.below(7)]
    }
    switch dice.below(9) {
    case 0: return nil
    case 1: return (0..<dice.below(60)).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
    case 2: return Array(#"{"v":2,"text":"later"}"#.utf8)
    case 3: return Array(#"{"v":1,"text":7,"title":[],"emoji":{},"nonce":null}"#.utf8)
    case 4: return Array(String(repeating: "[", count: 5000).utf8)
    case 5:
      return Array(
        #"{"v":1,"text":"x","reply_to":"\#(Identifier(high: 7, low: 7))","nonce":"n","forwarded_from":"@"}"#.utf8)
    case 6:
      // Always the same file and content, but with different sizes.
      let content =
        #""file":"\#(Identifier(high: 9, low: 9))","sha256":"\#(String(repeating: "0", count: 64))","size_bytes":\#(dice.below(9))"#
      return Array(
        #"{"v":1,"text":"x","attachments":[{\#(content),"name":"../\#(text().prefix(2))","thumbnail":{\#(content),"width":1,"height":1}}]}"#
          .utf8)
    case 7: return HubPayload.group(HubPayload.Group(title: text(), avatarURL: text(), expireAfter: .max)).bytes
    default: return HubPayload.text(HubPayload.Text(text: text(), nonce: dice.below(2) == 0 ? "n" : nil)).bytes
    }
  }

  private func operation(
    _ dice: inout SplitMix64, _ group: Identifier, _ state: ModelHub.Conversation?
  ) -> HubOperation {
    let acts: [Outbox.Act] = [
      .say, .say, .say, .edit, .delete, .react, .read, .delivered, .title, .avatar, .add, .remove,
    ]
    var operation = HubOperation(acts[dice.below(acts.count)], conversation: group, handles: ["bob"])
    operation.payload = payload(&dice)
    if operation.act == .say {
      operation.id = Identifier(high: dice.next(), low: dice.next())
    } else if let target = state?.entries.filter({ $0.kind == .message }).randomElement(using: &dice) {
      (operation.id, operation.seq) = (target.id, target.seq)
    }
    operation.arguments.ranges = [1...(1 + dice.below(50))]
    if operation.act == .delivered {
      operation.seq = nil
      operation.arguments.seq = dice.below(100)
    }
    return operation
  }

  /// Changes the newest entry into one that no hub would write.
  private func garble(_ model: inout ModelHub, _ group: Identifier, _ dice: inout SplitMix64) {
    guard var conversation = model.conversations[group], let entry = conversation.entries.last else { return }
    var garbled = entry
    let numbers = [0, -1, 1, 1 << 40, .max, .min]
    switch dice.below(8) {
    case 0: garbled.seq = numbers[dice.below(numbers.count)]
    case 1: garbled.expiresAt = Timestamp(microseconds: Int64(numbers[dice.below(numbers.count)]))
    case 2: garbled.id = conversation.entries.first?.id
    case 3: garbled.meta.person = 4711
    case 4: garbled.meta.ranges = [1...(1 << 50)]
    case 5: (garbled.meta.changesExpiry, garbled.meta.expireAfter) = (true, .max)
    case 6: garbled.meta.owner = Int64.max
    default: garbled.nonce = conversation.entries.first?.nonce
    }
    conversation.entries[conversation.entries.count - 1] = garbled
    model.conversations[group] = conversation
  }
}
