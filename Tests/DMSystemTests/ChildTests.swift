import Testing

@testable import DMSystem

struct ChildTests {
  @Test func `a child that exits with 0 has succeeded`() throws {
    #expect(try Child(["true"]).wait().isSuccess)
    #expect(try !Child(["false"]).wait().isSuccess)
  }

  @Test func `a child that was ended by a signal has not succeeded`() throws {
    let child = try Child(["sleep", "60"])
    #expect(child.ending() == nil)
    child.send(.brokenPipe)
    #expect(!child.wait().isSuccess)
  }

  @Test func `a program that does not exist is an error with the reason`() {
    #expect(throws: SystemFailure.notFound) { _ = try Child(["/nowhere"]).wait() }
  }
}
