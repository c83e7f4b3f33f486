@testable import DMKit
@testable import DMSync

/// The own states of persons, in the model of a hub.
extension ModelHub {
  mutating func ownStates(
    _ machine: Identifier, after since: Int64, _ changes: [HubOwnState], limit: Int
  ) throws -> [HubOwnState] {
    let me = try hello(machine).person
    guard var person = persons[me] else { return [] }
    for change in changes {
      let isMember =
        change.conversation == HubOwnState.general || conversations[change.conversation]?.members[me] != nil
      guard isMember, person.ownStates[change.conversation]?.mark == change.mark else { continue }
      person.ownRev += 1
      moves += 1
      person.ownStates[change.conversation] = HubOwnState(
        conversation: change.conversation, rev: person.ownRev, mark: randomID(), state: change.state)
      person.ownEpochs[change.conversation] = epoch
    }
    persons[me] = person
    let all = person.ownStates.values.sorted { $0.rev < $1.rev }.map { state in
      HubOwnState(
        conversation: state.conversation, rev: state.rev, mark: state.mark, state: state.state,
        isPresent: person.ownEpochs[state.conversation] == epoch)
    }
    return all.filter { state in state.rev <= since && changes.contains { $0.conversation == state.conversation } }
      + all.filter { $0.rev > since }.prefix(limit)
  }
}
