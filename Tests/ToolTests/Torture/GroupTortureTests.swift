import Foundation
import JSONSupport
import Testing

/// Many users who change one group at once.
@Suite(.serialized) struct GroupTortureTests {
  static let users = ["ann", "ben", "cat", "dan", "eve"]

  private func group(_ f: ToolFixture, owner: String = "ann") throws {
    for user in Self.users { try f.done("dm-user", ["add", user], as: user) }
    try f.done("dm-conversation", ["create", "--title", "all"] + Self.users.filter { $0 != owner }, as: owner)
  }

  /// A random action that a user may try, whether it is allowed or not.
  private func act(_ dice: inout Dice) -> String {
    let other = Self.users[dice.number(0...4)]
    let number = dice.number(1...30)
    let people = [
      "dm-conversation add +all \(other)", "dm-conversation add +all \(other) --with-history",
      "dm-conversation remove +all \(other)", "dm-conversation leave +all", "dm-conversation title +all all",
      "dm-user block \(other)", "dm-user unblock \(other)", "dm-conversation delete +all",
      "dm-conversation archive +all", "dm-conversation create --title other \(other)",
    ]
    let words = [
      "dm-send +all 'hi @\(other) @eve'", "dm-send +all --expires-in 1s 'brief @\(other)'", "dm-send \(other) hi",
      "dm-send +all --reply-to -1 yes", "dm-edit text +all:\(number) 'edited @\(other)'",
      "dm-edit text +all:-1 'edited @ann'", "dm-edit delete +all:\(number)", "dm-edit delete --for-everyone +all:-1",
      "dm-edit delete --for-everyone +all:\(number)", "dm-edit react 👍 +all:-1", "dm-edit react 🎉 +all:\(number)",
      "dm-edit react --remove +all:\(number)", "dm-edit report +all:\(number)",
      "dm-read +all \(number)..\(number + 5)", "dm-read +all --all", "dm-read +all --unread \(number)..",
      "dm-tail +all -n 3", "dm-send +all --draft later", "dm-send +all --from-draft",
    ]
    return dice.happens(oneIn: 3) ? people[dice.number(0...people.count - 1)] : words[dice.number(0...words.count - 1)]
  }

  @Test(arguments: 1...Torture.size(2, long: 20))
  func `after random concurrent actions the stored counts agree with the messages`(round: Int) throws {
    let f = try ToolFixture()
    try group(f)
    var dice = Dice()
    let count = Torture.size(60, long: 300)
    let runs = try Self.users.map { user in
      let script = (1...count).map { _ in
        "\(act(&dice)); s=$?; case $s in 0|1|65|66|77) ;; *) echo \"status $s\" >&2; exit 9 ;; esac"
      }
      return try f.start("sh", ["-c", script.joined(separator: "\n")], as: user)
    }
    for run in runs {
      let outcome = try run.finish(seconds: 300)
      #expect(outcome.status == .exit(0), "DM_SEED=\(dice.seed): \(outcome.stderr.suffix(300))")
    }
    try expectConsistent(f, "DM_SEED=\(dice.seed)")
  }

  /// Checks that each user is shown what the rows say, after all expired messages are tombstones.
  private func expectConsistent(_ f: ToolFixture, _ comment: Comment) throws {
    try f.checkKept()
    // A message that expired between two of the following calls would look like a fault.
    try Torture.wait(until: "everything has expired that will") {
      try f.done("dm-user", ["set", "--bio", "waits"], as: "ann")
      return try f.sql("SELECT count(*) FROM message WHERE expires_at IS NOT NULL AND deleted_at IS NULL") == "0"
    }
    for user in Self.users {
      let listed = try f.done("dm-list", ["--all", "--limit", "all"], as: user).records
      for conversation in listed {
        let id = try #require(conversation["id"]?.string)
        let unread = try f.done("dm-tail", [id, "--unread", "--peek", "-n", "all"], as: user).records
        #expect(conversation["unread_count"]?.int == unread.count, "\(user) \(comment)")
        #expect(conversation["first_unread_seq"]?.int == unread.first?["seq"]?.int, "\(user) \(comment)")
        let mentions = unread.filter { $0["mentions"]?.array.contains(.string(user)) == true }
        #expect(conversation["unread_mentions_count"]?.int == mentions.count, "\(user) \(comment)")
        let last = try f.done("dm-tail", [id, "-n", "1", "--peek"], as: user).records.last
        #expect(conversation["last_message"]?["seq"]?.int == last?["seq"]?.int, "\(user) \(comment)")
      }
      let count = listed.reduce(0) { $0 + ($1["unread_count"]?.int ?? 0) }
      #expect(try f.done("dm-list", ["--all", "--count"], as: user).stdout == "\(count)\n", "\(user) \(comment)")
    }
  }

