package import DMKit

/// How the lines of a page name and color users.
///
/// Messages of the reader are from `you`. A user has the handle beside their display name wherever somebody else could be
/// meant by the name.
package struct People {
  /// The reader.
  package let me: Handle
  /// The look of each participant, in the order of joining.
  private var looks: [Handle: Int] = [:]
  private var displayNames: [Handle: String] = [:]
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
      _ = learn(participant.handle, participant.displayName)
    }
  }

  /// Learns the name of a user.
  ///
  /// - Returns: whether another user has a like name, and was the only one with it.
  @discardableResult
  package mutating func learn(_ user: Handle, _ displayName: String?) -> Bool {
    displayNames[user] = displayName
    var isNew = false
    for name in [user.description, shortName(displayName, of: user)].compactMap(\.self) {
      let compared = Self.compared(name)
      switch bearers[compared] {
      case .none: bearers[compared] = user
      case .some(let bearer):
        if let bearer, bearer != user {
          bearers[compared] = .some(nil)
          isNew = true
        }
      }
    }
    return isNew
  }

  /// The look of a user: those of participants are in the order of joining, those of others depend on the handle.
  func look(of user: Handle) -> Int { looks[user] ?? Mark.look(of: user.description) }

  /// A text in the look of a user.
  func colored(_ user: Handle, _ text: String) -> String { Mark.person(look(of: user), text) }

  /// The name of a user within a line: `you`, a display name, or a handle.
  func name(of user: Handle, _ displayName: String?? = nil) -> String {
    if user == me { return "you" }
    let displayName = displayName ?? displayNames[user]
    guard let name = shortName(displayName, of: user), !isAmbiguous(name) else { return unmistakable(user) }
    return Mark.body(name)
  }

  /// The sender of a message at the beginning of a line: the name, and after it in parentheses the handle, if it is
  /// needed, and the marks.
  ///
  /// - Parameter isIntroduced: whether the line has the handle in any case.
  func sender(of message: Message, isIntroduced: Bool, _ marks: [String]) -> String {
    let user = message.sender
    if user == me { return colored(user, "you") + TextFormat.noted(marks) }
    guard let name = shortName(message.senderName, of: user) else {
      return colored(user, unmistakable(user)) + TextFormat.noted(marks)
    }
    let needsHandle = isIntroduced || isAmbiguous(name)
    return colored(user, Mark.body(name)) + TextFormat.noted((needsHandle ? [unmistakable(user)] : []) + marks)
  }

  /// A handle within a line; `you` for the reader.
  func handle(_ user: Handle) -> String { user == me ? "you" : unmistakable(user) }

  /// A handle; with an @ before it if it could be taken for the reader's `you`.
  private func unmistakable(_ user: Handle) -> String {
    let isYou = Self.compared(user.description) == Self.compared("you")
    return (isYou ? "@" : "") + TextFormat.handle(user)
  }

  private func isAmbiguous(_ name: String) -> Bool {
    if case .some(nil) = bearers[Self.compared(name)] { true } else { false }
  }

  /// A display name as lines show it; nil if it equals the handle.
  private func shortName(_ displayName: String?, of user: Handle) -> String? {
    TextFormat.plainName(displayName, of: user).map { cut($0, Self.width) }
  }

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
