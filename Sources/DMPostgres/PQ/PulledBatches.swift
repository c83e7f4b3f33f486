internal import DMKit
internal import DMModel
internal import DMSync

/// The result of a pull, in batches of one conversation each.
final class PulledBatches {
  private let asked: Set<Identifier>
  private var batches: [HubBatch] = []
  private var entries: [HubEntry] = []

  init(_ pulls: [HubPull]) { asked = Set(pulls.map(\.conversation)) }

  /// - Throws: `HubFault.damaged` for a row of a conversation that was not requested, or with an invalid kind.
  func add(_ row: PQRow) throws {
    let conversation = try row.identifier(0)
    guard asked.contains(conversation) else { throw HubFault.damaged("the hub sent an unrequested conversation") }
    switch try row.integer(6) {
    case 0...: break
    case -1:
      endBatch()
      return batches.append(.fork(conversation))
    default: throw HubFault.damaged("the hub sent an entry of an invalid kind")
    }
    let entry = try HubEntry(row)
    if let last = entries.last, last.conversation != entry.conversation { endBatch() }
    entries.append(entry)
  }

  private func endBatch() {
    if !entries.isEmpty { batches.append(.entries(entries)) }
    entries = []
  }

  func finished() -> [HubBatch] {
    endBatch()
    return batches
  }
}
