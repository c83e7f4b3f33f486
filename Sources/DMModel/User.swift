/// A person or a bot.
///
/// The handle is the identity and never changes; the rest is a profile.
public struct User: Equatable, Identifiable, Sendable {
  /// The handle, unique in the store.
  public let handle: Handle
  /// The name that other users see; nil if there is none.
  public var displayName: String?
  /// A text of at most 4,096 bytes about the user; nil if there is none.
  public var bio: String?
  /// The address of a picture; nil if there is none.
  public var avatarURL: String?
  /// Whether other users see when the user is online.
  public var showsPresence: Bool
  /// Whether senders see when the user reads their messages.
  public var sendsReadReceipts: Bool
  /// The time when the user was added.
  public let createdAt: Timestamp

  /// The handle.
  public var id: Handle { handle }

  /// Makes a user who is in no store, for example for a preview or a test of a view.
  public init(
    handle: Handle, displayName: String? = nil, bio: String? = nil, avatarURL: String? = nil,
    showsPresence: Bool = true,
    sendsReadReceipts: Bool = true, createdAt: Timestamp
  ) {
    self.handle = handle
    self.displayName = displayName
    self.bio = bio
    self.avatarURL = avatarURL
    self.showsPresence = showsPresence
    self.sendsReadReceipts = sendsReadReceipts
    self.createdAt = createdAt
  }
}

/// A change of a profile: nil leaves a field as it is, an empty string removes it.
public struct ProfileChange: Equatable, Sendable {
  /// The new name that other users see.
  public var displayName: String?
  /// The new text about the user, at most 4,096 bytes.
  public var bio: String?
  /// The new address of a picture.
  public var avatarURL: String?
  /// Whether other users see when the user is online.
  public var showsPresence: Bool?
  /// Whether senders see when the user reads their messages.
  public var sendsReadReceipts: Bool?

  /// Makes a change; a field that is not given stays as it is.
  public init(
    displayName: String? = nil, bio: String? = nil, avatarURL: String? = nil,
    showsPresence: Bool? = nil, sendsReadReceipts: Bool? = nil
  ) {
    self.displayName = displayName
    self.bio = bio
    self.avatarURL = avatarURL
    self.showsPresence = showsPresence
    self.sendsReadReceipts = sendsReadReceipts
  }

  /// Whether the change gives a field of the user's profile another value.
  package func changes(_ user: User) -> Bool {
    let texts = [(displayName, user.displayName), (bio, user.bio), (avatarURL, user.avatarURL)]
    let flags = [(showsPresence, user.showsPresence), (sendsReadReceipts, user.sendsReadReceipts)]
    return texts.contains { new, old in new.map { !$0.utf8.elementsEqual((old ?? "").utf8) } ?? false }
      || flags.contains { new, old in new.map { $0 != old } ?? false }
  }

  /// The maximum numbers of bytes: `line` for a display name and for an avatar's URL, `bio` for a bio.
  package static let limits = (line: 256, bio: 4096)

  package func check() throws {
    for (name, value, limit) in [
      ("display_name", displayName, Self.limits.line), ("avatar_url", avatarURL, Self.limits.line),
      ("bio", bio, Self.limits.bio),
    ] {
      guard let value else { continue }
      guard value.utf8.count <= limit else {
        throw DMError(.badField, "'\(name)' is over \(limit) bytes; shorten it", subject: name)
      }
      guard !value.contains(byte: 0) else {
        throw DMError(.badField, "'\(name)' holds a NUL character; remove it", subject: name)
      }
    }
    if let displayName, let character = invisibleCharacter(in: displayName) {
      throw DMError(
        .badField, "'display_name' has the invisible character \(character) in it; remove it", subject: "display_name")
    }
  }
}

/// The unique name of a user.
///
/// A handle has 1 to 64 bytes without white space, control or bidi characters, `,`, `:` or `/`. A handle does not begin
/// with `@`, `#`, `+` or `-`, and does not look like a UUID.
///
/// Handles are ordered by their bytes.
public struct Handle: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The maximum number of bytes of a handle.
  package static let limit = 64

  private let exact: ExactString
  /// The handle as it was given.
  public var description: String { exact.text }

  /// - Throws: `bad_handle`, with the reason.
  public init(_ text: String) throws(DMError) {
    if let problem = Self.problem(with: text) {
      throw DMError(.badHandle, "cannot use the handle '\(text)': \(problem)", subject: text)
    }
    exact = ExactString(text)
  }

  /// Compares the bytes.
  public static func < (a: Handle, b: Handle) -> Bool {
    a.description.utf8.lexicographicallyPrecedes(b.description.utf8)
  }

  /// Refuses invisible characters in a new handle; older versions of dm accepted them, so stores may contain them.
  ///
  /// - Throws: `bad_handle` if the handle has an invisible character.
  package func checkNew() throws {
    guard let scalar = description.unicodeScalars.first(where: isInvisible) else { return }
    throw DMError(
      .badHandle,
      "cannot use the handle '\(self)': it has the invisible character \(codePoint(scalar)) in it; remove it",
      subject: description)
  }

  /// Takes a handle as it was typed, without a check: if the handle is not valid, looking it up reports why.
  package init(typed text: String) { exact = ExactString(text) }

  /// Takes a handle from the store without a check, because it was checked when it was added.
  package init(stored text: String) { exact = ExactString(text) }

  /// The reason why a text is not a valid handle; nil if it is valid.
  package static func problem(with text: String) -> String? {
    guard let first = text.unicodeScalars.first else { return "it is empty" }
    if text.utf8.count > limit { return "it is over \(limit) bytes" }
    if "@#+-".unicodeScalars.contains(first) { return "it begins with '\(first)'" }
    for scalar in text.unicodeScalars {
      if scalar.properties.isWhitespace { return "it has white space in it" }
      if isHidden(scalar) { return "it has a control or direction character in it" }
      if ",:/".unicodeScalars.contains(scalar) { return "it has '\(scalar)' in it" }
    }
    if Identifier(text) != nil { return "it is shaped like a UUID" }
    return nil
  }
}

/// Whether a character could control a terminal, split a line or reorder the shown text: the C0 and C1 controls, DEL,
/// the line and paragraph separators, the bidi controls and the byte order mark.
package func isHidden(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  case 0...0x1F, 0x7F...0x9F, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
  default: false
  }
}

/// Whether a character is one of the tags, which are a part of some flags, and otherwise invisible to people, but not to
/// language models.
package func isTag(_ scalar: Unicode.Scalar) -> Bool { 0xE0000...0xE007F ~= scalar.value }
