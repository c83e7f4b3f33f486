package import DMKit
internal import DMSystem

// Work that dm-sync does for a program whose store is linked to a hub.

extension Invocation {
  private var waits: Bool {
    get throws {
      try command.has(wait) && (arguments[wait] || settings[.sync] == "wait")
    }
  }

  /// Starts a dm-sync as `Carrier.start` does, unless a dm-sync runs for the store already.
  ///
  /// An error is printed, but does not change the exit status, because queued changes are not lost.
  package func startCarrier() {
    guard let made, case .failed(let fault) = Carrier.start(for: made, settings), !hasWarnedOfCarrier else { return }
    printError(command.name, made.hasWorkForHub ? "\(fault); what was queued waits for 'dm-sync'" : fault)
    hasWarnedOfCarrier = true
  }

  /// Brings a store with a hub up to date before it is read, if the hub answers within the time of `--fresh`.
  ///
  /// A program that follows the store need not call this, because it gets new messages as events.
  package func refresh() throws {
    let isGiven = arguments.isGiven(fresh)
    let messenger = try messenger()
    let startsNone = try Carrier.refusal(settings)
    freshness = try messenger.refresh(within: freshLimit(), evenOffline: isGiven, startsNone: startsNone) {
      Carrier.start(for: messenger, settings).fault
    }
    if let asOf = freshness?.asOf { output.asOf = asOf }
  }

  /// Asks the hub of a linked store who is online, unless the hub has answered this question a short time ago.
  package func refreshPresence() throws {
    let messenger = try messenger()
    guard try messenger.isLinked, try Carrier.mayRun(settings) else { return }
    messenger.watchPresence()
    if messenger.knowsPresence { return }
    let end = monotonicMicroseconds() + (try freshLimit()).microseconds
    let fault = try messenger.compare(within: freshLimit()) { Carrier.start(for: messenger, settings).fault }
    if fault == nil { messenger.awaitPresence(until: end) }
  }

  /// How long to wait for the hub.
  func freshLimit() throws -> Duration {
    let given = command.has(fresh) ? try arguments[fresh] : nil
    return try given ?? settings[.fresh].map { try freshTime($0, of: "DM_FRESH") } ?? .seconds(1)
  }

  /// If the hub did not answer, prints a warning with the time at which the hub last answered.
  ///
  /// - Throws: `hub_unreachable` if the user has asked for fresh data with --fresh.
  func noteFreshness() throws {
    try notePages()
    guard let freshness, let fault = freshness.fault else { return }
    let since = freshness.asOf.map { "as of \(TextFormat.short($0))" } ?? "nothing has come from the hub yet"
    if let limit = try arguments[fresh], limit > .zero {
      throw DMError(.hubUnreachable, "\(since); \(fault)", remedy: .showHubStatus)
    }
    if !isQuiet, try Carrier.mayRun(settings) { printError(command.name, "\(since); \(fault)") }
  }

  /// Prints a warning if the output lacks messages that the store has not kept.
  private func notePages() throws {
    if !isQuiet, let absence = made?.takeAbsence() { printError(command.name, absence) }
  }

  /// Does the last work of a run: starts a dm-sync if something was queued for the hub, and with --wait waits for the
  /// hub.
  ///
  /// - Throws: `hub_unreachable` if the hub does not answer in time, `over_quota` if it postpones the change, or the
  ///   error with which the hub refuses the change.
  func finishWithHub() throws {
    guard let made, made.hasWorkForHub else { return }
    startCarrier()
    if try waits {
      if let until = try made.waitForHub(until: hubDeadline, start: startCarrier) { throw overQuota(until) }
    } else if !isQuiet, isTerminal(.error), let until = try made.postponedUntil() {
      printError(command.name, "queued; \(overQuota(until).message)")
    } else if made.awaitsHub, !isQuiet {
      printError(command.name, "queued; it is shown when the hub has ordered it")
    }
  }

  /// The error for changes that the hub has postponed until a time.
  package func overQuota(_ until: Timestamp) -> DMError {
    DMError(
      .overQuota, "the hub takes no more from you until \(TextFormat.dateAndTime(until)); the rest is sent then",
      remedy: .showPending)
  }

  /// With --wait, waits until the hub has the message, and returns its new state; otherwise returns the message
  /// unchanged.
  package func settled(_ message: Message) throws -> Message {
    guard message.seq == nil, message.status == .sending, try waits, let made else { return message }
    if case .failure(let error) = Result(catching: { try made.waitForHub(until: hubDeadline, start: startCarrier) }),
      !(error is DMError)
    {
      throw error
    }
    return try made.sentMessage(message.id) ?? message
  }
}
