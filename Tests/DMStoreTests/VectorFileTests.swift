import Foundation
import Testing

@testable import DMModel
@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

struct VectorFileTests {
  private let directory: TemporaryStore
  private let store: Store
  private let user = UserKey(number: 1)

  init() throws {
    directory = try TemporaryStore()
    store = try #require(try Store.open(directory.location))
  }

  private func vector(_ random: inout SplitMix64, _ dimension: Int) -> [Float] {
    (0..<dimension).map { _ in Float(random.below(2001)) / 1000 - 1 }
  }

  private func likeness(_ a: [Float], _ b: [Float]) -> Float {
    func product(_ a: [Float], _ b: [Float]) -> Float { zip(a, b).reduce(0) { $0 + $1.0 * $1.1 } }
    return product(a, b) / (product(a, a) * product(b, b)).squareRoot()
  }

  private func best(_ file: VectorFile, _ query: [Float], _ count: Int, among keys: KeySet? = nil) throws -> [Int64] {
    var found: [Int64] = []
    try VectorReader(file).search(query, among: keys) { match in
      found.append(match.key.number)
      return found.count < count
    }
    return found
  }

  @Test(arguments: [64, 100])
  func `of the ten best messages by exact numbers, a search finds nearly all`(dimension: Int) throws {
    var random = SplitMix64(seed: UInt64(dimension))
    let file = try VectorFile.make(in: store, user, model: "m", dimension: dimension)
    // In three blocks, with gaps. Each is near one of a few hundred centers, as texts about some subjects are.
    let centers = (0..<300).map { _ in vector(&random, dimension) }
    var vectors: [(key: MessageKey, check: UInt64, vector: [Float])] = []
    for number in 1...2000 {
      let noise = vector(&random, dimension)
      let near = zip(centers[number % centers.count], noise).map { $0 + $1 * 0.5 }
      vectors.append((MessageKey(number: Int64(number * 3)), 7, near))
    }
    try file.write(vectors)
    var found = 0
    for _ in 0..<10 {
      let query = vector(&random, dimension)
      let exact = vectors.map { ($0.key.number, likeness($0.vector, query)) }.sorted { $0.1 > $1.1 }.prefix(10).map(\.0)
      found += Set(exact).intersection(try best(file, query, 10)).count
    }
    #expect(found >= 98, "\(found) of 100")
    #expect(try best(file, vector(&random, dimension), .max).count == 2000, "each message comes once")
  }

  @Test func `only the messages of a set are found`() throws {
    var random = SplitMix64(seed: 1)
    let file = try VectorFile.make(in: store, user, model: "m", dimension: 8)
    try file.write((1...5000).map { (MessageKey(number: $0), 7, vector(&random, 8)) })
    var keys = KeySet(upTo: MessageKey(number: 6000))
    for number: Int64 in [17, 4999, 5500] { keys.insert(MessageKey(number: number)) }
    #expect(Set(try best(file, vector(&random, 8), .max, among: keys)) == [17, 4999])
  }

  @Test func `a removed vector is gone from the file, and is computed again`() throws {
    var random = SplitMix64(seed: 2)
    let file = try VectorFile.make(in: store, user, model: "m", dimension: 64)
    let (first, second) = (MessageKey(number: 1), MessageKey(number: 5000))
    for (key, text) in [(first, "a"), (second, "b")] {
      try file.write([(key, VectorFile.check(of: text), vector(&random, 64))])
    }
    #expect(try VectorReader(file).has(second, of: "b") && !VectorReader(file).has(second, of: "a"))
    try store.vectors.remove([second])
    #expect(try VectorReader(file).outdated() == [second])
    #expect(try best(file, vector(&random, 64), .max) == [1])
    let bytes = try #require(FileManager.default.contents(atPath: file.path))
    let start = file.layout.checks(of: 1)
    #expect(bytes[start...].filter { $0 != 0 }.count == 1, "the mark is all that is left of it")
    try file.remove([second], isOutdated: false)
    #expect(try VectorReader(file).outdated().isEmpty)
  }

  @Test func `a file of another store, program, user or number of dimensions is not used`() throws {
    let file = try VectorFile.make(in: store, user, model: "m", dimension: 8)
    #expect(try VectorFile.find(in: store, user, model: "m")?.path == file.path)
    #expect(try VectorFile.find(in: store, user, model: "n") == nil)
    #expect(try VectorFile.find(in: store, UserKey(number: 11), model: "m") == nil)
    let other = try TemporaryStore()
    let otherStore = try #require(try Store.open(other.location))
    try FileManager.default.copyItem(atPath: store.location.vectors, toPath: other.location.vectors)
    #expect(try VectorFile.find(in: otherStore, user, model: "m") == nil)
    _ = try VectorFile.make(in: store, user, model: "m", dimension: 9)
    #expect(try FileManager.default.contentsOfDirectory(atPath: store.location.vectors).count == 1)
  }

  @Test func `a file with any bytes in it gives no error`() throws {
    var random = SplitMix64(seed: 3)
    let file = try VectorFile.make(in: store, user, model: "m", dimension: 64)
    try file.write([(MessageKey(number: 5), 7, vector(&random, 64))])
    var bytes = try #require(FileManager.default.contents(atPath: file.path))
    for index in VectorLayout.headerBytes..<bytes.count { bytes[index] = UInt8(random.below(256)) }
    for count in [bytes.count, bytes.count - 1, VectorLayout.headerBytes + 5, VectorLayout.headerBytes, 20, 0] {
      try bytes.prefix(count).write(to: URL(fileURLWithPath: file.path))
      try VectorReader(file).search(vector(&random, 64), among: nil) { match in
        #expect(-1...1 ~= match.likeness)
        return true
      }
    }
    #expect(try VectorFile.find(in: store, user, model: "m") == nil, "without a header, it is none")
    try store.vectors.remove([MessageKey(number: 5)])
  }
}
