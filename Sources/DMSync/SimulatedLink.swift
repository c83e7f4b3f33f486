internal import DMKit
internal import DMModel
internal import DMStore
internal import DMSystem

/// A link that simulates the network that the user has chosen: calls are slow, and some are lost.
///
/// Half of the lost calls never reach the hub. The other half reach the hub, and only their answers are lost.
final class SimulatedLink: HubLink {
  private let link: any HubLink
  private let messenger: Messenger
  private var dice: any RandomNumberGenerator
  /// Waits for the given number of microseconds.
  private let pass: (Int64) -> Void

  init(
    _ link: any HubLink, _ messenger: Messenger, dice: any RandomNumberGenerator = SystemRandomNumberGenerator(),
    pass: @escaping (Int64) -> Void = { rest(until: monotonicMicroseconds() + $0) }
  ) {
    self.link = link
    self.messenger = messenger
    self.dice = dice
    self.pass = pass
  }

  private static let lostRequest = "the simulated network has lost a request"
  private static let lostAnswer = "the simulated network has lost an answer"

  private func network() throws -> HubNetwork { try messenger.linkedStore().1.network }

  /// Calls the hub, with the delay and the losses of the simulated network.
  private func simulate<Value>(_ call: () throws -> Value) throws -> Value {
    let (delay, lost): (ClosedRange<Int64>, Double)
    switch try network() {
    case .normal: return try call()
    case .poor: (delay, lost) = (500_000...1_000_000, 0.1)
    case .veryPoor: (delay, lost) = (1_500_000...3_000_000, 0.25)
    case .offline: throw HubFault.lost("the simulated network is offline")
    }
    pass(Int64.random(in: delay, using: &dice))
    let isLost = Double.random(in: 0..<1, using: &dice) < lost
    if isLost, Bool.random(using: &dice) { throw HubFault.lost(Self.lostRequest) }
    let value = try call()
    if isLost { throw HubFault.lost(Self.lostAnswer) }
    return value
  }

  func open() throws -> HubHello { try simulate(link.open) }
  func listen(_ isOn: Bool) throws { try link.listen(isOn) }
  func restamp(held: [Identifier], next: Identifier, _ answer: @escaping (Bool) -> Void) throws {
    try link.restamp(held: held, next: next, answer)
  }
  func compare(since horizon: String?) throws -> HubComparison { try simulate { try link.compare(since: horizon) } }

  func exchange(
    _ operations: [HubOperation], pulling: [HubPull], limit: Int, _ batch: (HubBatch) throws -> Void
  ) throws -> [HubAnswer] {
    var batches: [HubBatch] = []
    let answers = try simulate {
      try link.exchange(operations, pulling: pulling, limit: limit) { batches.append($0) }
    }
    try batches.forEach(batch)
    return answers
  }

  func people(after rev: Int64) throws -> [HubPerson] { try simulate { try link.people(after: rev) } }
  func page(of conversation: Identifier, _ seqs: SeqRange) throws -> [HubEntry] {
    try simulate { try link.page(of: conversation, seqs) }
  }
  func starts(of conversations: [Identifier], keeping kept: KeptMessages) throws -> [HubStart] {
    try simulate { try link.starts(of: conversations, keeping: kept) }
  }
  func members(of conversation: Identifier) throws -> [HubMember] {
    try simulate { try link.members(of: conversation) }
  }

  func ownStates(after rev: Int64, _ changes: [HubOwnState], limit: Int) throws -> [HubOwnState] {
    try simulate { try link.ownStates(after: rev, changes, limit: limit) }
  }

  /// A lost signal counts as timed out, which does not end the connection.
  func signals(_ own: HubSignals) throws -> [HubSignal] {
    do {
      return try simulate { try link.signals(own) }
    } catch HubFault.lost(Self.lostRequest), HubFault.lost(Self.lostAnswer) {
      throw HubFault.timedOut("the simulated network has lost a signal")
    }
  }

  func wait(for duration: Duration) throws -> HubHint {
    let hint = try link.wait(for: duration)
    if try network() == .offline { throw HubFault.lost("the simulated network is offline") }
    return hint
  }

  func close() { link.close() }
}
