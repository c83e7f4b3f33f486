import Testing

@testable import DMCLI

/// The line after some keys, with `|` at the position of the cursor.
private func edited(_ text: String, _ keys: Key...) -> String {
  var line = EditedLine(text)
  for key in keys { _ = line.apply(key) }
  return shown(line)
}

private func shown(_ line: EditedLine) -> String {
  let before = line.textBeforeCursor
  #expect(line.text.hasPrefix(before) || before.isEmpty)
  return before + "|" + line.text.unicodeScalars.dropFirst(before.unicodeScalars.count).map(String.init).joined()
}

/// Applies keys, each of which must change the line or move the cursor.
private func apply(_ keys: [Key], to line: inout EditedLine) {
  for key in keys {
    let isDone = line.apply(key)
    #expect(isDone, "\(key)")
  }
}

/// Applies keys that must neither change the line nor move the cursor.
private func ignore(_ keys: [Key], in line: inout EditedLine) {
  let before = shown(line)
  for key in keys {
    let isDone = line.apply(key)
    #expect(!isDone && shown(line) == before, "\(key)")
  }
}

private func type(_ text: String, into line: inout EditedLine) {
  apply(text.unicodeScalars.map { .character(Character($0)) }, to: &line)
}

struct EditedLineTests {
  private let words = "one two 你好"

  @Test func `movement keys move by characters, by words and to the ends of the line`() {
    #expect(edited(words) == "one two 你好|")
    #expect(edited(words, .left) == "one two 你|好")
    #expect(edited(words, .left, .left, .left) == "one two| 你好")
    #expect(edited(words, .left, .left, .right) == "one two 你|好")
    #expect(edited(words, .home) == "|one two 你好")
    #expect(edited(words, .home, .end) == "one two 你好|")
    #expect(edited(words, .wordLeft) == "one two |你好")
    #expect(edited(words, .wordLeft, .wordLeft) == "one |two 你好")
    #expect(edited(words, .home, .wordRight) == "one| two 你好")
    #expect(edited(words, .home, .wordRight, .wordRight) == "one two| 你好")
    #expect(edited("a,b  ", .wordLeft) == "a,|b  ")
    #expect(edited("  ", .wordLeft, .wordRight) == "  |")
  }

  @Test func `deletion keys delete a character, a word, or up to an end of the line`() {
    #expect(edited(words, .backspace) == "one two 你|")
    #expect(edited(words, .left, .backspace) == "one two |好")
    #expect(edited(words, .left, .delete) == "one two 你|")
    #expect(edited(words, .home, .endOfInput) == "|ne two 你好")
    #expect(edited(words, .deleteWordLeft) == "one two |")
    #expect(edited(words, .deleteWordLeft, .deleteWordLeft) == "one |")
    #expect(edited("one two.you ", .deleteWordLeft) == "one |")
    #expect(edited(words, .home, .deleteWordRight) == "| two 你好")
    #expect(edited(words, .home, .deleteWordRight, .deleteWordRight) == "| 你好")
    #expect(edited(words, .wordLeft, .deleteToStart) == "|你好")
    #expect(edited(words, .wordLeft, .deleteToEnd) == "one two |")
    #expect(edited(words, .deleteToStart) == "|")
  }

  @Test func `typed and pasted text is inserted at the cursor`() {
    #expect(edited(words, .wordLeft, .character("x"), .character("y")) == "one two xy|你好")
    #expect(edited("ab", .left, .paste("1\n2")) == "a1\n2|b")
    #expect(edited("ab", .left, .newline) == "a\n|b")
  }

  @Test(arguments: [
    "e\u{301}", "👨‍👩‍👧‍👦", "🇩🇪", "👍🏽", "✈️", "é", "好", "😀", "שׁ", "한", "\u{1112}\u{1161}\u{11AB}", "नि", "1️⃣",
  ])
  func `a character of several scalars is typed, moved over and deleted as one`(_ character: String) {
    var line = EditedLine("a")
    type(character + "b", into: &line)
    #expect(line.text.unicodeScalars.elementsEqual("a\(character)b".unicodeScalars))
    apply([.left], to: &line)
    #expect(shown(line) == "a\(character)|b")
    apply([.left], to: &line)
    #expect(shown(line) == "a|\(character)b")
    var other = line
    apply([.delete], to: &other)
    #expect(shown(other) == "a|b")
    apply([.right], to: &line)
    #expect(shown(line) == "a\(character)|b")
    apply([.backspace], to: &line)
    #expect(shown(line) == "a|b")
  }

  @Test func `an emoji of several scalars can be typed before another emoji`() {
    var line = EditedLine("👍")
    apply([.home], to: &line)
    type("👨‍👩‍👧‍👦", into: &line)
    #expect(line.text == "👨‍👩‍👧‍👦👍")
    #expect(shown(line) == "👨‍👩‍👧‍👦|👍")
  }

  @Test func `Hebrew is edited in the order in which it is read`() {
    #expect(edited("שלום", .backspace) == "שלו|")
    #expect(edited("שלום עולם", .wordLeft) == "שלום |עולם")
    #expect(edited("שלום", .home, .delete) == "|לום")
  }

