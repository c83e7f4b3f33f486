import DMSystem
import Testing

@testable import DMCLI
@testable import DMKit
@testable import DMMedia

extension LocalTime {
  struct AttachmentText {
    private let time = Timestamp(rfc3339: "2026-11-21T14:30:15.5Z") ?? Timestamp(microseconds: 0)
    private let id = Identifier(high: 0x019a_c5f2_0a3b_7c4d, low: 0x8e5f_0123_4567_89ab)

    private func attachment(
      _ kind: Attachment.Kind = .file, _ name: String = "notes.txt", _ size: Int = 8, seconds: Double? = nil
    ) -> Attachment {
      var attachment = Attachment(
        id: id, kind: kind, name: name, mimeType: "text/plain", sizeBytes: size, sha256: SHA256().finish())
      attachment.duration = seconds.map { .milliseconds(Int64($0 * 1000)) }
      return attachment
    }

    private func message(_ text: String?, _ attachments: [Attachment]) -> Message {
      var message = Message(
        id, conversationID: id, conversation: ConversationLabel(title: "bob", isGroup: false, reference: "bob"),
        seq: 7, sender: Handle(stored: "bob"), text: text, createdAt: time, status: .sent, nonce: nil)
      message.attachments = attachments
      return message
    }

    @Test(arguments: [
      (0, "0 bytes"), (10_239, "10239 bytes"), (10_240, "10 KiB"), (10_485_759, "10239 KiB"), (10_485_760, "10 MiB"),
      (5 << 40, "5242880 MiB"),
    ])
    func `a size is printed in bytes, KiB or MiB`(_ bytes: Int, _ text: String) {
      #expect(TextFormat.size(bytes) == text)
    }

    @Test(arguments: [
      (0.0, "0:00"), (0.4, "0:00"), (0.6, "0:01"), (59.4, "0:59"), (59.6, "1:00"), (65, "1:05"), (3599.7, "1:00:00"),
      (3661, "1:01:01"), (360_000, "100:00:00"),
    ])
    func `a duration is printed as minutes and seconds, or hours, minutes and seconds`(
      _ seconds: Double, _ text: String
    ) {
      let line = TextFormat.line(attachment(.voice, "v.ogg", seconds: seconds))
      #expect(line == "voice  v.ogg  8 bytes  \(text)  \(id)")
    }

    @Test func `an attachment shows its kind, name, size, pixels and id`() {
      var photo = attachment(.image, "photo.jpg", 20_000)
      (photo.width, photo.height) = (300, 400)
      #expect(TextFormat.line(photo) == "image  photo.jpg  19 KiB  300×400  \(id)")
      #expect(TextFormat.line(attachment()) == "file   notes.txt  8 bytes  \(id)")
      #expect(TextFormat.line(SavedAttachment(attachment: photo, path: "a\u{1B}/photo.jpg")) == "a\\u{1B}/photo.jpg")
    }

    @Test func `an attachment of a message shows when, where and by which user it was sent`() {
      inZone("UTC") {
        let sent = SentAttachment(attachment: attachment(), message: message(nil, [attachment()]))
        var people = People(Handle(stored: "alice"))
        let line = unmarked(TextFormat.line(sent, people, in: "+ops"))
        #expect(line == "file   2026-11-21 14:30  +ops:7 bob  notes.txt  8 bytes  \(id)")
        people.learn(Handle(stored: "bob"), "Bob B.")
        #expect(unmarked(TextFormat.line(sent, people, in: "+ops")).contains("+ops:7 Bob B.  notes.txt"))
      }
    }

    @Test func `a message shows its attachments before its text, with or without a text`() {
      inZone("UTC") {
        let me = Handle(stored: "alice")
        let two = [attachment(.image, "photo.jpg"), attachment()]
        #expect(
          unmarked(TextFormat.line(message("look", two), People(me)))
            == "14:30  7 bob (image 'photo.jpg' 8 bytes, file 'notes.txt' 8 bytes): look")
        #expect(
          unmarked(TextFormat.line(message(nil, [attachment()]), People(me)))
            == "14:30  7 bob (file 'notes.txt' 8 bytes):")
        #expect(
          unmarked(TextFormat.line(message("a\nb", [attachment()]), People(me)))
            == "14:30  7 bob (file 'notes.txt' 8 bytes): a\n       b")
      }
    }

    @Test func `a row of the conversation list shows the attachments of the last message`() {
      let last = message(nil, [attachment(.image, "photo.jpg")])
      let conversation = Conversation(
        id: id, isGroup: false, title: nil, creator: nil, participants: [Handle(stored: "bob")], lastMessage: last,
        lastActivityAt: time, unreadCount: 0, lastReadSeq: nil, firstUnreadSeq: nil, isPinned: false, isArchived: false,
        pageCursor: nil)
      #expect(
        unmarked(TextFormat.line(conversation, for: Handle(stored: "alice"))).hasSuffix(
          "  (image 'photo.jpg' 8 bytes)"))
    }

    @Test func `control characters in a stored attachment name are escaped`() {
      let hostile = attachment(.file, "a\u{1B}]0;x\u{7}\n\u{202E}b")
      let sent = SentAttachment(attachment: hostile, message: message(nil, [hostile]))
      for line in [
        TextFormat.line(hostile),
        unmarked(TextFormat.line(sent, People(Handle(stored: "alice")), in: "x\u{9B}")),
        unmarked(TextFormat.line(message("hi", [hostile]), People(Handle(stored: "alice")))),
      ] {
        #expect(!line.unicodeScalars.contains { isHidden($0) }, "\(line)")
      }
    }
  }
}
