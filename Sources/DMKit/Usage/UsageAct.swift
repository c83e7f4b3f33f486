package import DMModel
internal import DMSystem

/// An act of a user, as a usage log has it: its kind, its time, counts and sizes, and nothing about the contents.
package struct UsageAct: Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    /// A program has read the messages of conversations, or the list of conversations, to show them.
    case opened
    case sent
    /// Messages of others have arrived while a program followed the store.
    case received
    /// The typing signal was shown, until it was hidden.
    case typing
    /// Messages were marked as read.
    case read
    /// A file was prepared to be sent.
    case attached
    /// A conversation was created.
    case created
    case searched
  }

  /// What an act has done.
  package struct Extent: Sendable {
    /// The number of messages, conversations or files.
    package var count = 0
    /// The bytes of the texts of these messages, in UTF-8, or of these files.
    package var bytes = 0
    /// The error of the act; nil if it succeeded.
    package var error: DMError.Code?
    /// Whether some of several messages could not be sent.
    package var isPartial = false

    package init(count: Int = 0, bytes: Int = 0) { (self.count, self.bytes) = (count, bytes) }
  }

  package let kind: Kind
  /// How long the act took, in microseconds, without the time in which the program waited for its reader.
  package let duration: Int64
  package let extent: Extent
}

extension UsageAct.Extent {
  init(_ messages: some Sequence<Message>) {
    add(messages)
  }

  /// The messages that were sent now; a message that was sent before does not count.
  init(sent results: [Result<Message, DMError>]) {
    for result in results {
      switch result {
      case .success(let message): if !message.isDuplicate { add(message) }
      case .failure(let error): if results.count == 1 { self.error = error.code } else { isPartial = true }
      }
    }
  }

  /// The messages that were sent for the lines of a consumer; an acknowledgement alone does not count.
  init(answers: [Result<Messenger.ConsumerAnswer, DMError>]) {
    self.init(
      sent: answers.compactMap { answer in
        switch answer {
        case .success(.message(let message)): .success(message)
        case .success(.acknowledged): nil
        case .failure(let error): .failure(error)
        }
      })
  }

  mutating func add(_ messages: some Sequence<Message>) {
    for message in messages { add(message) }
  }

  mutating func add(_ message: Message) {
    count += 1
    bytes += message.text?.utf8.count ?? 0
  }
}

extension Messenger {
  /// Runs an act, and reports it to `onAct`.
  ///
  /// - Parameter extent: what the act has done, from its result.
  func reporting<T>(
    _ kind: UsageAct.Kind, _ extent: (T) -> UsageAct.Extent, _ body: () throws -> T
  ) rethrows -> T {
    guard onAct != nil else { return try body() }
    let meter = ActMeter(kind, self)
    return try meter.timed {
      let result = try body()
      meter.extent = extent(result)
      return result
    }
  }

  /// Reports that messages were received, if there are messages of others among the events.
  ///
  /// - Parameter start: when the program began to read the events, as a time of `monotonicMicroseconds`.
  func reportReceived(_ events: [MessagingEvent], since start: Int64) {
    guard onAct != nil else { return }
    var extent = UsageAct.Extent()
    for case .message(let message, _) in events where !message.isMine { extent.add(message) }
    if extent.count > 0 { report(.received, extent, since: start) }
  }

  /// Reports that the typing signal was shown for some time, in microseconds.
  package func reportTyping(for duration: Int64) {
    onAct?(UsageAct(kind: .typing, duration: duration, extent: UsageAct.Extent(count: 1)))
  }

  /// - Parameter start: when the act began, as a time of `monotonicMicroseconds`.
  func report(_ kind: UsageAct.Kind, _ extent: UsageAct.Extent, since start: Int64) {
    onAct?(UsageAct(kind: kind, duration: monotonicMicroseconds() - start, extent: extent))
  }
}

/// Measures an act whose result is read with several calls, and reports the act when this value is released.
///
/// Only the time within the calls counts.
final class ActMeter {
  private let kind: UsageAct.Kind
  private let report: ((UsageAct) -> Void)?
  private var duration: Int64 = 0
  var extent = UsageAct.Extent()

  init(_ kind: UsageAct.Kind, _ messenger: Messenger) {
    self.kind = kind
    report = messenger.onAct
  }

  deinit { report?(UsageAct(kind: kind, duration: duration, extent: extent)) }

  func timed<T>(_ body: () throws -> T) rethrows -> T {
    let start = monotonicMicroseconds()
    defer { duration += monotonicMicroseconds() - start }
    do {
      return try body()
    } catch {
      extent.error = (error as? DMError)?.code ?? .internal
      throw error
    }
  }
}

extension ActMeter? {
  func timed<T>(_ body: () throws -> T) rethrows -> T {
    if let self { try self.timed(body) } else { try body() }
  }
}
