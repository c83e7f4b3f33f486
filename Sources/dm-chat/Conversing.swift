internal import DMCLI
internal import DMKit
internal import DMModel
internal import DMSystem

/// The user's actions in a conversation: sending, searching, and the commands that change something.
struct Conversing {
  let messenger: Messenger
  /// A group is named by its id, because its title can change, and another group can then get that title.
  let conversation: ConversationReference
  private let name: String
  /// The settings with which a carrier is started.
  let settings: Settings
  /// The number of the first message that was unread when the conversation was opened; nil if there was none.
  private(set) var firstUnread: Int?

  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title` or `not_allowed`.
  init(_ messenger: Messenger, _ reference: ConversationReference, _ settings: Settings = Settings()) throws {
    (self.messenger, self.settings) = (messenger, settings)
    if case .direct = reference {
      (conversation, name) = (reference, reference.description)
    } else {
      let found = try messenger.conversation(reference)
      (conversation, name) = (.id(found.id), TextFormat.name(found, for: messenger.identity.handle))
    }
    firstUnread = try existing()?.firstUnreadSeq
  }

  /// The text of an error, with the name of the conversation instead of its id.
  func text(of error: DMError) -> String { error.text.replacing(text: conversation.description, with: name) }

  var pages: Pages { Pages(messenger: messenger, conversation: conversation) }

  /// The conversation; nil for a direct one that does not exist yet.
  ///
  /// - Throws: `unknown_user`, `unknown_conversation` or `ambiguous_title`.
  func existing() throws -> Conversation? {
    do {
      return try messenger.conversation(conversation)
    } catch let error as DMError where error.code == .unknownConversation {
      guard case .direct(let handle) = conversation else { throw error }
      _ = try messenger.user(handle)
      return nil
    }
  }

  /// The typing signal; does nothing if the user may not send messages, for example because they have left the group.
  func shownTyping() throws -> ShownTyping {
    ShownTyping(try unlessRefused { try messenger.typing(in: conversation) }, of: messenger)
  }

  /// - Throws: like `Messenger.send`.
  func send(_ text: String, replyTo number: Int? = nil) throws {
    _ = try messenger.send(Outgoing(to: conversation, text: text, replyTo: number.map(message)))
  }

  func message(_ number: Int) -> MessageReference { .number(number, in: conversation) }

  func reply(_ words: String) throws {
    let (number, text) = Entered.number(words)
    guard let number, !text.isEmpty else { throw usage("write /reply, the number of a message, and your text") }
    try send(text, replyTo: number)
  }

  func edit(_ number: Int, _ text: String) throws {
    try checkOwn(number, "edit")
    try act(.text(text), on: number)
  }

  /// Refuses to change a message that another user has sent.
  ///
  /// - Throws: `not_allowed`.
  func checkOwn(_ number: Int, _ verb: String, _ end: String = "") throws {
    let found = try messenger.messages(in: conversation, [RangeReference(from: number, to: number)]).first
    guard let found, let seq = found.seq, !found.isMine, found.systemKind == nil else { return }
    throw DMError(.notAllowed, "message \(seq) is \(found.sender)'s; you can \(verb) only your own\(end)")
  }

  func delete(_ words: String) throws {
    let (number, rest) = Entered.number(words)
    guard let number, ["", "everyone"].contains(rest) else {
      throw usage("write /delete and the number of a message; with 'everyone' after it, your own goes for all")
    }
    if !rest.isEmpty { try checkOwn(number, "delete", " for everyone") }
    try act(.delete(forEveryone: !rest.isEmpty), on: number)
  }

  /// Reacts to a message with an emoji.
  ///
  /// If the user has already reacted with this emoji, removes the reaction.
  ///
  /// Without a number, reacts to the last message of others.
  func react(_ words: String) throws {
    let parts = words.split(separator: " ").map(String.init)
    let emojis = parts.filter { Int($0) == nil }
    guard emojis.count == 1, let word = emojis.first, parts.count <= 2,
      let number = try parts.compactMap({ Int($0) }).first ?? lastOfOthers()
    else { throw usage("write /react, the number of a message, and an emoji or its short code, such as :tada:") }
    let emoji = isShortCode(word) ? try emoji(of: word) : word
    let me = messenger.identity.handle
    let now = try messenger.messages(in: conversation, [RangeReference(from: number, to: number)]).first
    let isSame = now?.reactions.contains { $0.emoji == emoji && $0.users.contains(me) } == true
    try act(.react(isSame ? nil : emoji), on: number)
  }

  private func lastOfOthers() throws -> Int? { try last { !$0.isMine }?.seq }

  /// The user's last message that has a number and a text; if `limit` is given, the last one before this number.
  ///
  /// The message is read from the store, because the newest messages may not be loaded.
  func lastOwn(before limit: Int? = nil) throws -> Message? {
    try last(before: limit) { $0.isMine && $0.text != nil && $0.systemKind == nil }
  }

  /// The last message that has a number and for which `fits` is true.
  ///
  /// Reads the store page by page, from the end or from `limit` backwards.
  private func last(before limit: Int? = nil, where fits: (Message) -> Bool) throws -> Message? {
    var before = limit
    while true {
      var query = HistoryQuery(conversation)
      query.limit = LoadedMessages.page
      query.before = before.map { .message(.number($0, in: nil)) }
      let history = try messenger.history(query)
      var page: [Message] = []
      while case let batch = try history.next(), !batch.isEmpty { page += batch }
      let numbered = page.filter { $0.seq != nil }
      if let found = numbered.last(where: fits) { return found }
      guard let first = numbered.first?.seq, first > 1 else { return nil }
      before = first
    }
  }

  @discardableResult
  func act(_ act: Edit.Act, on number: Int) throws -> Edit.Outcome? {
    try messenger.edit([Edit(message(number), act)]).first?.get()
  }

  /// - Returns: whether the conversation is muted now.
  func mute() throws -> Bool {
    let isMuted = try messenger.conversation(conversation).mutedUntil != nil
    _ = try messenger.change(isMuted ? .unmuted : .muted(for: nil), in: [conversation])
    return !isMuted
  }
}

/// Returns nil if `body` throws `not_allowed`, for example because the user has left the group.
func unlessRefused<Result>(_ body: () throws -> Result?) throws -> Result? {
  do {
    return try body()
  } catch let error as DMError where error.code == .notAllowed {
    return nil
  }
}

extension Conversing {
  /// The participants in the order of joining.
  ///
  /// - Throws: `unknown_conversation` for a direct conversation that does not exist yet.
  func participants() throws -> [Participant] { try messenger.participants(of: conversation) }

  static let mostFound = 100

  /// The newest messages that match the words, as lines of text with the numbers of the messages, the newest first.
  func search(_ words: String) throws -> [(line: String, number: Int?)] {
    var request = SearchRequest(words)
    request.conversations = [conversation]
    request.newestFirst = true
    request.limit = Self.mostFound
    let results = try messenger.search(request)
    var found: [(Message, Snippet?)] = []
    while case let batch = try results.next(), !batch.isEmpty { found += batch.map { ($0.message, $0.snippet) } }
    return try lines(of: found)
  }

  /// Messages as lines of text, each with the number of its message.
  private func lines(of messages: [(Message, snippet: Snippet?)]) throws -> [(line: String, number: Int?)] {
    if messages.isEmpty { return [] }
    let name = TextFormat.name(try messenger.conversation(conversation), for: messenger.identity.handle)
    var people = People(messenger.identity.handle)
    people.add(try participants())
    return messages.map { (TextFormat.line($0, $1, people, in: name), $0.seq) }
  }

  /// Pins a message for everybody in the conversation, or unpins it.
  ///
  /// - Returns: what was done, because the message may not be on the screen.
  func pin(_ words: String, _ isPinned: Bool) throws -> String {
    let (number, rest) = Entered.number(words)
    guard let number, rest.isEmpty else {
      throw usage("write /\(isPinned ? "pin" : "unpin") and the number of a message")
    }
    guard case .pin(let pin)? = try act(.pin(isPinned), on: number) else { return "" }
    let isOther = pin.user != messenger.identity.handle
    return isOther ? "\(pin.seq) is pinned already, by \(pin.user)" : "\(isPinned ? "pinned" : "unpinned") \(pin.seq)"
  }

  /// The pinned messages as lines of text, the newest pin first.
  func pins() throws -> [(line: String, number: Int?)] {
    if try existing() == nil { return [] }
    return try lines(of: messenger.pins(in: [conversation]).map { ($0, nil) })
  }
}

extension Conversing {
  /// - Parameter progress: called often, with a description of the work.
  func attach(_ words: String, progress: @escaping (String) throws -> Void) throws {
    let path = try Self.path(words)
    if path.isEmpty { throw usage("write /attach and the name of a file") }
    try messenger.checkMaySend(to: conversation)
    let attachment = try messenger.prepare(.file(path), progress: progress).attachment.id
    _ = try messenger.send(Outgoing(to: conversation, text: "", attachments: [attachment]))
  }

  /// The typed path, without the quotes that a terminal puts around the path of a dropped file, as in `'/tmp/a b'`.
  ///
  /// `~/` at the start of the path becomes the home folder.
  static func path(_ words: String) throws -> String {
    var path = words
    while path.last == " " { path.removeLast() }
    for quote in ["'", "\""] where path.count > 1 && path.hasPrefix(quote) && path.hasSuffix(quote) {
      path = String(path.dropFirst().dropLast())
    }
    guard path.hasPrefix("~/"), let home = try environment("HOME") else { return path }
    return home + path.dropFirst()
  }

  /// The files whose paths start with this text; folders end with a slash.
  ///
  /// Leaves out files whose names begin with a dot, unless the name in the text begins with a dot.
  static func files(_ start: String) throws -> [(text: String, label: String)] {
    let folder = start.lastIndex(of: "/").map { String(start[...$0]) } ?? ""
    let name = start.dropFirst(folder.count)
    let names = try names(in: folder.isEmpty ? "." : path(folder), mayBeAbsent: true)
    return try names.filter { $0.hasPrefix(name) && (!$0.hasPrefix(".") || name.hasPrefix(".")) }.sorted().map {
      entry in
      let slash = try FileStatus(path(folder + entry))?.kind == .folder ? "/" : ""
      return (folder + entry + slash, visible(entry) + slash)
    }
  }
}
