internal import DMCLI
internal import DMKit

extension Listing {
  /// Whether the list stands on a terminal, and is drawn again when it changes.
  var redraws: Bool {
    get throws {
      try !call.arguments[DMList.count] && !call.isJSON && !call.isQuiet && call.screen().rows != nil
    }
  }

  func redraw() throws {
    var fitting = query
    fitting.limit = try min(query.limit ?? .max, max(1, (call.screen().rows ?? 1) - 1))
    let list = try messenger.conversations(fitting)
    try call.output.write(Screen.clearing)
    shown = [:]
    for conversation in list { try print(conversation) }
  }
}
