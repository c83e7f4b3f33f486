internal import DMCLI
internal import DMKit
internal import DMUpkeep

/// The records of `dm-doctor` as text for people.
enum UpkeepText {
  static func line(_ record: FindingRecord) -> String {
    let subject = record.finding.subject.map { "\(visible($0)): " } ?? ""
    return "\(record.finding.check.rawValue): \(subject)\(visible(record.message, indent: "  "))"
  }

  static func line(_ backup: Backup) -> String {
    "\(visible(backup.path)): \(counted(backup.messageCount, "message")), \(TextFormat.size(backup.sizeBytes))\(before(backup.lastUsedAt))"
  }

  static func line(_ restored: Restored) -> String {
    let faults = restored.faultCount
    return "restored \(counted(restored.messageCount, "message"))"
      + (faults > 0
        ? ", with \(counted(faults, "fault")) that cause no harm; see dm-doctor check --deep" : "")
  }

  static func line(_ purged: Purged) -> String {
    """
    removed \(counted(purged.expiredCount, "expired message")), \(counted(purged.changesCount, "old change")), \
    \(counted(purged.attachmentsCount, "unsent attachment")), \(counted(purged.contentsCount, "content")) and \
    \(counted(purged.copiesCount, "old copy", "old copies")), freed \
    \(TextFormat.size(purged.freedBytes))\(before(purged.lastUsedAt))
    """
  }

  static func line(_ repaired: Repaired) -> String {
    let loss = repaired.lostChangesCount
    return """
      indexed \(counted(repaired.indexedCount, "message")); corrected \(counted(repaired.conversationsCount, "conversation")), \
      \(counted(repaired.participantsCount, "participant")) and \(counted(repaired.messagesCount, "message"))\
      \(loss > 0 ? "; lost \(counted(loss, "change")), and the change log continues after that" : "")\
      \(before(repaired.lastUsedAt))
      """
  }

  static func lines(_ statistics: Statistics) -> String {
    let fault =
      statistics.hasLogResetFault ? ", which has the WAL-reset bug: let nothing but dm write to the store" : ""
    var lines = [
      "store     \(statistics.storeID), schema \(statistics.schema)",
      "SQLite    \(statistics.sqliteVersion)\(fault)",
      "database  \(TextFormat.size(statistics.databaseBytes)), of which \(TextFormat.size(statistics.freeBytes)) free",
      "log       \(TextFormat.size(statistics.logBytes))",
      "contents  \(statistics.contentsCount), \(TextFormat.size(statistics.contentsBytes))",
    ]
    if let oldest = statistics.oldestChangeAt { lines.append("changes   since \(TextFormat.dateAndTime(oldest))") }
    for copy in statistics.copies {
      let senders = copy.senders.map { visible($0) }.joined(separator: ", ")
      let missing =
        copy.missingCount > 0 ? "; \(counted(copy.missingCount, "message")) of \(senders) missing here" : ""
      lines.append(
        "copy      \(visible(copy.path)), \(TextFormat.dateAndTime(copy.createdAt)), \(TextFormat.size(copy.sizeBytes))\(missing)"
      )
    }
    for (table, count) in statistics.rows where count > 0 { lines.append("rows      \(visible(table)) \(count)") }
    for consumer in statistics.consumers {
      let name = "\(visible(consumer.user.description))/\(visible(consumer.name))"
      let warning = consumer.warning.map { ", \($0.rawValue)" } ?? ""
      let used = TextFormat.dateAndTime(consumer.usedAt)
      lines.append("consumer  \(name) \(consumer.behindCount) behind, used \(used)\(warning)")
    }
    for use in statistics.upkeep {
      lines.append("used      \(visible(use.tool)) \(TextFormat.dateAndTime(use.usedAt))")
    }
    return lines.joined(separator: "\n")
  }

  /// A warning about a consumer, which also says what the user must do; nil if no warning is needed.
  static func warning(_ consumer: Statistics.Consumer) -> String? {
    let name = "the consumer '\(consumer.name)' of '\(consumer.user)'"
    let forget = "forget it with 'dm-tail --as \(consumer.user) --forget \(consumer.name)'"
    switch consumer.warning {
    case nil: return nil
    case .late:
      return
        "\(name) is over 30 days behind; the log keeps what it needs until 90 days after its last use: start it, or \(forget)"
    case .gap: return "what \(name) was to get next is no longer in the log; start it with --accept-gap, or \(forget)"
    }
  }

  /// The time when a tool was last used, to append to its result.
  static func before(_ time: Timestamp?) -> String { time.map { "; used last \(TextFormat.dateAndTime($0))" } ?? "" }
}
