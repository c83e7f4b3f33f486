import FoundationEssentials
import Testing

@testable import DMKit
@testable import DMMedia
@testable import DMStore
@testable import DMSystem
@testable import StoreSupport
@testable import TestSupport

extension Messenger {
  /// Prepares bytes as a file that is not changed.
  func attach(_ bytes: [UInt8], named name: String = "file.bin") throws -> DMKit.Attachment {
    let path = "\(location.directory)/source-\(UInt64.random(in: 0 ... .max))"
    try Data(bytes).write(to: URL(filePath: path))
    defer { unlink(path) }
    var options = PreparationOptions()
    options.asFile = true
    return try prepare(.file(path), name: name, options).attachment
  }

  @discardableResult
  func send(_ attachments: [DMKit.Attachment], to conversation: String) throws -> Message {
    try send(
      Outgoing(to: ConversationReference(conversation), text: "", attachments: attachments.map(\.id)))
  }

  private func unlink(_ path: String) {
    do { try FileManager.default.removeItem(atPath: path) } catch { Issue.record("\(error)") }
  }
}

/// Pseudo-random bytes, which occur nowhere else in a store.
func noise(_ count: Int, seed: UInt64) -> [UInt8] {
  var dice = SplitMix64(seed: seed)
  let beginning = (0..<min(count, 1000)).map { _ in UInt8(dice.below(256)) }
  return Array(repeatElement(beginning, count: count / 1000 + 1).joined().prefix(count))
}

extension TemporaryStore {
  var contents: ContentFolder { location.contents }

  /// A store whose messages have attachments: one that was sent twice, one of whole chunks, an empty one, one with all
  /// columns set, and one that was not sent.
  static func carrying(chunk: Int = ContentFolder.chunkBytes) throws -> TemporaryStore {
    let store = try TemporaryStore.filled(messages: 3)
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    let long = try alice.attach(noise(chunk + 17, seed: 1), named: "long.bin")
    try alice.send([long, alice.attach([], named: "empty")], to: "bob")
    try bob.send([long], to: "+ops")
    try bob.send([bob.attach(noise(chunk, seed: 2)), store.voice(by: "bob")], to: "+ops")
    _ = try alice.attach(noise(100, seed: 3), named: "unsent")
    return store
  }

  /// An attachment with all columns set.
  ///
  /// It is inserted directly, because its preparation would need ffmpeg.
  private func voice(by user: Handle) throws -> DMKit.Attachment {
    var voice = DMKit.Attachment(
      id: Identifier(at: .now), kind: .voice, name: "wörd.ogg", mimeType: "audio/ogg", sizeBytes: 900,
      sha256: try install(noise(900, seed: 4)))
    (voice.width, voice.height, voice.duration) = (640, 480, .milliseconds(61_500))
    voice.waveform = noise(DMKit.Attachment.waveformCount, seed: 5)
    voice.thumbnail = DMKit.Attachment.Thumbnail(
      sha256: try install(noise(700, seed: 6)), mimeType: "image/jpeg", sizeBytes: 700, width: 32, height: 24)
    let store = try #require(try Store.open(location))
    let key = try #require(try store.users.key(user))
    _ = try store.write { try store.attachments.insert(voice, by: key, at: .now) }
    return voice
  }

  private func install(_ bytes: [UInt8]) throws -> ContentHash {
    let folder = try WorkFolder(.attachment, in: contents.path)
    let path = "\(folder.path)/content"
    try Data(bytes).write(to: URL(filePath: path))
    let hash = try contentHash(ofFile: path)
    try contents.install(path, as: hash)
    return hash
  }

  /// The content of the attachment with this name.
  func content(named name: String) throws -> ContentHash {
    let hashes = try texts("SELECT hex(sha256) FROM attachment WHERE name = '\(name)'").compactMap { ContentHash($0) }
    return try #require(hashes.first)
  }

  /// Makes the files of contents look older.
  func age(_ hashes: [ContentHash], days: Double) throws {
    for hash in hashes {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -days * 86_400)], ofItemAtPath: contents.path(of: hash))
    }
  }
}
