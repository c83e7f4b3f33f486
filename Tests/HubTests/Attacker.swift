@testable import DMKit
@testable import DMModel
@testable import DMPostgres
@testable import DMStore
@testable import DMSync
@testable import TestSupport

/// A login of a hub that runs SQL of its own.
final class Attacker {
  let settings: [(name: String, value: String)]
  let connection: PQConnection
  let link: PQHubLink

  init(_ hub: PostgresHub, _ handle: String, joins: Bool = true) throws {
    let invitation = try hub.administrator.invite(Handle(handle), days: 1)
    let settings = try Credentials(invitation).settings()
    self.settings = settings
    link = PQHubLink(label: "attacker") { settings }
    _ = try link.open()
    if joins { try link.joined() }
    // Connects after joining, because joining ends the login's other connections.
    connection = try PQConnection(settings)
  }

  /// The SQLSTATE with which a statement ends; `ok` if it succeeds.
  func state(of sql: String, _ value: String? = nil) throws -> String {
    do {
      // Without a parameter, `sql` may also be several statements.
      if let value {
        try connection.run([PQConnection.Statement(sql, [value])])
      } else {
        try connection.execute(sql)
      }
      return "ok"
    } catch let fault as HubFault {
      return String(fault.text.split { !$0.isLetter && !$0.isNumber }.last { $0.utf8.count == 5 } ?? "?")
    }
  }

  @discardableResult
  func push(_ operations: [HubOperation]) throws -> [HubAnswer] {
    try link.exchange(operations, pulling: [], limit: 1) { _ in }
  }

  /// The answers to operations that no program sends.
  func answers(to json: String) throws -> [HubAnswer] {
    try connection.rows("SELECT conv, id, rev, duplicate, error, retry_at FROM dm1.push($1::jsonb)", [json]) {
      try HubAnswer($0)
    }
  }

  func pull(_ conversation: Identifier) throws -> [HubEntry] {
    var entries: [HubEntry] = []
    let pull = [HubPull(conversation: conversation, rev: 0, mark: nil)]
    _ = try link.exchange([], pulling: pull, limit: 5000) { batch in
      if case .entries(let new) = batch { entries += new }
    }
    return entries
  }
}

extension HubOperation {
  init(_ act: Outbox.Act, conversation: Identifier?, handles: [String] = [], payload: String? = nil) {
    self.init(act, nonce: .random, conversation: conversation, payload: payload.map { Array($0.utf8) })
    arguments.handles = handles.map(Handle.init(typed:))
  }

  static func say(_ text: String, in conversation: Identifier, id: Identifier = .random) -> HubOperation {
    HubOperation(
      .say, nonce: .random, conversation: conversation, id: id,
      payload: HubPayload.text(HubPayload.Text(text: text)).bytes)
  }
}
