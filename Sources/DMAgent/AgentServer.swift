internal import DMJSON
package import DMKit
internal import DMSystem

/// A server of the Model Context Protocol for one user: reads lines of JSON-RPC 2.0, and answers each line.
///
/// The server has one thread. While calls of `wait_for_message` wait, the server keeps reading requests.
package final class AgentServer {
  /// Settings that the owner of the store chooses, and the agent cannot change.
  package struct Settings {
    package let name: String
    package let version: String
    /// If true, the server sends and marks nothing, and does not show the user as online.
    package var isReadOnly = false
    /// Nil for all conversations of the user.
    package var only: [ConversationReference]?
    /// The conversations to which the agent may write; nil for all that it may use.
    package var sendTo: [ConversationReference]?
    /// The folder whose files the agent may send; nil for none.
    package var files: String?
    /// Nil for no limit.
    package var rate: Rate?
    /// Nil for no log.
    package var log: CallLog?

    package init(name: String, version: String) { (self.name, self.version) = (name, version) }
  }

  /// The parts of the process that the server uses.
  package struct Streams {
    package let input: Int32
    /// Writes a whole line.
    package let write: ([UInt8]) throws -> Void
    /// Logs an error, which never contains the text of a message.
    package let log: (String) -> Void
    /// Starts the process that syncs with the hub.
    package let carry: () -> Void

    package init(
      input: Int32, write: @escaping ([UInt8]) throws -> Void, log: @escaping (String) -> Void,
      carry: @escaping () -> Void
    ) {
      self.input = input
      self.write = write
      self.log = log
      self.carry = carry
    }
  }

  let settings: Settings
  let streams: Streams
  let messenger: Messenger
  let scope: Scope
  let tools: [AgentTool]
  /// The revision that `initialize` has chosen; nil before, and for a client that names the revision in each request.
  var revision: Revision?
  private var waits: [Wait] = []
  /// Wakes the server when a message arrives while calls wait.
  private var bell: Follower?

  /// - Throws: the errors of `Scope.init`.
  package init(_ messenger: Messenger, _ settings: Settings, _ streams: Streams) throws {
    self.messenger = messenger
    self.settings = settings
    self.streams = streams
    // The times of the answers are in UTC, so those of the arguments are, too.
    useUTC()
    scope = try Scope(messenger, settings)
    let waiting = AgentTool.waitForMessage(marksDelivered: !settings.isReadOnly)
    let acting = settings.isReadOnly ? [] : AgentTool.acting(sendsFiles: settings.files != nil)
    tools = AgentTool.reading + [waiting] + acting
  }

  /// Serves until the input ends; then answers the calls that still wait, even without messages.
  ///
  /// - Throws: `no_store` or `store_replaced` when the store was removed or replaced.
  package func run() throws {
    var splitter = LineSplitter()
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      if waits.isEmpty {
        // While calls wait, does not throw this error, because the calls must be answered with it first.
        try messenger.refuseReplaced()
      } else {
        try answerWaits(hasChanges: waitForBell())
        guard waitUntilReadable(streams.input, milliseconds: 0) else { continue }
      }
      let count = try read(into: &chunk)
      chunk.withUnsafeBytes { splitter.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      while let line = splitter.next() { try take(line) }
      if count == 0 {
        if splitter.isUnfinished { try refuse(.parseError("the last line has no line feed and may be half of one")) }
        return try answerWaits(hasChanges: true, areLast: true)
      }
    }
  }

  private func read(into chunk: inout [UInt8]) throws -> Int {
    do {
      return try readSome(streams.input, into: &chunk)
    } catch {
      throw DMError(.inputOutput, "cannot read standard input: \(error.text)")
    }
  }

  // MARK: Lines

  /// The maximum number of messages of a batch.
  private static let batchLimit = 100

  private func take(_ line: LineSplitter.Line) throws {
    switch line {
    case .tooLong: try refuse(.parseError("the line is over \(LineSplitter.limit / 1024 / 1024) MiB"))
    case .whole(let bytes):
      messenger.noteReader()
      let value: JSONValue
      do throws(DMError) { value = try JSONReader.value(bytes) } catch { return try refuse(bytes, error) }
      guard case .array(let elements) = value else { return try answer(value, Replies(streams.write)) }
      guard revision?.hasBatches == true, 1...Self.batchLimit ~= elements.count else {
        let reason = elements.isEmpty ? "the batch is empty" : "the batch has over \(Self.batchLimit) messages"
        return try refuse(.invalidRequest(revision?.hasBatches == true ? reason : "this revision has no batches"))
      }
      let replies = Replies(batchOf: elements.count, streams.write)
      for element in elements { try answer(element, replies) }
    }
  }

  /// Answers a line that is not a valid request.
  private func refuse(_ error: RPCError) throws { try refuse(error, nil, Replies(streams.write)) }

  /// Answers each request of a line that `JSONReader.value` refuses.
  private func refuse(_ line: ArraySlice<UInt8>, _ error: DMError) throws {
    let value: JSONValue
    do throws(DMError) { value = try JSONReader.lenientValue(line) } catch {
      return try refuse(.parseError(error.message))
    }
    var (elements, isBatch) = ([value], false)
    if case .array(let all) = value { (elements, isBatch) = (all, true) }
    let ids = elements.prefix(Self.batchLimit).compactMap(RPCRequest.id)
    if ids.isEmpty {
      // Notifications get no answer, not even an error.
      guard !elements.isEmpty, elements.allSatisfy(RPCRequest.isNotification) else {
        return try refuse(.parseError(error.message))
      }
      return streams.log(error.message)
    }
    let replies = Replies(batchOf: isBatch ? ids.count : nil, streams.write)
    for id in ids { try refuse(.invalidParams(error.message), id, replies) }
  }

  private func refuse(_ error: RPCError, _ id: RPCRequest.ID?, _ replies: Replies) throws {
    if !error.isProbe { streams.log(error.message) }
    try replies.add(response(to: id, error))
  }

  private func answer(_ value: JSONValue, _ replies: Replies) throws {
    let id = RPCRequest.id(of: value)
    let request: RPCRequest?
    do throws(RPCError) { request = try RPCRequest(value) } catch { return try refuse(error, id, replies) }
    guard let request, let id else {
      if let request { try notice(request) }
      return try replies.add(nil)
    }
    let answer: [UInt8]?
    do throws(RPCError) { answer = try self.answer(to: request, id, replies) } catch {
      return try refuse(error, id, replies)
    }
    if let answer { try replies.add(answer) }
    if messenger.hasWorkForHub { streams.carry() }
  }

  /// Handles a notification; all but cancellations are ignored.
  private func notice(_ request: RPCRequest) throws {
    guard request.method == "notifications/cancelled", let cancelled = request.cancelledID,
      let index = waits.firstIndex(where: { $0.call.id == cancelled })
    else { return }
    let wait = waits.remove(at: index)
    end(wait.entry, "cancelled")
    try wait.replies.add(nil)
    if waits.isEmpty { bell = nil }
  }

  // MARK: Calls that wait

  /// Adds a waiting call; the call is answered at once if there are messages already.
  ///
  /// - Throws: the errors of `Follower`.
  func begin(_ wait: Wait) throws {
    if bell == nil {
      var query = EventQuery(scope.only ?? [])
      query.kinds = [.message]
      query.othersOnly = true
      query.marksDelivered = false
      query.signalsPresence = !settings.isReadOnly
      let follower = try Follower(messenger, query)
      follower.yieldsTo = [streams.input]
      follower.keepCarrier = streams.carry
      bell = follower
    }
    waits.append(wait)
  }

  /// - Returns: whether the waiting calls must read the change log, because it has grown, or because watching it
  ///   failed.
  private func waitForBell() -> Bool {
    guard let bell, let deadline = waits.map({ min($0.deadline, $0.nextProgress ?? .max) }).min() else { return true }
    do {
      return try bell.next(within: .microseconds(max(0, deadline - monotonicMicroseconds())))?.isEmpty == false
    } catch {
      // Each waiting call will fail with the same error, and is answered with that error.
      self.bell = nil
      return true
    }
  }

  /// Answers the calls that have messages or have timed out.
  ///
  /// - Parameter hasChanges: whether there may be new messages; otherwise only new calls read the store.
  private func answerWaits(hasChanges: Bool, areLast: Bool = false) throws {
    let now = monotonicMicroseconds()
    for wait in waits {
      let answer: [UInt8]
      do {
        let isFound = try (hasChanges || wait.isNew) && wait.look()
        guard isFound || areLast || now >= wait.deadline || bell == nil else {
          if let progress = wait.progress(at: now) { try streams.write(progress) }
          continue
        }
        end(wait.entry, "ok")
        answer = wait.call.result { write(wait.write, to: &$0) }
      } catch let error as DMError {
        answer = failure(of: "wait_for_message", error, wait.call, wait.entry)
      }
      waits.removeAll { $0 === wait }
      try wait.replies.add(answer)
      if !settings.isReadOnly { markDelivered(wait) }
    }
    if waits.isEmpty { bell = nil }
  }

  /// Marks the messages of an answer as delivered; only logs a failure.
  private func markDelivered(_ wait: Wait) {
    do {
      try wait.markDelivered()
    } catch {
      streams.log("what was returned is not marked as delivered")
    }
  }

  /// The answer to a call that the messenger refused.
  func failure(of tool: String, _ error: DMError, _ call: AgentCall, _ entry: CallLog.Entry?) -> [UInt8] {
    end(entry, error.code.rawValue)
    streams.log("\(tool): \(error.code.rawValue)")
    return call.result { write(error, to: &$0) }
  }

  /// Logs the result of a call.
  ///
  /// The call was carried out already, so its answer is sent even if the log cannot be written; the next call is
  /// refused.
  func end(_ entry: CallLog.Entry?, _ result: String, _ changed: AgentTool.Changed? = nil) {
    guard let entry else { return }
    do {
      try settings.log?.end(entry, result, changed)
    } catch {
      streams.log("a result is not in the log: \(error.message)")
    }
  }
}

extension RPCRequest {
  /// The id of the request that a notification cancels.
  fileprivate var cancelledID: ID? { ID(params["requestId"]) }
}
