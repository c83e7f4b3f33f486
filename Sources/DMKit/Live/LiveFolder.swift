package import DMModel
internal import DMSystem

/// The folder of signals, such as typing and presence.
///
/// Each signal is an empty file; the modification time of the file is the time of the signal.
///
/// Signals are not durable.
package struct LiveFolder {
  package enum Signal: Hashable {
    case typing(Identifier, Handle)
    case present(Handle)
    /// A program shows who types in this conversation; nil for all conversations. The sync process therefore asks the
    /// hub who types.
    case watched(Identifier?)
    /// A program shows who is online. The sync process therefore asks the hub who is online.
    case presenceWatched

    var name: String {
      switch self {
      case .typing(let conversation, let user): "typing.\(conversation).\(user)"
      case .present(let user): "present.\(user)"
      case .watched(let conversation): "watch.\(conversation?.description ?? "all")"
      case .presenceWatched: "watch.presence"
      }
    }

    init?(_ name: String) {
      let bytes = name.utf8
      // Compares bytes, because Swift treats a full stop and a combining mark after it as one Character.
      func rest(after prefix: String) -> String? {
        guard bytes.starts(with: prefix.utf8) else { return nil }
        let rest = String(Substring(bytes.dropFirst(prefix.utf8.count)))
        return Handle.problem(with: rest) == nil ? rest : nil
      }
      if let user = rest(after: "present.") {
        self = .present(Handle(stored: user))
        return
      }
      if name.hasPrefix("watch.") {
        let watched = name.dropFirst("watch.".count)
        if watched == "presence" {
          self = .presenceWatched
          return
        }
        let conversation = Identifier(String(watched))
        guard watched == "all" || conversation != nil else { return nil }
        self = .watched(conversation)
        return
      }
      let prefix = String(Substring(bytes.prefix("typing.".utf8.count + 36)))
      guard prefix.hasPrefix("typing."), let conversation = Identifier(String(prefix.dropFirst("typing.".count))),
        let user = rest(after: prefix + ".")
      else { return nil }
      self = .typing(conversation, Handle(stored: user))
    }

    /// The time after which a signal is no longer valid unless it is refreshed, in microseconds.
    package var lifetime: Int64 {
      switch self {
      case .typing: 5_000_000
      case .present: 30_000_000
      case .watched, .presenceWatched: 12_000_000
      }
    }
  }

  let path: String

  package init(path: String) { self.path = path }

  /// Creates the folder.
  ///
  /// - Returns: whether the folder exists now.
  @discardableResult
  func make() -> Bool { if case .failed = createFolder(path) { false } else { true } }

  /// Creates or refreshes the file of a signal.
  package func give(_ signal: Signal) {
    let file = "\(path)/\(signal.name)"
    if !SignalFile.touch(file), make() { SignalFile.touch(file) }
  }

  /// Creates or refreshes the file of a signal, and sets its time to `age` microseconds ago.
  package func give(_ signal: Signal, age: Int64) {
    SignalFile.set(Timestamp(microseconds: Timestamp.now.microseconds - age), of: "\(path)/\(signal.name)")
  }

  package func takeBack(_ signal: Signal) { removeFile("\(path)/\(signal.name)") }

  /// Removes the typing signals of a user in some conversations.
  ///
  /// Linear in the number of existing signals, which is small, and not in the number of conversations.
  func takeBackTyping(of user: Handle, in conversations: [Identifier]) {
    if conversations.count == 1 { return takeBack(.typing(conversations[0], user)) }
    let conversations = Set(conversations)
    forEach { signal in
      if case .typing(let conversation, user) = signal, conversations.contains(conversation) { takeBack(signal) }
    }
  }

  /// The time at which a signal was last refreshed; nil if the signal does not exist.
  package func time(of signal: Signal) -> Timestamp? { FileStatus(itself: "\(path)/\(signal.name)")?.modified }

  /// Deletes typing files older than a day, which remain after processes were killed.
  ///
  /// The age is computed from the clock, which may be wrong. A follower therefore calls this only once, at its first
  /// check for signals.
  func clear(_ signals: [Signal: Timestamp], now: Timestamp = .now) {
    for case (.typing(let conversation, let user), let time) in signals
    where now.microseconds - time.microseconds > 86_400_000_000 {
      takeBack(.typing(conversation, user))
    }
  }

  /// All signals whose files exist, with their times, even if they are no longer valid.
  ///
  /// Linear in the number of signals.
  package func signals() -> [Signal: Timestamp] {
    var found: [Signal: Timestamp] = [:]
    forEach { signal in
      if let time = time(of: signal) { found[signal] = time }
    }
    return found
  }

  private func forEach(_ body: (Signal) -> Void) {
    // If the folder cannot be read, there are no signals.
    guard case .success(let names) = Result(catching: { try names(in: path) }) else { return }
    for signal in names.compactMap(Signal.init) { body(signal) }
  }
}

/// Decides which signals are valid, even if the clock is set.
///
/// If the time of a file changes between two checks, the signal was refreshed, whatever the new time is. Only the first
/// check of a file compares its time with the clock.
package struct Freshness {
  private struct Observation {
    var time: Timestamp
    var seen: Int64
  }

  private var observations: [LiveFolder.Signal: Observation] = [:]

  package init() {}

  /// The signals that are valid now, and the time on the monotonic clock at which the first of them expires if it is
  /// not refreshed.
  package mutating func look(
    at signals: [LiveFolder.Signal: Timestamp], now: Timestamp = .now, at monotonicNow: Int64 = monotonicMicroseconds()
  ) -> (fresh: [LiveFolder.Signal], next: Int64?) {
    var fresh: [LiveFolder.Signal] = []
    var next: Int64?
    observations = observations.filter { signals[$0.key] != nil }
    for (signal, time) in signals {
      if let last = observations[signal] {
        if last.time != time { observations[signal] = Observation(time: time, seen: monotonicNow) }
      } else {
        let age = now.microseconds - time.microseconds
        // A time in the future shows that the clock was set back. The age of the signal cannot be computed, so the
        // signal counts as expired.
        let seen = age >= 0 ? monotonicNow - age : monotonicNow - signal.lifetime
        observations[signal] = Observation(time: time, seen: seen)
      }
      guard let seen = observations[signal]?.seen, monotonicNow - seen < signal.lifetime else { continue }
      fresh.append(signal)
      next = min(next ?? .max, seen + signal.lifetime)
    }
    return (fresh, next)
  }
}
