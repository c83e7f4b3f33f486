@testable import DMCLI

/// A text without the bytes that stand for colors and other marks.
func unmarked(_ text: String) -> String {
  String(String.UnicodeScalarView(text.unicodeScalars.filter { !($0.isASCII && Mark.isMark(UInt8($0.value))) }))
}
