@testable import DMKit
@testable import DMStore
@testable import DMSync

/// The signals of a hub, which are valid for seconds.
struct ModelSignals {
  struct Present {
    var at: Int64
    var hiddenFrom: Set<Int64>
  }

  /// By conversation and person, the time until which the person types, in microseconds.
  var typing: [Identifier: [Int64: Int64]] = [:]
  var presence: [Int64: Present] = [:]
}

extension ModelHub {
  /// Stores the signals of a machine, and returns those of others.
  mutating func signals(_ machine: Identifier, _ own: HubSignals) throws -> [HubSignal] {
    let me = try hello(machine).person
    for (conversation, rest) in own.typing where isMember(me, conversation) {
      signals.typing[conversation, default: [:]][me] = clock + Int64(min(max(rest, 0), 5000)) * 1000
    }
    for conversation in own.ended { signals.typing[conversation]?[me] = nil }
    let hidden = Set((own.hiddenFrom ?? []).compactMap { person(named: $0)?.id })
    if own.isPresent {
      signals.presence[me] = ModelSignals.Present(at: clock, hiddenFrom: hidden)
    } else if own.hiddenFrom != nil {
      signals.presence[me]?.hiddenFrom = hidden
    }
    return typing(for: me, in: own.watched) + (own.seenSeconds.map { present(for: me, seconds: $0) } ?? [])
  }

  private func isMember(_ person: Int64, _ conversation: Identifier) -> Bool {
    conversations[conversation]?.members[person]?.sees.isOpen ?? false
  }

  private func typing(for me: Int64, in watched: [Identifier]) -> [HubSignal] {
    watched.filter { isMember(me, $0) }.flatMap { conversation in
      (signals.typing[conversation] ?? [:]).filter {
        $0.key != me && $0.value > clock && isMember($0.key, conversation)
      }
      .map { .typing(conversation, person: $0.key, rest: ($0.value - clock) / 1000) }
    }
  }

  private func present(for me: Int64, seconds: Int) -> [HubSignal] {
    signals.presence.filter { person, present in
      person != me && present.at > clock - Int64(seconds) * 1_000_000 && !present.hiddenFrom.contains(me)
        && persons[person].map { $0.showsPresence && !$0.isDisabled } ?? false
        && conversations.keys.contains { isMember(me, $0) && isMember(person, $0) }
    }.map { .present(person: $0.key, age: (clock - $0.value.at) / 1000) }
  }
}
