import FoundationEssentials
import Testing

@testable import DMKit
@testable import DMStore

/// A store in a folder of its own; the folder is removed with this object.
///
/// The folder is in memory if there is such a file system: the rules are the same, and commits do not wait for a disk.
final class TemporaryStore {
  let location: StoreLocation

  /// - Parameter users: the users to add before the test begins.
  init(users: [String] = ["alice", "bob", "carol"], isNamed: Bool = true) throws {
    let memory = "/dev/shm"
    let parent =
      FileManager.default.isWritableFile(atPath: memory)
      ? memory : FileManager.default.temporaryDirectory.path
    location = StoreLocation(directory: "\(parent)/dm-test-\(UInt64.random(in: 0 ... .max))", isNamed: isNamed)
    guard let first = users.first else { return }
    let messenger = try self.messenger(first)
    for user in users { _ = try messenger.addUser(Handle(user)) }
  }

  deinit {
    guard FileManager.default.fileExists(atPath: location.directory) else { return }
    do {
      try FileManager.default.removeItem(atPath: location.directory)
    } catch {
      Issue.record("cannot remove '\(location.directory)': \(error)")
    }
  }

  func messenger(_ handle: String, isLoginName: Bool = false) throws -> Messenger {
    Messenger(location, as: Messenger.Identity(try Handle(handle), isLoginName: isLoginName))
  }

  func createFolder() throws {
    try FileManager.default.createDirectory(atPath: location.directory, withIntermediateDirectories: true)
  }

  /// Runs statements that return nothing.
  func execute(_ sql: String) throws {
    let connection = try Connection(path: location.database)
    try connection.execute(sql)
  }

  /// Runs statements that violate the constraints of the schema, as a faulty disk may.
  func damage(_ sql: String) throws { try execute("PRAGMA ignore_check_constraints = ON; \(sql)") }

  /// The rows of a query, all of whose columns are integers; NULL is nil.
  func integers(_ sql: String, columns: Int = 1) throws -> [[Int64?]] {
    let connection = try Connection(path: location.database)
    var statement = try connection.prepare(text: sql)
    var rows: [[Int64?]] = []
    while try statement.step() {
      rows.append((0..<columns).map { statement.optionalInt64(Int32($0)) })
    }
    return rows
  }

  func texts(_ sql: String) throws -> [String] {
    let connection = try Connection(path: location.database)
    var statement = try connection.prepare(text: sql)
    var rows: [String] = []
    while try statement.step() { rows.append(statement.text(0)) }
    return rows
  }
}

extension Messenger {
  @discardableResult
  func say(_ text: String, to conversation: String, nonce: String? = nil, replyTo: String? = nil) throws -> Message {
    try send(
      Outgoing(
        to: ConversationReference(conversation), text: text, nonce: nonce,
        replyTo: replyTo.map(MessageReference.init)))
  }

  func history(of query: HistoryQuery) throws -> [Message] {
    let history = try history(query)
    var messages: [Message] = []
    while case let batch = try history.next(), !batch.isEmpty { messages += batch }
    return messages
  }

  func everything(in conversation: String) throws -> [Message] {
    try messages(in: ConversationReference(conversation), limit: .max)
  }
}
