@testable import DMCLI

/// A text without what only colours show.
func unmarked(_ text: String) -> String {
  String(String.UnicodeScalarView(text.unicodeScalars.filter { !($0.isASCII && Mark.isMark(UInt8($0.value))) }))
}
