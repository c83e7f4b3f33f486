package import DMJSON
internal import DMKit
package import DMModel
internal import DMStore

/// A fault of the store.
package struct FindingRecord: Record, Sendable {
  package let finding: Finding
  package let message: String

  /// - Parameter message: the message of the finding and the text of its remedy.
  package init(_ finding: Finding, message: String) {
    self.finding = finding
    self.message = message
  }

  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "finding")
      json.member("check", finding.check.rawValue)
      json.member("subject", finding.subject)
      json.member("message", message)
    }
  }
}

extension Backup: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "backup")
      json.member("path", path)
      json.member("store_id", storeID)
      json.member("size_bytes", sizeBytes)
      json.member("message_count", messageCount)
      json.member("created_at", createdAt)
      json.member("last_used_at", lastUsedAt)
    }
  }
}

/// The first line of a dump.
struct DumpHeader: Record {
  let schema: Int
  let storeID: Identifier
  let createdAt: Timestamp
  let lastUsedAt: Timestamp?

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "dump")
      json.member("schema", schema)
      json.member("store_id", storeID)
      json.member("created_at", createdAt)
      json.member("last_used_at", lastUsedAt)
    }
  }
}

/// A row of a table, with the values of all its columns.
struct DumpRow: Record {
  let table: DumpedTable
  let values: [SQLiteValue]

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "row")
      json.member("table", table.name)
      json.key("values")
      json.object { json in for (column, value) in zip(table.columns, values) { json.member(column, value) } }
    }
  }
}

/// A chunk of the content of an attachment, in base64.
struct DumpContent: Record {
  let hash: ContentHash
  let number: Int
  let bytes: UnsafeRawBufferPointer

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "content")
      json.member("sha256", hash.description)
      json.member("number", number)
      json.member("bytes", base64(bytes))
    }
  }
}

/// The last line of a dump.
struct DumpEnd: Record {
  let rows: Int
  let contents: Int

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "dump_end")
      json.member("rows", rows)
      json.member("contents", contents)
    }
  }
}

extension Restored: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "restore")
      json.member("store_id", storeID)
      json.member("message_count", messageCount)
      json.member("fault_count", faultCount)
      json.member("restored_at", restoredAt)
    }
  }
}

extension Purged: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "purge")
      json.member("expired_count", expiredCount)
      json.member("changes_count", changesCount)
      json.member("attachments_count", attachmentsCount)
      json.member("contents_count", contentsCount)
      json.member("copies_count", copiesCount)
      json.member("freed_bytes", freedBytes)
      json.member("is_complete", isComplete)
      json.member("last_used_at", lastUsedAt)
    }
  }
}

extension Repaired: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "repair")
      json.member("indexed_count", indexedCount)
      json.member("conversations_count", conversationsCount)
      json.member("participants_count", participantsCount)
      json.member("messages_count", messagesCount)
      json.member("lost_changes_count", lostChangesCount)
      json.member("last_used_at", lastUsedAt)
    }
  }
}

extension Statistics: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "statistics")
      json.member("store_id", storeID)
      json.member("schema", schema)
      json.member("sqlite_version", sqliteVersion)
      json.member("has_wal_reset_bug", hasLogResetFault)
      json.member("database_bytes", databaseBytes)
      json.member("log_bytes", logBytes)
      json.member("free_bytes", freeBytes)
      json.member("contents_count", contentsCount)
      json.member("contents_bytes", contentsBytes)
      json.key("copies")
      json.array { json in for copy in copies { copy.write(to: &json) } }
      json.key("rows")
      json.object { json in
        for (table, count) in rows {
          json.key(name: table)
          json.value(count)
        }
      }
      json.member("oldest_change_at", oldestChangeAt)
      json.key("consumers")
      json.array { json in for consumer in consumers { consumer.write(to: &json) } }
      json.key("upkeep")
      json.array { json in
        for use in upkeep {
          json.object { json in
            json.member("tool", use.tool)
            json.member("used_at", use.usedAt)
          }
        }
      }
    }
  }
}

extension Copy {
  fileprivate func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("path", path)
      json.member("created_at", createdAt)
      json.member("size_bytes", sizeBytes)
      json.member("missing_count", missingCount)
      json.member("senders", texts: senders)
    }
  }
}

extension Statistics.Consumer {
  fileprivate func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("user", user.description)
      json.member("name", name)
      json.member("behind_count", behindCount)
      json.member("used_at", usedAt)
      json.member("warning", warning?.rawValue)
    }
  }
}
