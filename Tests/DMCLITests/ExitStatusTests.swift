import DMKit
import Testing

@testable import DMCLI

struct ExitStatusTests {
  private static let table: [(DMError.Code, Int32)] = [
    (.malformedLine, 65), (.invalidUTF8, 65), (.lineTooLong, 65), (.unfinishedLine, 65), (.missingField, 65),
    (.badField, 65), (.badReference, 65), (.badHandle, 65), (.badTime, 65), (.badCursor, 65), (.emptyText, 65),
    (.textTooLong, 65), (.badAttachment, 65), (.nonceConflict, 73), (.outOfOrder, 65), (.handleTaken, 73),
    (.nameTaken, 73),
    (.unknownConversation, 66), (.ambiguousTitle, 66), (.unknownMessage, 66), (.unknownAttachment, 66),
    (.unknownUser, 67), (.noDraft, 66), (.unknownConsumer, 66), (.unknownFile, 66), (.unreadableFile, 66),
    (.fileChanged, 75), (.storeReplaced, 66), (.gap, 76),
    (.notAllowed, 77), (.usage, 64), (.noStore, 66), (.cannotCreate, 73), (.inputOutput, 74), (.readOnlyStore, 74),
    (.busy, 75),
    (.linkFailed, 69), (.linkRefused, 77), (.hubUnreachable, 69), (.hubRefused, 77), (.hubMismatch, 78),
    (.hubDamaged, 78), (.noHub, 66), (.refusedByHub, 65),
    (.overQuota, 73),
    (.modelFailed, 69),
    (.storeTooNew, 78), (.storeForeign, 78), (.storeDamaged, 78), (.networkFileSystem, 78), (.internal, 70),
  ]

  @Test(arguments: table)
  func `each error code has its exit status`(_ code: DMError.Code, _ status: Int32) {
    #expect(ExitStatus(code).rawValue == status)
  }

  @Test func `the table of exit statuses has every error code`() {
    #expect(Set(Self.table.map(\.0)) == Set(DMError.Code.allCases))
  }

  @Test func `the exit statuses are 0, 1 and those of sysexits`() {
    #expect(ExitStatus.allCases.map(\.rawValue) == [0, 1, 64, 65, 66, 67, 69, 70, 73, 74, 75, 76, 77, 78])
  }

  @Test func `an error that concerns one input line only is not fatal`() {
    let fatal = DMError.Code.allCases.filter(\.isFatal)
    #expect(fatal.filter { [65, 67, 77].contains(ExitStatus($0).rawValue) } == [.hubRefused])
    #expect(!fatal.contains(.unknownConversation) && fatal.contains(.busy) && fatal.contains(.storeTooNew))
  }
}
