import Testing

@testable import DMKit
@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

/// Actions of one transaction, some of which fail.
struct BatchTests {
  /// Adds a user for each number; if the number is odd, the action fails after that.
  private final class Adding: Batch {
    let session: Session
    var passedOver: [Int] = []

    init(_ session: Session) { self.session = session }

    func act(on number: Int) throws -> Int {
      _ = try session.store.users.insert(Handle("user\(number)"), at: .now)
      if number % 2 == 1 { throw DMError(.badField, "odd") }
      return number
    }

    func passOver(_ number: Int, _ error: DMError) { passedOver.append(number) }

    func finish() { #expect(passedOver == [1, 3, 5]) }
  }

  @Test func `a failed action of a batch is rolled back, and the others are kept`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    let results = try alice.perform(Array(1...6)) { Adding($0) }
    #expect(results.map { if case .success(let number) = $0 { number } else { nil } } == [nil, 2, nil, 4, nil, 6])
    #expect(try store.integers("SELECT substr(handle, 5) + 0 FROM user WHERE id > 1") == [[2], [4], [6]])
    #expect(try store.findings() == [])
    // If all actions fail, nothing is written.
    let failed = try alice.perform([7, 9]) { Adding($0) }
    #expect(failed.allSatisfy { if case .failure(let error) = $0 { error.code == .badField } else { false } })
    #expect(try store.integers("SELECT count(*) FROM user") == [[4]])
  }
}
