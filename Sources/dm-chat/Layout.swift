internal import DMCLI
internal import DMKit

/// How texts and messages become rows of the screen.
struct Layout {
  /// Of a size that does not change.
  let screen: Screen
  let me: Handle

  var width: Int { screen.columns ?? 80 }
  var height: Int { screen.rows ?? 24 }

  func rows(of text: String) -> [[UInt8]] { screen.rows(of: text) }

  /// A message as dm-tail prints it.
  func rows(of message: Message) -> [[UInt8]] { rows(of: TextFormat.line(message, for: me)) }
}
