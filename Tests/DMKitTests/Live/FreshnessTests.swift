import Testing

@testable import DMKit

/// How long signals are fresh if the clock is set.
///
/// `now` and the times of files follow the clock; `monotonicNow` is not set.
struct FreshnessTests {
  private static let typing = LiveFolder.Signal.typing(Identifier(high: 1, low: 2), Handle(stored: "bob"))
  private static let present = LiveFolder.Signal.present(Handle(stored: "bob"))
  private static let second: Int64 = 1_000_000
  private static let hour = 3600 * second
  private static let year = 8766 * hour

  /// A machine whose clock can be set, its folder of signals, and a `Freshness` that watches the folder.
  private final class Machine {
    var clock = Timestamp(microseconds: 1_795_271_400_000_000)
    var monotonicNow: Int64 = 5_000_000
    var files: [LiveFolder.Signal: Timestamp] = [:]
    var freshness = Freshness()

    func give(_ signal: LiveFolder.Signal, aged age: Int64 = 0) {
      files[signal] = Timestamp(microseconds: clock.microseconds - age)
    }

    func pass(_ time: Int64) {
      clock = Timestamp(microseconds: clock.microseconds + time)
      monotonicNow += time
    }

    func set(_ difference: Int64) { clock = Timestamp(microseconds: clock.microseconds + difference) }

    func look() -> (fresh: [LiveFolder.Signal], next: Int64?) {
      freshness.look(at: files, now: clock, at: monotonicNow)
    }

    func isFresh(_ signal: LiveFolder.Signal) -> Bool { look().fresh.contains(signal) }
  }

  @Test(arguments: [(typing, 5 * second), (present, 30 * second)])
  func `a signal that is given while the folder is watched is fresh for its lifetime`(
    _ signal: LiveFolder.Signal, _ lifetime: Int64
  ) {
    let machine = Machine()
    #expect(machine.look().next == nil)
    machine.give(signal)
    #expect(machine.look().fresh == [signal])
    #expect(machine.look().next == machine.monotonicNow + lifetime)
    machine.pass(lifetime - 1)
    #expect(machine.isFresh(signal))
    machine.pass(1)
    #expect(machine.look().fresh.isEmpty)
    #expect(machine.look().next == nil)
  }

  @Test func `a repeated signal is fresh for a whole lifetime from the time when the repetition is seen`() {
    let machine = Machine()
    machine.give(Self.typing)
    #expect(machine.isFresh(Self.typing))
    machine.pass(3 * Self.second)
    machine.give(Self.typing)
    #expect(machine.look().next == machine.monotonicNow + 5 * Self.second)
    machine.pass(4 * Self.second)
    #expect(machine.isFresh(Self.typing))
    machine.pass(Self.second)
    #expect(!machine.isFresh(Self.typing))
    machine.give(Self.typing)
    #expect(machine.isFresh(Self.typing))
  }

  @Test func `a withdrawn signal is not fresh, and it is fresh when it is given again`() {
    let machine = Machine()
    machine.give(Self.typing)
    #expect(machine.isFresh(Self.typing))
    machine.files = [:]
    #expect(machine.look().fresh.isEmpty)
    machine.pass(Self.second)
    machine.give(Self.typing)
    #expect(machine.isFresh(Self.typing))
  }

  @Test(arguments: [-hour, 50 * year, -50 * year, second / 2])
  func `setting the clock while a signal is fresh changes nothing`(_ difference: Int64) {
    let machine = Machine()
    machine.give(Self.typing)
    #expect(machine.isFresh(Self.typing))
    machine.pass(2 * Self.second)
    machine.set(difference)
    #expect(machine.look().next == machine.monotonicNow + 3 * Self.second)
    machine.pass(2 * Self.second)
    machine.give(Self.typing)
    #expect(machine.isFresh(Self.typing))
    machine.pass(5 * Self.second)
    #expect(!machine.isFresh(Self.typing))
  }

  @Test func `a signal given after the clock was set back is fresh though its file is older than before`() {
    let machine = Machine()
    machine.give(Self.typing)
    #expect(machine.isFresh(Self.typing))
    machine.pass(10 * Self.second)
    #expect(!machine.isFresh(Self.typing))
    machine.set(-Self.hour)
    machine.give(Self.typing)
    #expect(machine.isFresh(Self.typing))
    // The clock is set forward again: by its time, the file is an hour old, but the signal was seen just now.
    machine.set(Self.hour)
    #expect(machine.isFresh(Self.typing))
  }

  @Test func `the first check counts the age of a file as part of its lifetime`() {
    let machine = Machine()
    machine.give(Self.typing, aged: 2 * Self.second)
    #expect(machine.look().fresh == [Self.typing])
    #expect(machine.look().next == machine.monotonicNow + 3 * Self.second)
    machine.pass(3 * Self.second)
    #expect(machine.look().fresh.isEmpty)
  }

  @Test(arguments: [5 * second, hour, 50 * year])
  func `the first check does not report an expired file, until the signal is given again`(_ age: Int64) {
    let machine = Machine()
    machine.give(Self.typing, aged: age)
    #expect(machine.look().fresh.isEmpty)
    #expect(machine.look().next == nil)
    machine.pass(Self.second)
    machine.give(Self.typing)
    #expect(machine.isFresh(Self.typing))
  }

  @Test(arguments: [1, hour, 50 * year])
  func `the first check ignores a file with a future time, also once that time has come`(_ ahead: Int64) {
    let machine = Machine()
    machine.give(Self.present, aged: -ahead)
    #expect(machine.look().fresh.isEmpty)
    machine.set(ahead)
    #expect(machine.look().fresh.isEmpty)
    machine.pass(Self.second)
    machine.give(Self.present)
    #expect(machine.isFresh(Self.present))
  }

  @Test func `the next check is due when the first of several signals expires`() {
    let machine = Machine()
    machine.give(Self.present)
    machine.give(Self.typing)
    #expect(machine.look().next == machine.monotonicNow + 5 * Self.second)
    machine.pass(5 * Self.second)
    #expect(machine.look().fresh == [Self.present])
    #expect(machine.look().next == machine.monotonicNow + 25 * Self.second)
  }
}
