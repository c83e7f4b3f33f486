import DMKit
import DMModel
import DMPostgres
import DMStore
import DMSync
import DMSystem

/// A user with a linked store, on a thread of its own, who sends to their group after random pauses.
///
/// Only the thread of the user uses the object, until it has ended.
final class Person: @unchecked Sendable {
  private let messenger: Messenger
  private let engine: SyncEngine
  private let group: ConversationReference
  private let isFollower: Bool
  /// The new messages of the store, with the own ones.
  private let news: Follower
  private(set) var figures = Figures()
  /// Why the user stopped before the end of the day.
  private(set) var fault: String?

  /// - Parameter isFollower: whether a program follows the store, so that the hub notifies this machine.
  init(_ number: Int, in folder: String, groupSize: Int, isFollower: Bool) throws {
    let handle = try Handle("p\(number)")
    let location = StoreLocation(directory: "\(folder)/p\(number)", isNamed: true)
    messenger = Messenger(location, as: Messenger.Identity(handle, isLoginName: false))
    engine = try SyncEngine(messenger, PQHubLink(location, watchesStore: false))
    group = try ConversationReference("+group\(groupSize)-\((number - 1) / groupSize)")
    var query = EventQuery()
    query.kinds = [.message]
    query.signalsPresence = false
    news = try Follower(messenger, query)
    self.isFollower = isFollower
    try engine.listen(isFollower)
  }

  /// Connects, so that the day begins with all people there.
  func connect() throws {
    try engine.connect()
    try engine.drain()
    while let events = try news.next(within: .zero), !events.isEmpty {}
  }

  func live(_ day: Day) {
    do {
      var next = day.nextSend(after: day.start)
      while monotonicMicroseconds() < day.end {
        try engine.wait(for: .seconds(30), until: min(next, day.end))
        let sendsNow = monotonicMicroseconds() >= next && next < day.end
        let hour = day.hour(at: min(next, day.end))
        if sendsNow {
          _ = try messenger.send(Outgoing(to: group, text: String(Timestamp.now.microseconds)))
          // A person who is late has as much to say as one who is not.
          next = day.nextSend(after: next)
        }
        let begun = monotonicMicroseconds()
        try engine.drain()
        if sendsNow { figures.answered.append((hour, monotonicMicroseconds() - begun)) }
        try look(day)
      }
    } catch {
      fault = "\(error)"
    }
  }

  func leave() { engine.close() }

  /// Notes how long the messages of others took to come.
  private func look(_ day: Day) throws {
    while let events = try news.next(within: .zero), !events.isEmpty {
      for case .message(let message, _) in events where isFollower && message.sender != messenger.identity.handle {
        guard let sent = message.text.flatMap({ Int64($0) }) else { continue }
        figures.seen.append((day.hour(at: monotonicMicroseconds()), Timestamp.now.microseconds - sent))
      }
    }
  }
}

/// What a person has measured: the hour of the day, and microseconds.
struct Figures {
  var answered: [(hour: Int, time: Int64)] = []
  var seen: [(hour: Int, time: Int64)] = []
}
