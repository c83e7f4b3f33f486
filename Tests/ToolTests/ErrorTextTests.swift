import Foundation
import JSONSupport
import Testing

/// Error texts: the library says what failed, and the program says what to type next.
@Suite struct ErrorTextTests {
  private func fixture() throws -> ToolFixture {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob", "carol")
    try f.done("dm-send", ["bob", "hello", "--nonce", "n"], as: "alice")
    try f.done("dm-user", ["block", "carol"], as: "alice")
    return f
  }

  @Test(arguments: [
    ("dm-send zebedee x", "there is no user 'zebedee'; add them with 'dm-user add zebedee'"),
    ("dm-send bbo x", "there is no user 'bbo'; did you mean 'bob'?"),
    ("dm-send +nothing x", "there is no group '+nothing' that you are in; dm-list names yours"),
    ("dm-send carol x", "you block 'carol'; 'dm-user unblock carol' first"),
    ("dm-send bob --from-draft", "there is no draft in 'bob'; dm-send --draft keeps one"),
    (
      "dm-send bob y --nonce n",
      "the nonce 'n' named something else before; use a new one, or --once to get that message"
    ),
    ("dm-tail --cursor x", "'x' is not a cursor of a stream; take one from a line of dm-tail -f"),
    ("dm-tail --cursor c1-1", "the cursor 'c1-1' is another store's; begin with --cursor start or now"),
    ("dm-tail -f --consumer c", "the consumer 'c' is new; say where it begins: --cursor start, now or CURSOR"),
    ("dm-tail --forget c", "'alice' has no consumer 'c'; dm-tail -f --consumer makes one"),
    ("dm-tail bob 40-57", "'40-57' is not a range of messages; write dm-tail bob 40..57"),
    ("dm-read -q bob:40-57", "'bob:40-57' is not a range of messages; write dm-read -q bob:40..57"),
    ("dm-edit delete bob 40-57", "'40-57' is not a range of messages; write dm-edit delete bob 40..57"),
    ("dm-tail bob -20..", "'-20..' is taken for an option; write dm-tail bob:-20.."),
    ("dm-edit delete bob -20..", "'-20..' is taken for an option; write dm-edit delete bob:-20.."),
    ("dm-send bob --reply 3 x", "unknown option '--reply'; did you mean '--reply-to'?"),
    ("dm-send bob -m x", "unknown option '-m'; write TEXT without an option"),
    ("dm-conversation create --name x", "unknown option '--name'; did you mean '--title'?"),
    ("dm-user add x --name x", "unknown option '--name'; did you mean '--display-name'?"),
    ("dm-read bob 3 4 x", "'x' is not a range of messages; write 57, 40..57, 40.. or ..57"),
    ("dm-tail bob 99..200 x", "'x' is not a range of messages; write 57, 40..57, 40.. or ..57"),
    ("dm-send +ops --to bob hi", "with --to, '+ops' is a part of the text; write --to +ops, or put the text in quotes"),
    (
      "dm-send carol --to bob hi",
      "with --to, 'carol' is a part of the text; write --to carol, or put the text in quotes"
    ),
    ("dm-edit unreact bob:1", "unknown action 'unreact'; did you mean 'react --remove'?"),
    ("dm-tail bob --format json", "unknown option '--format'; did you mean '--json'?"),
    ("dm-conversation new ops", "unknown action 'new'; did you mean 'create'?"),
    // Options with the opposite meaning, and options that destroy something, are not suggested.
    ("dm-tail --forgt c", "unknown option '--forgt'; see --help"),
    ("dm-user unbloc bob", "unknown action 'unbloc'; did you mean 'unblock'?"),
    ("dm-list --sort name", "unknown option '--sort'; pipe the lines into jq(1) or sort(1)"),
    ("dm-list --visible", "unknown option '--visible'; see --help"),
    ("dm-attach --drop-metadata x", "unknown option '--drop-metadata'; see --help"),
    ("dm-conversation add +g x --without-history", "unknown option '--without-history'; see --help"),
    ("dm-conversation create --title x --if-present", "unknown option '--if-present'; see --help"),
    ("dm-user set --not-show-presence", "unknown option '--not-show-presence'; see --help"),
    (
      "dm-edit delete --everyone bob:1",
      "unknown option '--everyone'; write --for-everyone to delete a message for everyone"
    ),
    ("dm-doctor gc", "unknown action 'gc'; 'purge' removes what is old, for good"),
    ("dm-conversation list", "unknown action 'list'; dm-list lists conversations"),
    ("dm-send bob --at 08:00 hi", "unknown option '--at'; messages are sent at once; use at(1) or cron(8)"),
    (
      "dm-user rename bob bobby",
      "unknown action 'rename'; a handle cannot be changed; 'dm-user set --display-name NAME' changes the name that is shown"
    ),
    ("dm-list --no-color", "unknown option '--no-color'; did you mean '--color never'?"),
    ("dm-search \"unclosed", "a quotation mark has no end; write another after the phrase, or leave it out"),
    ("dm-list --json --color sometimes", "'sometimes' is not a value of --color; use auto, always or never"),
    ("dm-send --store /etc bob x", "there is no user 'bob'; add them with 'dm-user add bob'; '/etc' is not a store"),
    (
      "dm-tail 01a20f7d-9b16-7174-a30a-d56106db14cc",
      "there is no conversation or message '01a20f7d-9b16-7174-a30a-d56106db14cc'; dm-list names yours"
    ),
    ("dm help sned", "there is no program 'sned'; did you mean 'send'?"),
    ("dm-send bob hi --text --color bogus", "'bogus' is not a value of --color; use auto, always or never"),
    ("dm-send bob hi --color bogus", "'bogus' is not a value of --color; use auto, always or never"),
    ("dm-user ad x", "unknown action 'ad'; did you mean 'add'?"),
    ("dm-conversation rename +g x", "unknown action 'rename'; did you mean 'title'?"),
    ("dm-user", "missing action; one of: add, list, show, set, picture, presence, block, unblock, blocked"),
    ("dm-user add", "missing HANDLE; usage: dm-user add HANDLE"),
    ("dm-conversation title bob", "missing TITLE; usage: dm-conversation title CONVERSATION TITLE"),
    ("dm-conversation create", "missing USER or --title; usage: dm-conversation create [USER]..."),
    ("dm-edit react", "missing EMOJI; usage: dm-edit react EMOJI MESSAGE..."),
    ("dm-edit react bob:-1", "missing EMOJI; usage: dm-edit react EMOJI MESSAGE..."),
    ("dm-edit react bob:-1 bob:1", "missing EMOJI; usage: dm-edit react EMOJI MESSAGE..."),
    ("dm-edit react bob 1..", "missing EMOJI; usage: dm-edit react EMOJI MESSAGE..."),
    ("dm-edit react lol bob:-1", "'lol' is not one emoji; react with one, such as 👍"),
    ("dm-edit react bob:-1 lol", "'lol' is not one emoji; react with one, such as 👍"),
    ("dm-user show bob x", "unexpected 'x'; usage: dm-user show [USER]"),
    ("dm-user list x", "unexpected 'x'; usage: dm-user list"),
    ("dm-conversation draft bob --clear x", "unexpected 'x'; usage: dm-conversation draft --clear CONVERSATION"),
    ("dm-send --lines bob x", "unexpected 'x'; usage: dm-send --lines CONVERSATION <FILE"),
    ("dm-tail --forget c x", "unexpected 'x'; usage: dm-tail --consumers | --forget NAME"),
    (
      "dm-read --everywhere --all x",
      "unexpected 'x'; usage: dm-read --everywhere --since WHEN | --before WHEN | --all"
    ),
    ("dm-conversation add bob carol", "'bob' is a direct conversation; create a group for that"),
    ("dm-typing --on", "missing CONVERSATION; usage: dm-typing CONVERSATION --on | --off | --for TIME"),
    ("dm-attach", "missing FILE; name one, or '-' for standard input; usage: dm-attach [OPTION]... FILE..."),
    ("dm-list -20..", "unknown option '-2'; see --help"),
    ("dm-doctor backup --force -", "'-' is standard output, which --force cannot replace; leave it out"),
    ("dm-tail bob --thread 3 alice", "a thread is in one conversation; name only that one"),
    ("dm-tail --thread 3", "'3' alone names no message; write CONVERSATION:3"),
    ("dm-tail bob --text --all-fields", "'--all-fields' is for JSON; add --json"),
    ("dm-list --muted --unmuted", "'--muted' and '--unmuted' exclude each other"),
    ("dm-send bob --wait-read soon hi", "'soon' is not a length of time from 1s to 366d; give 10s, 5m or 1h"),
    ("dm-doctor stats --store /dev/none", "there is no store at '/dev/none'; name another --store, or restore one"),
  ])
  func `an error says what failed and what to type next`(call: String, text: String) throws {
    let f = try fixture()
    let words = call.split(separator: " ").map(String.init)
    #expect(try f.run(words[0], Array(words.dropFirst()), as: "alice").stderr == "\(words[0]): \(text)\n")
  }

