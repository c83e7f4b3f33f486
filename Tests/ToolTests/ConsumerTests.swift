import Testing

/// The lines of a consumer's program, as they come through a pipe.
@Suite struct ConsumerTests {
  @Test func `the first line that fails ends the run at once, whatever comes behind it`() throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    for text in ["one", "two"] { try f.done("dm-send", ["bob", text], as: "alice") }
    let told = try f.done("dm-tail", ["--consumer", "c", "--cursor", "start", "--events", "message"], as: "bob").records
    let cursors = told.compactMap { $0["cursor"]?.string }
    let send = try LiveProcess(f, "dm-send", ["--consumer", "c"], as: "bob")
    try send.send(JSON.line(["conversation": "alice", "text": "1", "nonce": "1", "ack": cursors[0]]))
    #expect(try send.record()["type"]?.string == "message")
    // A line a batch, as a live pipe brings them, and the pipe stays open.
    try send.send(JSON.line(["conversation": "nobody", "text": "2", "nonce": "2", "ack": cursors[1]]))
    #expect(try send.record()["code"]?.string == "unknown_user")
    #expect(send.finish(closingInput: false).status == .exit(1))
    let consumer = try f.done("dm-tail", ["--consumers"], as: "bob").record
    #expect(consumer["cursor"]?.string == cursors[0])
    #expect(consumer["behind_count"]?.int == 1)
  }
}