  @Test func `concurrent removals, additions and leaves keep the group consistent, with one owner`() throws {
    let f = try ToolFixture()
    try group(f)
    for _ in 1...Torture.size(5, long: 50) {
      let acts: [(String, [String])] =
        [("ann", ["remove", "+all", "ben", "cat"]), ("ben", ["leave", "+all"]), ("cat", ["leave", "+all"])]
        + [("dan", ["add", "+all", "ben"]), ("eve", ["add", "+all", "cat", "ben"])]
      let runs = try acts.map { try f.start("dm-conversation", $0.1, as: $0.0) }
      for run in runs {
        let outcome = try run.finish()
        #expect([.exit(0), .exit(77)].contains(outcome.status), "\(outcome.stderr)")
      }
      try f.done("dm-conversation", ["add", "+all", "ben", "cat"], as: "dan")
    }
    try f.checkKept()
    #expect(try f.sql("SELECT count(*) FROM participant WHERE left_seq IS NULL AND is_owner") == "1")
  }

  @Test func `after all members leave at the same time, the group has no owner`() throws {
    let f = try ToolFixture()
    try group(f)
    let runs = try Self.users.map { try f.start("dm-conversation", ["leave", "+all"], as: $0) }
    for run in runs { #expect(try run.finish().status == .exit(0)) }
    #expect(try f.sql("SELECT count(*), sum(is_owner), count(left_seq) FROM participant") == "5|0|5")
    try f.checkKept()
  }

  @Test func `concurrent reactions leave one reaction for each user, and concurrent edits leave one text`() throws {
    let f = try ToolFixture()
    try group(f)
    try f.done("dm-send", ["+all", "said"], as: "ann")
    var runs: [ToolFixture.Running] = []
    for number in 1...4 {
      for user in Self.users { runs.append(try f.start("dm-edit", ["react", "\(number)️⃣", "+all:2"], as: user)) }
      runs.append(try f.start("dm-edit", ["text", "+all:2", "said @ben \(number)"], as: "ann"))
    }
    for run in runs { #expect(try run.finish().status == .exit(0)) }
    #expect(try f.sql("SELECT reaction_count FROM message WHERE seq = 2") == "5")
    #expect(try f.sql("SELECT count(*) FROM mention") == "1")
    try f.checkKept()
  }

  @Test func `a message that is edited, deleted and answered at the same time ends in a consistent state`() throws {
    let f = try ToolFixture()
    try group(f)
    for number in 1...Torture.size(8, long: 80) {
      let message = try f.done("dm-send", ["+all", "said @ben"], as: "ann").record["id"]?.string ?? ""
      let runs = [
        try f.start("dm-edit", ["text", message, "edited @cat"], as: "ann"),
        try f.start("dm-edit", ["delete", "--for-everyone", message], as: "ann"),
        try f.start("dm-edit", ["react", "👍", message], as: "ben"),
        try f.start("dm-edit", ["delete", message], as: "cat"),
        try f.start("dm-send", ["+all", "--reply-to", message, "\(number)"], as: "dan"),
        try f.start("dm-read", ["+all", "--all"], as: "eve"),
      ]
      for run in runs { #expect([.exit(0), .exit(66)].contains(try run.finish().status)) }
      #expect(try f.run("dm-edit", ["text", message, "x"], as: "ann").status == .exit(66))
    }
    try f.checkKept()
  }
}
