import DMStore
import DMSystem

@testable import DMKit
@testable import DMMedia
@testable import DMUpkeep

extension RecordsTests {
  /// The records that dm-doctor(1) and dm-export(1) print, with all members or with only the required ones.
  static func upkeepRecords(isFull: Bool) -> [any Record] {
    let last = isFull ? time : nil
    let text = isFull ? "text" : nil
    let content = SHA256().finish()
    let table = DumpedTable(name: "user", columns: ["id", "bio"], key: ["id"])
    let consumer = Statistics.Consumer(user: bob, name: "bot", behindCount: 1, usedAt: time, warning: .late)
    let copy = Copy(path: "p", createdAt: time, sizeBytes: 1, missingCount: 2, senders: ["bob"])
    let exported = Exported(id, .html, path: "bob/page1.html")
    if isFull {
      (exported.user, exported.lastPath) = ("alice", "bob/page2.html")
      (exported.first, exported.last) = (time, time)
    }
    return [
      exported, FindingRecord(Finding(check: .digests, subject: text, message: "m"), message: "m"),
      Backup(path: "p", storeID: id, sizeBytes: 1, messageCount: 2, createdAt: time, lastUsedAt: last),
      DumpHeader(schema: 3, storeID: id, createdAt: time, lastUsedAt: last),
      DumpRow(table: table, values: [.integer(1), isFull ? .text([0x41]) : .null]),
      DumpContent(hash: content, number: 1, bytes: UnsafeRawBufferPointer(start: nil, count: 0)),
      DumpEnd(rows: 1, contents: 1),
      Restored(storeID: id, messageCount: 1, faultCount: 0, restoredAt: time),
      Purged(
        expiredCount: 1, changesCount: 2, attachmentsCount: 3, contentsCount: 4, copiesCount: 6, freedBytes: 5,
        obstacle: isFull ? nil : "r", lastUsedAt: last),
      Repaired(
        indexedCount: 1, conversationsCount: 2, participantsCount: 3, messagesCount: 4, lostChangesCount: 5,
        lastUsedAt: last),
      Statistics(
        storeID: id, schema: 3, sqliteVersion: "3.40.1", hasLogResetFault: isFull, databaseBytes: 1, logBytes: 2,
        freeBytes: 3, contentsCount: 4, contentsBytes: 5, copies: isFull ? [copy] : [],
        rows: isFull ? [("user", 1)] : [], oldestChangeAt: last,
        consumers: isFull ? [consumer] : [],
        upkeep: isFull ? [Upkeep.Use(tool: "check", usedAt: time)] : []),
    ]
  }
}
