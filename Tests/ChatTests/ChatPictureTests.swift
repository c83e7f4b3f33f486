import FoundationEssentials
import Testing

@testable import ChatProgram
@testable import DMCLI
@testable import DMKit
@testable import StoreSupport

/// `/show`: one message, with its picture if the terminal shows pictures.
@Suite struct ChatPictureTests {
  private let store: TemporaryStore
  /// A PNG of one pixel.
  private let file: [UInt8]

  init() throws {
    let bob: Messenger
    (store, bob) = try ChatFixture.store(withTextsOfBob: ["one"])
    let base64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    file = Array(try #require(Data(base64Encoded: base64)))
    let image = try bob.prepare(.bytes(file), name: "dot.png").attachment
    try #require(image.kind == .image)
    _ = try bob.send(Outgoing(to: ConversationReference("alice"), text: "a dot", attachments: [image.id]))
  }

  @Test func `the picture is above the text of its message, until the panel is closed`() throws {
    var window = try ChatFixture(store, as: "alice", "bob", pictures: .kitty)
    try window.enter("/show 2")
    let frame = render(window.model)
    let picture = try #require(frame.picture)
    #expect(picture.rows == 1 && frame.rows[0].isEmpty)
    #expect(window.conversation.dropFirst().contains { $0.contains("a dot") })
    #expect(String(decoding: picture.bytes, as: UTF8.self).contains("f=100"))
    try window.press(.escape)
    #expect(render(window.model).picture == nil && window.texts.first == "one")
  }

  @Test func `a message without a picture, and a terminal without pictures, show only the text`() throws {
    var window = try ChatFixture(store, as: "alice", "bob", pictures: .kitty)
    try window.enter("/show 1")
    #expect(render(window.model).picture == nil && !window.conversation[0].isEmpty)
    window = try ChatFixture(store, as: "alice", "bob")
    try window.enter("/show 2")
    #expect(render(window.model).picture == nil && !window.conversation[0].isEmpty)
    try window.enter("/show 9")
    #expect(window.state.contains("there is no message 9 here"))
  }

  @Test func `a list never has a picture`() throws {
    var window = try ChatFixture(store, as: "alice", "bob", pictures: .iterm2)
    #expect(render(window.model).picture == nil)
    try window.enter("/search dot")
    #expect(render(window.model).picture == nil)
  }
}
