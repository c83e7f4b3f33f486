internal import CSQLite
internal import DMModel

extension DMError {
  /// Makes an error for a result code of SQLite, with a text that tells the user what the code means
  /// (sqlite.org/rescode.html).
  package init(sqlite code: Int32, detail: String) {
    switch code & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
      self.init(.busy, "the store is busy; try again")
    case SQLITE_NOTADB:
      self.init(.storeForeign, "that is no store of dm: its dm.sqlite is not a database", remedy: .nameStore)
    case SQLITE_CORRUPT where detail.contains(text: "constructor failed: search"):
      self.init(.storeDamaged, "the search index is damaged", remedy: .repair)
    case SQLITE_CORRUPT:
      self.init(.storeDamaged, "the store is damaged (\(detail)); restore a backup")
    case SQLITE_CONSTRAINT:
      self.init(
        .storeDamaged, "\(Self.misfit) (\(detail))", remedy: .checkDeeply)
    case SQLITE_ERROR where detail.contains(text: "integer overflow"):
      self.init(.storeDamaged, "the store is damaged: it names numbers that are too large", remedy: .check)
    case SQLITE_ERROR where !ownFaults.contains { detail.contains(text: $0) }:
      self.init(
        .storeDamaged, "the store is damaged: its schema is not what dm makes (\(detail))", remedy: .check)
    case SQLITE_FULL:
      self.init(.inputOutput, "the disk is full; nothing was written: free some space and try again")
    case SQLITE_READONLY:
      self.init(.readOnlyStore, "the store cannot be written to; look at the permissions of its folder")
    case SQLITE_CANTOPEN:
      self.init(.inputOutput, "cannot open the store's files; if it is read-only, open it once where it can be written")
    case SQLITE_IOERR:
      self.init(.inputOutput, "cannot read or write the store (\(detail)); nothing was acknowledged: try again")
    default:
      self.init(.internal, "unexpected answer \(code) of SQLite: \(detail)")
    }
  }

  private static let misfit = "the store is damaged: its rows do not fit"

  /// Whether the error means that SQLite refused a row because it violates a constraint of the schema.
  ///
  /// The rest of the store may be intact.
  package var isMisfit: Bool { code == .storeDamaged && message.hasPrefix(Self.misfit) }
}

/// Parts of SQLite's messages for statements that would fail with any schema.
///
/// The tests run all our statements, and so show that the statements match our schema. Therefore any other message
/// means that the database has another schema.
private let ownFaults = ["syntax error", "incomplete input", "within a transaction", "no transaction is active"]
