package import DMModel
internal import DMSystem

/// The folder of signals: an empty file for each, whose modification time is the signal.
///
/// Signals are not durable.
package struct LiveFolder {
  package enum Signal: Hashable {
    case typing(Identifier, Handle)
    case present(Handle)
    /// A program shows who types in a conversation, or in all for nil, so that the hub is asked for it.
    case watched(Identifier?)
    /// A program shows who is online.
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
      // Compares bytes, because a full stop and a combining mark after it are one Character.
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

    /// How long the signal holds, in microseconds.
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

  /// Shows a signal, or refreshes it.
  package func give(_ signal: Signal) {
    let file = "\(path)/\(signal.name)"
    if !SignalFile.touch(file), make() { SignalFile.touch(file) }
  }

  /// Shows a signal that was given some microseconds ago.
  package func give(_ signal: Signal, age: Int64) {
    SignalFile.set(Timestamp(microseconds: Timestamp.now.microseconds - age), of: "\(path)/\(signal.name)")
  }

  package func takeBack(_ signal: Signal) { removeFile("\(path)/\(signal.name)") }

  /// Removes the typing signals of a user in some conversations.
  ///
  /// Linear in the existing signals, which are few, not in the conversations.
  func takeBackTyping(of user: Handle, in conversations: Set<Identifier>) {
    if conversations.count == 1, let conversation = conversations.first { return takeBack(.typing(conversation, user)) }
    forEach { signal in
      if case .typing(let conversation, user) = signal, conversations.contains(conversation) { takeBack(signal) }
    }
  }

  /// When a signal was refreshed last; nil if it does not exist.
  package func time(of signal: Signal) -> Timestamp? { FileStatus(itself: "\(path)/\(signal.name)")?.modified }

  /// Deletes typing files older than a day, which killed processes have left.
  ///
  /// It relies on the clock, which may have been set, so it is called only before any change of the files was observed.
  func clear(_ signals: [Signal: Timestamp], now: Timestamp = .now) {
    for case (.typing(let conversation, let user), let time) in signals
    where now.microseconds - time.microseconds > 86_400_000_000 {
      takeBack(.typing(conversation, user))
    }
  }

  /// All signals that were shown and not removed, however old they are.
  ///
  /// Linear in their number.
  package func signals() -> [Signal: Timestamp] {
    var found: [Signal: Timestamp] = [:]
    forEach { signal in
      if let time = time(of: signal) { found[signal] = time }
    }
    return found
  }

  private func forEach(_ body: (Signal) -> Void) {
    // A folder that cannot be read has no signals.
    guard case .success(let names) = Result(catching: { try names(in: path) }) else { return }
    for signal in names.compactMap(Signal.init) { body(signal) }
  }
}

/// Decides which signals hold, even if the clock is set.
///
/// A file that changes while a follower watches is a fresh signal; only the first check relies on its time.
package struct Freshness {
  private struct Observation {
    var time: Timestamp
    var seen: Int64
  }

  private var observations: [LiveFolder.Signal: Observation] = [:]

  package init() {}

  /// The signals that hold, and when the first of them ends unless it is refreshed, on the monotonic clock.
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
        // A time in the future is from a clock that was set back, and says nothing about the age.
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
