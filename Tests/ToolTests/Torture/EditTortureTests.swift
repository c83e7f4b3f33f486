import Foundation
import Glibc
import JSONSupport
import Testing

/// Actions on messages and groups, killed at their system calls: each has its whole effect or none.
@Suite(.enabled(if: CrashTests.canTrace, "needs strace")) struct EditTortureTests {
  static let acts = [
    Act("dm-edit", "text", "+all:3", "said @carol and @dave"),
    Act("dm-edit", "delete", "--for-everyone", "+all", "3..4"),
    Act("dm-edit", "delete", "+all", "2..5", as: "bob"),
    Act("dm-edit", "react", "👍", "+all", "2..5", as: "bob"),
    Act("dm-conversation", "add", "+all", "erin", "fred", "--with-history"),
    Act("dm-conversation", "remove", "+all", "bob", "carol"),
    Act("dm-conversation", "leave", "+all"),
    Act("dm-conversation", "title", "+all", "others"),
    Act("dm-conversation", "delete", "+all", as: "bob"),
    Act("dm-conversation", "create", "--title", "new", "bob", "carol"),
    Act("dm-send", "+all", "--from-draft", "--nonce", "n"),
    Act("dm-send", "--to", "bob", "--to", "+all", "--nonce", "n", "hi @bob"),
    Act("dm-user", "block", "alice", as: "bob"),
  ]
  static let calls = ["fdatasync"] + (Torture.isLong ? ["pwrite64", "write", "utimensat", "fcntl", "flock"] : [])

  /// A store that no process has open, and its rows.
  private static let template = Result {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob", "carol", "dave", "erin", "fred")
    try f.done("dm-conversation", ["create", "--title", "all", "bob", "carol", "dave"], as: "alice")
    let lines = ["one", "two @bob @dave", "three @dave"].map { JSON.line(["conversation": "+all", "text": $0]) }
    try f.done("dm-send", as: "alice", stdin: Input(lines: lines))
    try f.done("dm-send", ["+all", "--draft", "@bob unsaid"], as: "alice")
    try f.done("dm-edit", ["react", "👀", "+all:3"], as: "dave")
    return (store: f, picture: try picture(f))
  }

  /// The rows of a store, without times and UUIDs, which differ in each run.
  private static func picture(_ f: ToolFixture) throws -> String {
    try f.sql(
      """
      SELECT 'm', conversation, seq, sender, text, system_kind, subject, mentions, nonce, edited_at IS NULL,
        deleted_at IS NULL, reaction_count FROM message ORDER BY id;
      SELECT 'c', id, title, direct_low, direct_high, last_seq, last_message FROM conversation ORDER BY id;
      SELECT 'p', conversation, user, left_seq, is_owner, read_count, blocked_count, mention_count, is_archived, is_deleted,
        is_blocked, draft_text FROM participant ORDER BY 2, 3;
      SELECT 'r', * FROM read_range ORDER BY 2, 3, 4;
      SELECT 'h', * FROM hidden_range ORDER BY 2, 3, 4;
      SELECT 'n', * FROM mention ORDER BY 2, 3, 4;
      SELECT 'e', message, user, emoji FROM reaction ORDER BY 2, 3;
      SELECT 'b', user, blocked FROM block;
      SELECT 'l', kind, conversation, user, from_seq, to_seq FROM change ORDER BY rev;
      """)
  }

  @Test(arguments: acts, calls)
  func `an action that is killed at any system call has its whole effect or none`(act: Act, call: String) throws {
    let (store, old) = try Self.template.get()
    let whole = try ToolFixture(copyOf: store)
    try whole.done(act.program, act.arguments, as: act.user)
    let new = try Self.picture(whole)
    #expect(old != new)
    var number = 0
    var wasWhole = false
    while !wasWhole {
      number += 1
      try #require(number < 300, "\(call) has no end")
      let f = try ToolFixture(copyOf: store)
      let words = try f.meddling(call, "signal=SIGKILL:when=\(number)", act.program) + act.arguments
      let outcome = try f.run("strace", words, as: act.user, validatedAs: act.program)
      wasWhole = outcome.status == .exit(0)
      let found = try Self.picture(f)
      if found != old { #expect(found == new, "\(call) \(number): neither the old nor the new state") }
      if !outcome.output.isEmpty { #expect(found == new, "\(call) \(number): it was acknowledged") }
      // If the action had no effect, a repetition has the same effect as a run that was not killed.
      if found == old {
        try f.done(act.program, act.arguments, as: act.user)
        let again = try Self.picture(f)
        #expect(again == new, "\(call) \(number): after a repetition")
      }
      try f.checkKept()
    }
    Tally.add(.kills, number - 1, in: "edits")
    print("killed '\(act)' at \(number - 1) calls of \(call)")
  }

  @Test func `each line of a killed batch takes effect or not, and all take effect when the batch is repeated`() throws
  {
    let f = try ToolFixture(copyOf: Self.template.get().store)
    let count = Torture.size(1500, long: 20_000)
    let texts = (1...count).map { JSON.line(["conversation": "+all", "text": "\($0)"]) }
    let sent = try f.done("dm-send", as: "alice", stdin: Input(lines: texts), seconds: 300).records
    let lines = sent.compactMap { $0["id"]?.string }.map { JSON.line(["id": $0, "text": "edited @bob"]) }
    let file = f.directory + "/lines"
    try lines.map { $0 + "\n" }.joined().write(toFile: file, atomically: true, encoding: .utf8)
    var acknowledged = 0
    for stop in [1, count / 3, count - 1] {
      let live = try LiveProcess(f, "sh", ["-c", "exec dm-edit text <'\(file)'"], as: "alice")
      acknowledged = 0
      while acknowledged < stop, try live.line(within: 60) != nil { acknowledged += 1 }
      live.process.send(SIGKILL)
      Tally.add(.kills, in: "edits")
      _ = live.finish()
      let edited = try #require(Int(try f.sql("SELECT count(*) FROM message WHERE edited_at IS NOT NULL")))
      #expect(edited >= acknowledged)
      try f.checkKept()
    }
    try f.done("dm-edit", ["text", "-q"], as: "alice", stdin: .file(file), seconds: 300)
    #expect(try f.sql("SELECT count(*) FROM message WHERE text = 'edited @bob'") == "\(count)")
    #expect(
      try f.done("dm-conversation", ["show", "+all"], as: "bob").record["unread_mentions_count"]?.int == count + 1)
    try f.checkKept()
  }
}
