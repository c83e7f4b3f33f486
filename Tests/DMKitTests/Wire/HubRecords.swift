import DMStore

@testable import DMKit
@testable import DMPostgres

extension RecordsTests {
  /// The records that dm-sync(1) and dm-hub(8) print, with all members or with only the required ones.
  static func hubRecords(isFull: Bool) -> [any Record] {
    let (last, text) = (isFull ? time : nil, isFull ? "text" : nil)
    return [
      HubStatus(
        state: .live, user: bob, network: .normal, isRunning: true, queuedCount: 1, failedCount: 0,
        oldestQueuedAt: last, attempts: 0, lastSyncAt: last, nextAttemptAt: last, retryAt: last,
        clockOffset: isFull ? 6_000_000 : 5_000_000, fault: text,
        setAside: isFull
          ? [HubStatus.SetAside(id: id, reference: text, code: "hub_damaged")] : []),
      OutboxItem(
        id: 1, act: "say", state: .failed, conversationID: isFull ? id : nil, conversation: text,
        messageID: isFull ? id : nil, text: text, createdAt: time, attempts: 1, notBefore: last, failure: text),
      Transfer(
        direction: isFull ? .upload : .fetch, state: .waiting, name: text, sha256: hash, sizeBytes: 1, doneBytes: 0,
        notBefore: last, fault: text),
      HubInvitation(handle: bob, login: "u_1", token: "dm1:"),
      HubMachine(
        id: Identifier(high: 1, low: 2), label: isFull ? "laptop" : nil, isThis: isFull, isConnected: true,
        joinedAt: Timestamp(microseconds: 1), seenAt: isFull ? Timestamp(microseconds: 2) : nil),
      KeptContents(
        count: 1, bytes: 1, limit: isFull ? 1 : nil, messageCount: 1,
        messageLimit: isFull ? 1 : nil, messageAge: isFull ? 1 : nil),
      HubLogin(
        handle: "bob", login: text, label: text, invitedUntil: last, joinedAt: last, seenAt: last, isDisabled: false),
      HubServer(
        version: 1, serverVersion: 150_000, movedTo: text,
        size: HubServer.Size(
          persons: 1, logins: 1, loginsToday: 1, conversations: 1, entries: 1, bytes: 1, reports: 1),
        load: HubServer.Load(
          connections: 1, allConnections: 1, connectionLimit: 1, oldestWriteSeconds: isFull ? 61 : nil,
          preparedTransactions: 0, noticePercent: 0, lacksStandby: false, standbys: 1, standbySeconds: isFull ? 1 : nil)
      ),
      isFull
        ? HubLimit(act: "say", perMinute: 60, bytesPerHour: 1 << 20, fileBytesPerHour: 1 << 30, bytesPerPerson: 1 << 20)
        : HubLimit(),
      HubErasure(handle: "bob", messages: 1, groups: 1),
      HubFinding(isNote: isFull, text: "x"),
    ]
  }
}
