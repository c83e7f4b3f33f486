@testable import DMKit

/// The expected read marks of one conversation, as plain sets of message numbers.
struct ReadModel {
  var senders: [String] = []
  /// The announcements, which are never unread.
  var announced: Set<Int> = []
  var read: [String: Set<Int>] = [:]
  /// By reader, the messages with a receipt, each with the number of the act that gave the receipt.
  var receipts: [String: [Int: Int]] = [:]
  var delivered: [String: Int] = [:]

  var last: Int { senders.count }

  mutating func send(_ user: String) {
    senders.append(user)
    read[user, default: []].insert(last)
  }

  /// Adds an announcement, which counts as read by all.
  mutating func announce(_ user: String, to users: [String]) {
    senders.append(user)
    announced.insert(last)
    for user in users { read[user, default: []].insert(last) }
  }

  func own(_ user: String) -> Set<Int> { Set((1...max(last, 1)).filter { $0 <= last && senders[$0 - 1] == user }) }

  func unread(_ user: String) -> [Int] {
    last == 0 ? [] : (1...last).filter { read[user]?.contains($0) != true }
  }

  /// - Returns: what changed.
  mutating func mark(_ wanted: Set<Int>, _ user: String, act: Int) -> Set<Int> {
    let changed = wanted.subtracting(read[user] ?? [])
    read[user, default: []].formUnion(wanted)
    if let lower = changed.min(), let upper = changed.max() {
      for seq in wanted where (lower...upper).contains(seq) && receipts[user]?[seq] == nil {
        receipts[user, default: [:]][seq] = act
      }
    }
    return changed
  }

  /// - Returns: what changed.
  mutating func unmark(_ wanted: Set<Int>, _ user: String) -> Set<Int> {
    let changed = wanted.intersection(read[user] ?? []).subtracting(own(user)).subtracting(announced)
    read[user]?.subtract(changed)
    return changed
  }

  func status(_ seq: Int) -> Message.Status {
    let sender = senders[seq - 1]
    if receipts.contains(where: { $0.key != sender && $0.value[seq] != nil }) { return .read }
    return delivered.contains { $0.key != sender && $0.value >= seq } ? .delivered : .sent
  }

  /// The users who have read a message, each with the number of the act, oldest first.
  func readers(_ seq: Int) -> [(user: String, act: Int)] {
    receipts.compactMap { user, acts in acts[seq].map { (user, $0) } }
      .filter { $0.user != senders[seq - 1] }.sorted { $0.act < $1.act }
  }

  static func ranges(_ numbers: Set<Int>) -> [[Int64]] {
    var result: [[Int64]] = []
    for number in numbers.sorted() {
      if let last = result.last, last[1] + 1 == number {
        result[result.count - 1][1] = Int64(number)
      } else {
        result.append([Int64(number), Int64(number)])
      }
    }
    return result
  }
}
