import FoundationEssentials
import Testing

@testable import ChatProgram
@testable import DMCLI
@testable import DMKit
@testable import DMModel
@testable import StoreSupport

/// The window of a user, without a terminal: its input is keys and the events of a store, and its output is rows.
struct ChatFixture {
  let messenger: Messenger
  let loader: Loader
  private let follower: Follower
  private let pictures: PictureProtocol?
  var model: ChatModel

  init(
    _ store: TemporaryStore, as name: String, _ conversation: String, columns: Int = 60, rows: Int = 14,
    pictures: PictureProtocol? = nil
  ) throws {
    messenger = try store.messenger(name)
    self.pictures = pictures
    let reference = try ConversationReference(conversation)
    loader = Loader(try Conversing(messenger, reference))
    let screen = try Screen(.never, isPlain: false).fixed(columns: columns, rows: rows)
    let (model, cursor) = try loader.begin(Layout(screen: screen, me: messenger.identity.handle))
    self.model = model
    var query = EventQuery([loader.acts.conversation], from: cursor.map { .cursor($0) } ?? .start)
    query.kinds = Set(MessagingEvent.Kind.allCases)
    query.includesReaders = true
    follower = try Follower(messenger, query)
  }

  /// A store in which Bob has sent these texts to Alice.
  static func store(withTextsOfBob texts: [String]) throws -> (TemporaryStore, bob: Messenger) {
    let store = try TemporaryStore()
    let bob = try store.messenger("bob")
    for text in texts { try bob.say(text, to: "alice") }
    return (store, bob)
  }

  mutating func press(_ keys: Key...) throws { try press(keys) }

  /// Presses keys whose bytes come in one write.
  mutating func press(_ keys: [Key]) throws {
    for key in keys {
      do {
        switch model.update(key) {
        case .enter: try enter()
        case .complete: try Completion(messenger: messenger).complete(&model)
        case .offerOwn(let limit): model.offer(try loader.acts.lastOwn(before: limit))
        case .go(let number): model.update(try Commands(loader.acts).go(to: number))
        case .nextUnread: model.update(next: try loader.acts.nextUnread())
        case .redraw, nil: break
        }
      } catch let error as DMError {
        model.say(loader.acts.text(of: error), isFault: true)
      }
      try load()
    }
    try load()
  }

  private mutating func load() throws { if model.isStale { try loader.load(&model) } }

  private mutating func enter() throws {
    model.closePanel()
    let text = model.composition.line.text
    let isConfirmed = model.takeAsked() == text
    let commands = Commands(loader.acts) { [pictures] in pictures }
    model.update(try commands.perform(Entered(text), in: model.layout, replaces: isConfirmed) { _ in })
  }

  mutating func type(_ text: String) throws { for character in text { try press(.character(character)) } }

  /// Types a line, and presses Enter.
  mutating func enter(_ line: String) throws {
    try type(line)
    try press(.enter)
  }

  /// Updates the window with all events that have happened in the store.
  mutating func follow() throws {
    while let events = try follower.next(within: .zero), !events.isEmpty {
      for event in events { model.update(event) }
      try follower.markDelivered(events)
    }
    try load()
  }

  /// Updates the window with events until `isExpected` is true for its state line.
  mutating func follow(untilState isExpected: (String) -> Bool) throws {
    let end = ContinuousClock.now + .seconds(60)
    while !isExpected(state) {
      try #require(ContinuousClock.now < end, "the state is still '\(state)'")
      for event in try follower.next(within: .milliseconds(100)) ?? [] { model.update(event) }
      try load()
    }
  }

  /// All rows that the window shows, without the marks of the row that `/go` shows in reverse.
  var rows: [String] { rawRows.map { $0.replacing(text: "\u{1B}[7m", with: "") } }

  private var rawRows: [String] { render(model).rows.map { String(decoding: $0, as: UTF8.self) } }

  /// The rows in reverse.
  var marked: [String] {
    rawRows.filter { $0.contains("\u{1B}[7m") }.map { $0.replacing(text: "\u{1B}[7m", with: "") }
  }

  /// The rows of the conversation or panel.
  var conversation: [String] { Array(rows.prefix(render(model).end)) }

  private var below: ArraySlice<String> { rows.dropFirst(render(model).end) }

  /// The state line, or the notice that is shown in its place.
  var state: String { below.prefix { !$0.hasPrefix("> ") }.joined() }

  /// The input line.
  var line: String { below.drop { !$0.hasPrefix("> ") }.joined(separator: "|") }

  /// The texts of the messages whose first row is shown, without time, number and notes.
  var texts: [String] {
    conversation.compactMap { row in row.contains(": ") ? row.components(separatedBy: ": ").last : nil }
  }
}
