import DMStore
import FoundationEssentials
import Testing

@testable import DMKit
@testable import DMSystem
@testable import StoreSupport
@testable import TestSupport

struct LiveFolderTests {
  private static let id = Identifier(high: 0x019a_c5f2_0a3b_7c4d, low: 0x8e5f_0123_4567_89ab)
  private static let handles = [
    "bob", "b", "bob.smith", ".bob", "bob.", "a..b", "typing.x", "present.bob", "ren\u{E9}", "rene\u{301}", "漢字",
    "😀", "\u{1F468}\u{200D}\u{1F469}", "=", "'", "\"", "\\", "*", "$(x)",
    String(repeating: "x", count: 64),
  ]

  private func folder() throws -> (TemporaryStore, LiveFolder) {
    let store = try TemporaryStore()
    let folder = LiveFolder(path: store.location.live)
    folder.make()
    return (store, folder)
  }

  private func put(_ name: String, in folder: LiveFolder) throws {
    try Data().write(to: URL(filePath: "\(folder.path)/\(name)"))
  }

  /// Sets the time of a signal's file to a number of seconds before now.
  private func age(_ signal: LiveFolder.Signal, in folder: LiveFolder, seconds: Int) throws {
    try setAge(of: "\(folder.path)/\(signal.name)", seconds: seconds)
  }

  @Test(arguments: handles)
  func `a signal is read back from its file name`(_ handle: String) throws {
    let user = try Handle(handle)
    for signal in [LiveFolder.Signal.typing(Self.id, user), .present(user)] {
      #expect(LiveFolder.Signal(signal.name) == signal)
    }
  }

  @Test(arguments: ["\u{301}x", "\u{200D}", "\u{FE0F}bob"])
  func `a handle that begins with a joiner or combining mark is read completely`(_ handle: String) throws {
    let user = try Handle(handle)
    #expect(LiveFolder.Signal("present.\(handle)") == .present(user))
    #expect(LiveFolder.Signal("typing.\(Self.id).\(handle)") == .typing(Self.id, user))
  }

  @Test func `the file names of signals keep their format`() {
    #expect(LiveFolder.Signal.present(Handle(stored: "bob")).name == "present.bob")
    #expect(
      LiveFolder.Signal.typing(Self.id, Handle(stored: "bob")).name == "typing.019ac5f2-0a3b-7c4d-8e5f-0123456789ab.bob"
    )
  }

  @Test(arguments: [
    "", ".", "..", "present", "present.", "present", "typing", "typing.", "consumer.1", "bob", "Present.bob",
    "typing.bob", "typing.019ac5f2-0a3b-7c4d-8e5f-0123456789ab", "typing.019ac5f2-0a3b-7c4d-8e5f-0123456789ab.",
    "typing.019ac5f2-0a3b-7c4d-8e5f-0123456789a.bob", "typing.019ac5f2x0a3b-7c4d-8e5f-0123456789ab.bob",
    "present.@bob", "present.a b", "present.a:b", "present.a\u{202E}", "present.a\u{7}",
    "present.019ac5f2-0a3b-7c4d-8e5f-0123456789ab",
    "typing.019ac5f2-0a3b-7c4d-8e5f-0123456789ab.019ac5f2-0a3b-7c4d-8e5f-0123456789ab",
    "present.\(String(repeating: "x", count: 65))",
  ])
  func `a file name of another format is not a signal`(_ name: String) { #expect(LiveFolder.Signal(name) == nil) }

  @Test func `given signals are listed, and withdrawn ones are not`() throws {
    let (store, folder) = try folder()
    let signals = Self.handles.flatMap { handle in
      [LiveFolder.Signal.typing(Self.id, Handle(stored: handle)), .present(Handle(stored: handle))]
    }
    for signal in signals { folder.give(signal) }
    let found = folder.signals()
    for signal in signals {
      #expect(found[signal] != nil, "\(signal)")
      #expect(folder.time(of: signal) == found[signal], "\(signal)")
    }
    #expect(found.count == signals.count)
    for signal in signals.dropFirst() { folder.takeBack(signal) }
    #expect(Array(folder.signals().keys) == [signals[0]])
    withExtendedLifetime(store) {}
  }

  @Test func `other files in the folder are ignored and kept`() throws {
    let (store, folder) = try folder()
    let names = ["README", "consumer.1", "typing.bob", "present.a:b", "core.123", ".present", "present.bob~ "]
    for name in names { try put(name, in: folder) }
    try FileManager.default.createDirectory(atPath: "\(folder.path)/sub", withIntermediateDirectories: false)
    #expect(folder.signals().isEmpty)
    folder.clear(folder.signals(), now: Timestamp(microseconds: Timestamp.now.microseconds * 2))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == names.count + 1)
    withExtendedLifetime(store) {}
  }

  @Test func `typing files older than a day are deleted, and presence files are kept`() throws {
    let (store, folder) = try folder()
    let (typing, present) = (
      LiveFolder.Signal.typing(Self.id, Handle(stored: "bob")), LiveFolder.Signal.present(Handle(stored: "bob"))
    )
    for signal in [typing, present] {
      folder.give(signal)
      try age(signal, in: folder, seconds: 86_390)
    }
    folder.clear(folder.signals())
    #expect(folder.signals().count == 2)
    for signal in [typing, present] { try age(signal, in: folder, seconds: 86_410) }
    folder.clear(folder.signals())
    #expect(Array(folder.signals().keys) == [present])
    #expect(folder.time(of: typing) == nil)
    withExtendedLifetime(store) {}
  }

  @Test func `a repeated signal has a later time`() throws {
    let (store, folder) = try folder()
    let signal = LiveFolder.Signal.present(Handle(stored: "bob"))
    folder.give(signal)
    try age(signal, in: folder, seconds: 60)
    let before = try #require(folder.time(of: signal))
    folder.give(signal)
    #expect(try #require(folder.time(of: signal)).microseconds - before.microseconds > 50_000_000)
    withExtendedLifetime(store) {}
  }

  @Test func `a missing folder holds no signals, and the first signal creates it`() throws {
    let store = try TemporaryStore()
    let folder = LiveFolder(path: store.location.live)
    #expect(folder.signals().isEmpty)
    #expect(folder.time(of: .present(Handle(stored: "bob"))) == nil)
    folder.takeBack(.present(Handle(stored: "bob")))
    folder.give(.present(Handle(stored: "bob")))
    #expect(folder.signals().count == 1)
  }

  @Test func `a symbolic link with the name of a signal file is not followed`() throws {
    let (store, folder) = try folder()
    let target = "\(store.location.directory)/target"
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder.path)/present.bob", withDestinationPath: target)
    folder.give(.present(Handle(stored: "bob")))
    #expect(!FileManager.default.fileExists(atPath: target))
  }
}
