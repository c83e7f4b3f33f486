internal import DMKit

/// Candidates from the store, as the user sees it.
///
/// Reading them marks no messages and creates no store.
///
/// A value is printed only if `visible` does not change it, so that the user sees exactly the text that is inserted. A
/// conversation whose name `visible` would change is offered by its UUID.
struct StoreCandidates {
  private let call: Invocation

  /// The maximum number of conversations, and of users, because TAB must not make the user wait.
  private static let limit = 200
  /// The maximum number of conversations whose names are searched, because TAB must not make the user wait.
  private static let comparedLimit = 2000

  init(_ call: Invocation) {
    self.call = call
    call.isCompletion = true
    do {
      try call.configure()
    } catch {
      // The program will say what is wrong with the file.
      return
    }
  }

  /// Returns no candidates if the store cannot be read, for example because it does not exist.
  private func reading(_ body: (Messenger) throws -> [Candidate]) -> [Candidate] {
    do {
      return try body(try call.messenger())
    } catch {
      return []
    }
  }

  /// The conversations whose names contain the typed text, or all if the text may be the start of a UUID; at most 200, in
  /// the order of `dm-list`.
  func conversations(_ typed: String) -> [Candidate] {
    reading { messenger in
      var query = ListQuery()
      query.archived = .included
      query.limit = Self.limit
      query.newest = Self.comparedLimit
      let name = typed.without("+#@")
      // A word that looks like a part of a UUID is not compared with names.
      let isID = name.utf8.count > 3 && name.allSatisfy { $0.isHexDigit || $0 == "-" }
      if !name.isEmpty, !isID { query.matching = name }
      let found = try messenger.conversations(query)
      let me = messenger.identity.handle
      // A title is ambiguous if several groups have it.
      let titles = Dictionary(found.map { (reference(to: $0, typed, for: me), 1) }, uniquingKeysWith: +)
      return found.map { conversation in
        let reference = reference(to: conversation, typed, for: me)
        let isClear = isShown(reference) && titles[reference] == 1
        let value = isClear ? reference : conversation.id.description
        return Candidate(value: value, meaning: meaning(of: conversation, besides: value))
      }
    }
  }

  /// A reference with the sign that the user has typed: `bob` or `@bob`, `+ops` or `#ops`.
  private func reference(to conversation: Conversation, _ typed: String, for me: Handle) -> String {
    func begins(with sign: Character) -> Bool { typed.utf8.first == sign.utf8.first }
    if let title = conversation.ownName ?? conversation.title { return (begins(with: "#") ? "#" : "+") + title }
    if conversation.isGroup { return conversation.id.description }
    return (begins(with: "@") ? "@" : "") + (conversation.participants.first { $0 != me } ?? me).description
  }

  private func meaning(of conversation: Conversation, besides value: String) -> String {
    let name = conversation.name
    var words = value.without("+#@") == name ? [] : [glimpse(name)]
    if conversation.isGroup { words.append(counted(conversation.participants.count, "person", "people")) }
    if conversation.unreadCount > 0 { words.append("\(conversation.unreadCount) unread") }
    return words.joined(separator: ", ")
  }

  /// Users whose handles are near the typed text in the alphabet.
  ///
  /// Handles that do not begin with the typed text are dropped later: for bash by this program, for other shells by the
  /// shell.
  func people(_ typed: String) -> [Candidate] {
    reading { messenger in
      let name = typed.without("@")
      let sign = name.utf8.count < typed.utf8.count ? "@" : ""
      // A handle that sorts before all handles that begin with the name.
      let start = name.isEmpty ? nil : Handle(typed: String(name.dropLast()))
      return try messenger.users(after: start, limit: Self.limit).map {
        Candidate(value: "\(sign)\($0.handle)", meaning: glimpse($0.displayName ?? ""))
      }.filter { isShown($0.value) }
    }
  }

  func consumers() -> [Candidate] {
    reading { messenger in
      try messenger.consumers().map { Candidate(value: $0.name, meaning: "\($0.behindCount) behind") }
        .filter { isShown($0.value) }
    }
  }

  /// The newest 50 messages of a conversation, newest first.
  ///
  /// The conversation is named by the typed word, as in `bob:4`, or by an earlier word of the command line. The typed
  /// word may also be a range, such as `40..`.
  func messages(_ typed: String) -> [Candidate] {
    reading { messenger in
      let end = typed.lastIndex { ":.".contains($0) }
      let head = end.map { String(typed[...$0]) } ?? ""
      // The number 1 is appended, so that the text can be parsed as a reference or a range.
      let named = try splitReference(head + "1")?.conversation
      guard let conversation = try named ?? (RangeReference(head + "1") == nil ? nil : context()),
        typed.utf8.dropFirst(head.utf8.count).allSatisfy({ 48...57 ~= $0 })
      else { return [] }
      return try messenger.messages(in: conversation, limit: 50).reversed().compactMap { message in
        message.seq.map {
          Candidate(value: "\(head)\($0)", meaning: glimpse(of: message, for: messenger.identity.handle))
        }
      }
    }
  }

  /// The conversation that an operand or an option of the command line names.
  private func context() throws -> ConversationReference? {
    let arguments = call.arguments
    for (index, operand) in arguments.operands.enumerated() {
      let kinds = Completed.all(ofOperand: index, in: arguments.placeholders)
      guard kinds.contains(.conversations) || kinds.contains(.messages) else { continue }
      return try splitReference(operand) == nil ? ConversationReference(operand) : nil
    }
    return try arguments.firstText(ofOptionCompletedBy: .conversations).map { try ConversationReference($0) }
  }

  // MARK: Text

  private func isShown(_ value: String) -> Bool { visible(value).utf8.elementsEqual(value.utf8) }

  private func glimpse(of message: Message, for me: Handle) -> String {
    Mark.without(TextFormat.preview(of: message, for: me, glimpse(message.text ?? ""), isNamed: true))
  }

  /// The beginning of a text, on one line.
  private func glimpse(_ text: String) -> String {
    let limit = 60
    let scalars = text.unicodeScalars
    let start = scalars.prefix(limit).map { $0 == "\n" || $0 == "\t" ? " " : $0 }
    var beginning = String.UnicodeScalarView()
    beginning.append(contentsOf: start)
    return visible(String(beginning)) + (scalars.dropFirst(limit).isEmpty ? "" : "…")
  }
}
