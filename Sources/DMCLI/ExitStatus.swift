package import DMKit

/// The exit status of a program: 0, the numbers of sysexits(3), and 1 if some of the lines, files or messages failed.
package enum ExitStatus: Int32, CaseIterable, Sendable {
  case done = 0
  case someLinesFailed = 1
  case usage = 64
  case badData = 65
  case notFound = 66
  case unknownUser = 67
  case hubUnreachable = 69
  case bug = 70
  case cannotCreate = 73
  case inputOutput = 74
  case busy = 75
  case gap = 76
  case notAllowed = 77
  case badStore = 78

  package init(_ code: DMError.Code) {
    self =
      switch code {
      case .usage: .usage
      case .malformedLine, .invalidUTF8, .lineTooLong, .unfinishedLine, .missingField, .badField, .badReference,
        .badHandle, .badTime, .badCursor, .emptyText, .textTooLong, .badAttachment, .outOfOrder, .refusedByHub:
        .badData
      case .unknownConversation, .ambiguousTitle, .unknownMessage, .unknownAttachment, .unknownConsumer, .unknownFile,
        .unreadableFile, .noDraft, .noStore, .storeReplaced, .noHub:
        .notFound
      case .unknownUser: .unknownUser
      case .internal: .bug
      case .handleTaken, .nameTaken, .nonceConflict, .cannotCreate, .overQuota: .cannotCreate
      case .inputOutput, .readOnlyStore: .inputOutput
      case .busy, .fileChanged: .busy
      case .gap: .gap
      case .notAllowed, .hubRefused, .linkRefused: .notAllowed
      case .hubUnreachable, .modelFailed, .linkFailed: .hubUnreachable
      case .storeTooNew, .storeForeign, .storeDamaged, .networkFileSystem, .hubMismatch, .hubDamaged:
        .badStore
      }
  }
}
