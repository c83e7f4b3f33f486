@testable import DMKit
@testable import DMStore
@testable import DMSync
@testable import TestSupport

/// The files of the model of a hub.
struct ModelFiles {
  struct File {
    let owner: Int64
    let size: Int
    var bytes: [UInt8] = []

    var isWhole: Bool { bytes.count == size }
  }

  var files: [Identifier: File] = [:]
  /// The messages of each file.
  var attached: [Identifier: [(conversation: Identifier, rev: Int64)]] = [:]
}

extension ModelHub {
  /// Chunks are small, so that a file of a simulation has many of them.
  static let chunkBytes = 16

  mutating func upload(_ machine: Identifier, _ id: Identifier, size: Int) throws -> FileAnswer {
    let me = try hello(machine).person
    eraseFiles()
    guard let file = files.files[id] else {
      files.files[id] = ModelFiles.File(owner: me, size: size)
      return FileAnswer(isWhole: size == 0)
    }
    guard file.size == size, file.owner == me || file.isWhole && seesFile(id, me) else {
      return FileAnswer(fault: "id_taken")
    }
    return FileAnswer(chunks: file.bytes.count / Self.chunkBytes, isWhole: file.isWhole)
  }

  mutating func put(_ machine: Identifier, _ chunk: [UInt8], _ id: Identifier, number: Int) throws -> FileAnswer {
    let me = try hello(machine).person
    guard let file = files.files[id], file.owner == me else { return FileAnswer(fault: "unknown_attachment") }
    let next = (file.bytes.count + Self.chunkBytes - 1) / Self.chunkBytes
    if number < next { return FileAnswer() }
    guard !file.isWhole, number == next, chunk.count == min(Self.chunkBytes, file.size - file.bytes.count) else {
      return FileAnswer(fault: "bad_request")
    }
    files.files[id]?.bytes += chunk
    return FileAnswer()
  }

  func chunks(_ machine: Identifier, _ id: Identifier, first: Int, count: Int) throws -> [[UInt8]] {
    let me = try hello(machine).person
    guard let file = files.files[id], file.owner == me || seesFile(id, me) else { return [] }
    let offsets = stride(from: first * Self.chunkBytes, to: file.bytes.count, by: Self.chunkBytes).prefix(count)
    return offsets.map { Array(file.bytes[$0..<min($0 + Self.chunkBytes, file.bytes.count)]) }
  }

  func mayAttach(_ ids: [Identifier], _ person: Int64) -> Bool {
    ids.allSatisfy { id in
      files.files[id].map { $0.isWhole && ($0.owner == person || seesFile(id, person)) } == true
    }
  }

  private func seesFile(_ id: Identifier, _ person: Int64) -> Bool {
    (files.attached[id] ?? []).contains { place in
      guard let conversation = conversations[place.conversation], let member = conversation.members[person],
        member.sees.contains(place.rev), let entry = conversation.entry(place.rev)
      else { return false }
      return entry.payload != nil && !entry.hasExpired(Timestamp(microseconds: clock))
    }
  }

  /// Erases each file whose messages were all deleted.
  private mutating func eraseFiles() {
    for (id, places) in files.attached {
      let isUsed = places.contains { conversations[$0.conversation]?.entry($0.rev)?.payload != nil }
      if !isUsed { (files.files[id], files.attached[id]) = (nil, nil) }
    }
  }
}

/// A link to the model, for files.
final class ModelFileLink: FileLink {
  private let hub: SharedHub
  private let machine: Identifier

  init(_ hub: SharedHub, _ machine: Identifier) {
    self.hub = hub
    self.machine = machine
  }

  func open() throws -> HubHello { try hub.model.hello(machine) }
  func upload(_ file: Identifier, size: Int) throws -> FileAnswer { try hub.model.upload(machine, file, size: size) }

  func put(_ chunks: [[UInt8]], of file: Identifier, first: Int) throws -> FileAnswer {
    for (index, chunk) in chunks.enumerated() {
      let answer = try hub.model.put(machine, chunk, file, number: first + index)
      if answer.fault != nil { return answer }
    }
    return FileAnswer()
  }

  func fetch(_ file: Identifier, first: Int, count: Int, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    for chunk in try hub.model.chunks(machine, file, first: first, count: count) { try chunk.withUnsafeBytes(body) }
  }

  func close() {}
}

/// A link to the model, for files, that loses calls and answers, and kills the program.
final class FaultyFileLink: FileLink {
  var faults: Faults
  private let link: ModelFileLink
  private var dice: SplitMix64

  init(_ hub: SharedHub, _ machine: Identifier, seed: UInt64) {
    link = ModelFileLink(hub, machine)
    faults = Faults()
    dice = SplitMix64(seed: seed)
  }

  private func call<T>(_ body: () throws -> T) throws -> T {
    if dice.chance(faults.lostRequest) { throw HubFault.lost("request") }
    let result = try body()
    if dice.chance(faults.kill) { throw Kill() }
    if dice.chance(faults.lostReply) { throw HubFault.lost("reply") }
    return result
  }

  func open() throws -> HubHello { try call(link.open) }
  func upload(_ file: Identifier, size: Int) throws -> FileAnswer { try call { try link.upload(file, size: size) } }

  func put(_ chunks: [[UInt8]], of file: Identifier, first: Int) throws -> FileAnswer {
    // Some of the chunks arrive before the connection is lost.
    if dice.chance(faults.lostReply) {
      _ = try link.put(Array(chunks.prefix(dice.below(chunks.count + 1))), of: file, first: first)
      throw HubFault.lost("reply")
    }
    return try call { try link.put(chunks, of: file, first: first) }
  }

  func fetch(_ file: Identifier, first: Int, count: Int, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    try call {
      try link.fetch(file, first: first, count: count) { chunk in
        if dice.chance(faults.kill) { throw Kill() }
        try body(chunk)
      }
    }
  }

  func close() {}
}