  @Test func `a key that has nothing to act on changes nothing`() {
    var line = EditedLine()
    let keys: [Key] = [
      .left, .right, .home, .end, .wordLeft, .wordRight, .up, .down, .backspace, .delete, .deleteWordLeft,
      .deleteWordRight, .deleteToStart, .deleteToEnd, .yank, .previous, .next, .endOfInput, .enter, .tab, .escape,
      .pageUp, .pageDown, .redraw,
    ]
    ignore(keys, in: &line)
    line.replace("a")
    ignore([.endOfInput, .enter], in: &line)
  }

  @Test func `yank inserts consecutive deletions as one text`() {
    var line = EditedLine("one two three four five")
    apply([.wordLeft, .wordLeft, .deleteWordLeft, .deleteWordLeft, .deleteWordRight], to: &line)
    #expect(shown(line) == "one | five")
    apply([.deleteToEnd, .deleteToStart, .yank], to: &line)
    #expect(shown(line) == "one two three four five|")
    apply([.home, .wordRight, .deleteToEnd, .left, .deleteToStart, .yank, .yank], to: &line)
    #expect(shown(line) == "onon|e")
  }

  @Test func `after a cursor key, yank inserts only later deletions, even if the first deletion key deletes nothing`() {
    var line = EditedLine("one two")
    apply([.deleteWordLeft, .home], to: &line)
    ignore([.deleteWordLeft], in: &line)
    apply([.deleteToEnd, .yank], to: &line)
    #expect(line.text == "one ")
    apply([.deleteWordLeft], to: &line)
    #expect(line.isEmpty)
    ignore([.deleteToEnd], in: &line)
    line.replace("x")
    apply([.deleteToStart, .yank], to: &line)
    #expect(line.text == "x")
  }

  @Test func `the Up and Down keys move between the lines of a text, in the same column`() {
    let text = "one\n你好吗\nx\nthree"
    #expect(edited(text, .up) == "one\n你好吗\nx|\nthree")
    #expect(edited(text, .left, .up, .up) == "one\n|你好吗\nx\nthree")
    #expect(edited("three\n你好吗", .up) == "three|\n你好吗")
    #expect(edited("one\n你好吗", .up, .down) == "one\n你|好吗")
    #expect(edited("four\n你好吗", .up, .down) == "four\n你好|吗")
    #expect(edited("a\n\nb", .up, .up) == "|a\n\nb")
    #expect(edited("a\n\nb", .up, .up, .end, .down, .down) == "a\n\n|b")
    #expect(edited(text, .up, .home) == "one\n你好吗\n|x\nthree")
    #expect(edited(text, .home, .up, .up, .end) == "one\n你好吗|\nx\nthree")
  }

  @Test func `deletion to an end of the line stops there, and a deletion at that end joins the adjacent line`() {
    #expect(edited("one\ntwo", .deleteToStart) == "one\n|")
    #expect(edited("one\ntwo", .deleteToStart, .deleteToStart) == "one|")
    #expect(edited("one\ntwo", .up, .home, .deleteToEnd) == "|\ntwo")
    #expect(edited("one\ntwo", .up, .home, .deleteToEnd, .deleteToEnd) == "|two")
    #expect(edited("one\r\ntwo", .home, .backspace) == "one|two")
  }

  @Test func `a replacement replaces the given number of characters before the cursor`() {
    var line = EditedLine("hi @al there")
    apply([.wordLeft, .left], to: &line)
    line.replaceBeforeCursor(3, with: "@alice")
    #expect(shown(line) == "hi @alice| there")
    line.replaceBeforeCursor(100, with: "👍")
    #expect(shown(line) == "👍| there")
    line.replace("new")
    #expect(shown(line) == "new|")
  }

  @Test func `the history gives the earlier texts, and at its end the unfinished text again`() {
    var line = EditedLine()
    for text in ["one", "two", "two", "", "three"] {
      line.replace(text)
      let taken = line.take()
      #expect(taken == text && line.isEmpty)
    }
    type("dr", into: &line)
    apply([.previous], to: &line)
    #expect(shown(line) == "three|")
    apply([.up, .up], to: &line)
    #expect(shown(line) == "one|")
    ignore([.up, .previous], in: &line)
    apply([.down, .next], to: &line)
    #expect(shown(line) == "three|")
    apply([.next], to: &line)
    #expect(shown(line) == "dr|")
    ignore([.down, .next], in: &line)
  }

  @Test func `an edit to a history entry is discarded when a line is entered`() {
    var line = EditedLine("one")
    _ = line.take()
    apply([.previous, .character("!"), .next], to: &line)
    type("x", into: &line)
    apply([.previous], to: &line)
    #expect(line.text == "one!")
    _ = line.take()
    apply([.previous], to: &line)
    #expect(line.text == "one!")
    apply([.previous], to: &line)
    #expect(line.text == "one")
  }

  @Test func `the Up key in the first line of a text goes to the history`() {
    var line = EditedLine("old")
    _ = line.take()
    line.replace("a\nb")
    apply([.up], to: &line)
    #expect(shown(line) == "a|\nb")
    apply([.up], to: &line)
    #expect(shown(line) == "old|")
    apply([.down], to: &line)
    #expect(shown(line) == "a\nb|")
  }
}
