package import DMKit
internal import DMSystem

// What a program leaves to dm-sync in a store that is linked to a hub.

extension Invocation {
  /// What DM_SYNC asks for.
  private var carrierMode: String? { get throws { try environment("DM_SYNC") } }

  private var waits: Bool {
    get throws {
      let isListed = command.options.contains { $0.declaration.name == wait.declaration.name }
      return try isListed && (arguments[wait] || carrierMode == "wait")
    }
  }

  /// Starts a dm-sync that goes away by itself, if none carries for the store and something is to be carried.
  ///
  /// An error is printed and changes no exit status: what was queued stays.
  package func startCarrier() {
    guard let made, case .success(let mode) = Result(catching: { try carrierMode }), mode != "off" else { return }
    do {
      guard try made.mayCarry() else { return }
      let location = made.location
      guard let store = wholePath(location.directory), let folder = ownFolder,
        let lock = FileLock(ifFree: location.syncLock)
      else { return }
      try startApart("\(folder)/dm-sync", ["--store", store, "--linger"], handingOn: lock)
    } catch let failure as SystemFailure {
      warnOfCarrier("cannot start dm-sync: \(failure.text)")
    } catch let error as DMError {
      warnOfCarrier(error.text)
    } catch {
      warnOfCarrier("cannot start dm-sync")
    }
  }

  private func warnOfCarrier(_ text: String) {
    if !hasWarnedOfCarrier { printError(command.name, "\(text); what was queued waits for 'dm-sync'") }
    hasWarnedOfCarrier = true
  }

  /// Ends a run: what was queued is carried, and waited for if that was asked for.
  ///
  /// - Throws: `hub_unreachable` if the hub does not have it in time, or the reason why the hub refuses it.
  func finishWithHub() throws {
    guard let made, !made.queued.isEmpty else { return }
    startCarrier()
    if try waits {
      try made.waitForHub(until: hubDeadline)
    } else if made.awaitsHub, !isQuiet {
      printError(command.name, "queued; it is shown when the hub has ordered it")
    }
  }

  /// A message as it is when the hub has it, if that was asked for; otherwise as it is.
  package func settled(_ message: Message) throws -> Message {
    guard message.seq == nil, message.status == .sending, try waits, let made else { return message }
    startCarrier()
    if case .failure(let error) = Result(catching: { try made.waitForHub(until: hubDeadline) }), !(error is DMError) {
      throw error
    }
    return try made.sentMessage(message.id) ?? message
  }
}