  @Test(arguments: [
    (
      "dm-edit text",
      "missing MESSAGE; name one, or pipe the lines of dm-tail into dm-edit; usage: dm-edit text MESSAGE [TEXT]..."
    ),
    (
      "dm-edit react 👍",
      "missing MESSAGE; name one, or pipe the lines of dm-tail into dm-edit; usage: dm-edit react EMOJI MESSAGE..."
    ),
    (
      "dm-read",
      "missing CONVERSATION; name one, or pipe the lines of dm-tail into dm-read; usage: dm-read CONVERSATION RANGE..."
    ),
    (
      "dm-send",
      "missing CONVERSATION; name one, or pipe JSON lines into dm-send; usage: dm-send [OPTION]... CONVERSATION TEXT..."
    ),
  ])
  func `a program that reads lines refuses a terminal and says what is missing`(
    call: String, text: String
  ) throws {
    let words = call.split(separator: " ").map(String.init)
    let live = try LiveProcess(fixture(), words[0], Array(words.dropFirst()), as: "alice", stdin: .terminal)
    let outcome = live.finish(closingInput: false)
    #expect(outcome.status == .exit(64) && outcome.stderr == "\(words[0]): \(text)\n", "\(outcome.stderr)")
  }

  @Test func `an error about a message in a range names the message in a form that the user can type`() throws {
    let f = try fixture()
    let text = "dm-edit: 'alice' said the message 'alice:1', not 'bob'\n"
    for words in [["alice:1"], ["alice", "1.."], ["alice:..1"]] {
      #expect(try f.run("dm-edit", ["delete", "--for-everyone"] + words, as: "bob").stderr == text)
    }
  }

