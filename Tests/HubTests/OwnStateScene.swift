@testable import DMKit
@testable import DMStore
@testable import DMSync
@testable import StoreSupport
@testable import TestSupport

/// A test with a user who has two machines, and with another user who writes to them.
protocol OwnStateScene {
  var hub: SharedHub { get }
}

extension OwnStateScene {
  /// The machine of Alice, who has sent five messages to Bob, and the two machines of Bob.
  func machines() throws -> (alice: Machine, first: Machine, second: Machine) {
    let (alice, first, second) = (try hub.joined("alice"), try hub.joined("bob"), try hub.joined("bob"))
    try settle([alice, first, second])
    for number in 1...5 { try alice.say("text \(number)", to: "bob") }
    try settle([alice, first, second])
    return (alice, first, second)
  }

  func conversation(_ machine: Machine, _ reference: String = "alice") throws -> Conversation {
    try machine.messenger.conversation(ConversationReference(reference))
  }

  func change(_ change: OwnChange, of reference: String = "alice", on machine: Machine) throws {
    _ = try machine.messenger.change(change, in: [ConversationReference(reference)])
  }
}
