package import DMKit

/// How the lines of a page name and color users.
///
/// Messages of the reader are from `you`. A user has the handle beside their display name wherever somebody else could be
/// meant by the name.
package struct People {
  /// A user as lines show them.
  private struct Shown {
    let displayName: String?
    /// The display name, or else the handle; `you` for the reader.
    let name: String
    /// The display name in the form in which names are compared; nil if the name is the handle.
    let compared: String?
    let handle: String
    /// The name in the user's look.
    let colored: String
    /// The day of the last line that had the handle beside the name.
    var day = ""
  }

  /// The reader.
  package let me: Handle
  /// The look of each participant, in the order of joining.
  private var looks: [Handle: Int] = [:]
  private var shown: [Handle: Shown] = [:]
  /// The first user with each name, in the form in which names are compared; nil for several users.
  private var bearers: [String: Handle?]

  package init(_ me: Handle) {
    self.me = me
    bearers = [Self.compared("you"): nil]
  }

  /// Adds the participants of a conversation, in the order of joining: the first twelve have twelve looks.
  package mutating func add(_ participants: [Participant]) {
    for participant in participants {
      if looks[participant.handle] == nil { looks[participant.handle] = looks.count }
      learn(participant.handle, participant.displayName)
    }
  }

  /// Learns the name of a user.
  package mutating func learn(_ user: Handle, _ displayName: String?) {
    if let old = shown[user], old.displayName == displayName { return }
    let made = made(user, displayName)
    shown[user] = made
    for name in [Self.compared(user.description), made.compared].compactMap(\.self) {
      let bearer = bearers[name, default: user]
      bearers[name] = .some(bearer == user ? user : nil)
    }
  }

  /// Learns the name of the sender of a message.
  ///
  /// - Returns: whether this is the first message of the sender on this day.
  mutating func introduces(_ message: Message, on day: String) -> Bool {
    let user = message.sender
    learn(user, message.senderName)
    guard let index = shown.index(forKey: user), shown.values[index].day != day else { return false }
    shown.values[index].day = day
    return true
  }

  private func made(_ user: Handle, _ displayName: String?) -> Shown {
    let compared = Self.compared(user.description)
    // With an @, the handle cannot be taken for the reader's `you`.
    let handle = (compared == Self.compared("you") ? "@" : "") + TextFormat.handle(user)
    let own = TextFormat.plainName(displayName, of: user).map { cut($0, Self.width) }
    let name = user == me ? "you" : own.map(Mark.body) ?? handle
    return Shown(
      displayName: displayName, name: name, compared: own.map(Self.compared), handle: handle,
      colored: colored(user, name))
  }

  private func shown(_ user: Handle, _ displayName: String?) -> Shown {
    if let learned = shown[user], learned.displayName == displayName { return learned }
    return made(user, displayName)
  }

  private func isAmbiguous(_ user: Shown) -> Bool {
    guard let name = user.compared, case .some(nil) = bearers[name] else { return false }
    return true
  }

  /// The look of a user: those of participants are in the order of joining, those of others depend on the handle.
  func look(of user: Handle) -> Int { looks[user] ?? Mark.look(of: user.description) }

  /// A text in the look of a user.
  func colored(_ user: Handle, _ text: String) -> String { Mark.person(look(of: user), text) }

  /// The name of a user within a line: `you`, a display name, or a handle.
  ///
  /// - Parameter displayName: nil for the name that was learned.
  func name(of user: Handle, _ displayName: String? = nil) -> String {
    if user == me { return "you" }
    let shown = displayName == nil ? shown[user] ?? made(user, nil) : shown(user, displayName)
    return isAmbiguous(shown) ? shown.handle : shown.name
  }

  /// The sender of a message at the beginning of a line: the name, and after it in parentheses the handle, if it is
  /// needed, and the marks.
  ///
  /// - Parameter isIntroduced: whether the line has the handle in any case.
  func sender(of message: Message, isIntroduced: Bool, _ marks: [String]) -> String {
    let user = message.sender
    let shown = shown(user, message.senderName)
    let needsHandle = shown.compared != nil && user != me && (isIntroduced || isAmbiguous(shown))
    return shown.colored + TextFormat.noted(needsHandle ? [shown.handle] + marks : marks)
  }

  /// A handle within a line; `you` for the reader.
  func handle(_ user: Handle) -> String { user == me ? "you" : (shown[user] ?? made(user, nil)).handle }

  /// The maximum number of columns of a name.
  private static let width = 24

  /// A name without what readers hardly tell apart: case, punctuation, and letters of other scripts that look like Latin
  /// ones.
  static func compared(_ name: String) -> String {
    var result = ""
    for character in name.lowercased() where character.isLetter || character.isNumber {
      let scalars = character.unicodeScalars
      let latin = scalars.count == 1 ? scalars.first.flatMap { latinLetters[$0] } : nil
      result.append(latin.map(Character.init) ?? character)
    }
    return result.isEmpty ? name : result
  }

  /// Cyrillic and Greek letters, and digits, that look like Latin letters in most fonts (from the table of
  /// UTS #39).
  private static let latinLetters: [Unicode.Scalar: Unicode.Scalar] = Dictionary(
    uniqueKeysWithValues: zip(
      "аеорсухіјѕһԁԛԝьвкмнтгαοριυνκτ01".unicodeScalars, "aeopcyxijshdqwbbkmhtraopiuvktol".unicodeScalars))
}

/// A participant of a conversation, with the name that they have given themselves.
package typealias Participant = (handle: Handle, displayName: String?)
