import Testing

@testable import DMHub
@testable import DMKit
@testable import DMModel
@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

/// A hub on a real server, in a database of its own.
final class PostgresHub {
  let server: PostgresServer
  let database: String
  let administrator: Administrator

  init() throws {
    server = try PostgresServer.shared.get()
    database = try server.database()
    administrator = try Administrator(database)
    _ = try administrator.install(address: nil, authority: nil)
  }

  /// A link of a new machine of a person, who has signed up.
  func link(_ handle: String) throws -> PQHubLink {
    let invitation = try administrator.invite(Handle(handle), days: 1)
    let link = PQHubLink(label: "test", bell: nil) { Credentials(invitation).settings }
    _ = try link.open()
    try link.joined()
    return link
  }
}

struct PostgresTests {
  @Test func `a link says who this is, and carries a message to another person`() throws {
    let hub = try PostgresHub()
    let (alice, bob) = (try hub.link("alice"), try hub.link("bob"))
    #expect(try alice.open().handle == "alice")
    let conversation = Identifier.random
    var begin = HubOperation(.begin, nonce: .random, conversation: conversation)
    begin.arguments.handles = [Handle(typed: "bob")]
    let say = HubOperation(
      .say, nonce: .random, conversation: conversation, id: .random,
      payload: HubPayload.text(HubPayload.Text(text: "hello")).bytes)
    let answers = try alice.exchange([begin, say], pulling: [], limit: 10) { _ in }
    #expect(answers.map(\.fault) == [nil, nil] && answers.map(\.rev) == [1, 2])
    #expect(try bob.compare(since: nil).conversations.map(\.id) == [conversation])
    var entries: [HubEntry] = []
    _ = try bob.exchange([], pulling: [HubPull(conversation: conversation, rev: 0, mark: nil)], limit: 10) { batch in
      if case .entries(let new) = batch { entries += new }
    }
    #expect(entries.map(\.kind) == [.begun, .message])
    #expect(entries.last?.payload == say.payload && entries.last?.id == say.id)
    #expect(try bob.people(after: 0).map(\.handle) == ["alice", "bob"])
  }
}

extension Identifier {
  static var random: Identifier { Identifier(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max)) }
}