  @Test func `an error record has the same message as standard error`() throws {
    let f = try fixture()
    let outcome = try f.run("dm-send", as: "alice", stdin: Input(lines: [#"{"conversation":"zebedee","text":"x"}"#]))
    let message = try #require(try outcome.record["message"]?.string)
    #expect(message == "there is no user 'zebedee'; add them with 'dm-user add zebedee'")
    #expect(outcome.stderr == "dm-send: line 1: \(message)\n")
  }

  @Test func `if there is no store, the error for an unknown user says where the store would be`() throws {
    let f = try ToolFixture()
    #expect(
      try f.run("dm-send", ["zebedee", "x"], as: "alice").stderr
        == "dm-send: there is no user 'zebedee'; add them with 'dm-user add zebedee'; "
        + "there is no store at '\(f.store)' yet\n")
  }

  @Test func `the error for an ambiguous title lists the ids of the groups`() throws {
    let f = try fixture()
    for _ in 1...2 { try f.done("dm-conversation", ["create", "--title", "g", "bob"], as: "alice") }
    let error = try f.run("dm-send", ["+g", "x"], as: "alice").stderr
    let words = "write the id of one, or name it for yourself with 'dm-conversation name'"
    #expect(error.hasPrefix("dm-send: 2 groups are titled 'g'; \(words): "), "\(error)")
    #expect(error.matches(of: /[0-9a-f]{8}-[0-9a-f-]{27} \(alice, bob; last active/).count == 2, "\(error)")
  }

  @Test func `a backup does not replace a file that is not a backup`() throws {
    let f = try fixture()
    let path = f.directory + "/file"
    try Data().write(to: URL(filePath: path))
    #expect(
      try f.run("dm-doctor", ["backup", path], as: "alice").stderr
        == "dm-doctor: '\(path)' is there and is not a backup of a store; name another file, or say --force\n")
  }

  @Test func `dm-doctor check says in JSON and in text that a repair corrects a wrong count`() throws {
    let f = try fixture()
    _ = try f.sql("UPDATE message SET reaction_count = 1")
    let text = "its count of reactions is 1 instead of 0; dm-doctor repair corrects it"
    let record = try f.run("dm-doctor", ["check", "--deep"], as: "alice").record
    #expect(record["message"]?.string == text)
    let line = try f.run("dm-doctor", ["check", "--deep", "--text"], as: "alice").stdout
    #expect(line == "counts: \(record["subject"]?.string ?? ""): \(text)\n")
  }
}
