internal import DMWire

/// What an author says, which the hub stores without reading it: a JSON object with a version.
///
/// The same value is always written as the same bytes, so that a hub which is told twice recognizes them.
package enum HubPayload: Equatable, Sendable {
  package struct Text: Equatable, Sendable {
    package var text: String?
    package var replyTo: Identifier?
    package var nonce: String?
    package var forwardedFrom: Handle?

    package init(
      text: String?, replyTo: Identifier? = nil, nonce: String? = nil, forwardedFrom: Handle? = nil
    ) {
      self.text = text
      self.replyTo = replyTo
      self.nonce = nonce
      self.forwardedFrom = forwardedFrom
    }

    /// What a message says, with this text instead of its own.
    package init(_ message: Message, text: String) {
      self.init(
        text: text, replyTo: message.replyTo?.id, nonce: message.nonce, forwardedFrom: message.forwardedFrom)
    }
  }

  /// What somebody who is added to a group must know of it.
  package struct Group: Equatable, Sendable {
    package var title: String?
    package var avatarURL: String?
    /// Microseconds.
    package var expireAfter: Int64?
    package var creator: Handle?

    package init(
      title: String? = nil, avatarURL: String? = nil, expireAfter: Int64? = nil, creator: Handle? = nil
    ) {
      self.title = title
      self.avatarURL = avatarURL
      self.expireAfter = expireAfter
      self.creator = creator
    }
  }

  package struct Profile: Equatable, Sendable {
    package var displayName: String?
    package var bio: String?
    package var avatarURL: String?

    package init(displayName: String? = nil, bio: String? = nil, avatarURL: String? = nil) {
      self.displayName = displayName
      self.bio = bio
      self.avatarURL = avatarURL
    }
  }

  case text(Text)
  case reaction(emoji: String?)
  case group(Group)
  case profile(Profile)

  /// The version that this program writes, and the only one that it reads.
  private static let version = 1

  /// The bytes of the object.
  package var bytes: [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.member("v", Self.version)
      switch self {
      case .text(let text):
        json.member("text", text.text)
        if let replyTo = text.replyTo { json.member("reply_to", replyTo) }
        json.member("nonce", text.nonce)
        json.member("forwarded_from", text.forwardedFrom?.description)
      case .reaction(let emoji): json.member("emoji", emoji)
      case .group(let group):
        json.member("title", group.title)
        json.member("avatar_url", group.avatarURL)
        json.member("expire_after", group.expireAfter.map(Int.init))
        json.member("creator", group.creator?.description)
      case .profile(let profile):
        json.member("display_name", profile.displayName)
        json.member("bio", profile.bio)
        json.member("avatar_url", profile.avatarURL)
      }
    }
    return json.bytes
  }

  // MARK: Reading what anybody may have written

  /// The members of a payload; nil if it is not an object of this version.
  private static func members(_ bytes: [UInt8]?) -> JSONObject? {
    guard let bytes, case .success(let object) = Result(catching: { try JSONReader.object(bytes[...]) }),
      object["v"] == .integer(version)
    else { return nil }
    return object
  }

  /// A message; nil if it cannot be read.
  ///
  /// A text that is longer than messages may be is cut, and a nonce or a reference that is none is left out.
  package static func text(_ bytes: [UInt8]?) -> Text? {
    guard let object = members(bytes) else { return nil }
    var text = Text(text: object.text("text").map(cut))
    text.replyTo = object.text("reply_to").flatMap { Identifier($0) }
    text.nonce = object.text("nonce").flatMap { nonce in isFit { try Outgoing.check(nonce: nonce) } ? nonce : nil }
    text.forwardedFrom = handle(object.text("forwarded_from"))
    return text.text?.isEmpty != false ? nil : text
  }

  private static func handle(_ text: String?) -> Handle? {
    guard let text, case .success(let handle) = Result(catching: { try Handle(text) }) else { return nil }
    return handle
  }

  /// A reaction, nil for none or for one that cannot be read.
  package static func emoji(_ bytes: [UInt8]?) -> String? {
    guard let emoji = members(bytes)?.text("emoji"), isFit({ try Edit.check(emoji: emoji) }) else { return nil }
    return emoji
  }

  /// What is known of a group; what cannot be read of it is nil.
  package static func group(_ bytes: [UInt8]?) -> Group {
    guard let object = members(bytes) else { return Group() }
    var group = Group()
    group.title = object.text("title").flatMap { title in isFit { try checkTitle(title) } ? title : nil }
    group.avatarURL = object.text("avatar_url").flatMap { url in
      isFit { try ProfileChange(avatarURL: url).check() } ? url : nil
    }
    if case .integer(let lifetime)? = object["expire_after"] { group.expireAfter = HubLimits.lifetime(Int64(lifetime)) }
    group.creator = handle(object.text("creator"))
    return group
  }

  package static func profile(_ bytes: [UInt8]?) -> Profile {
    guard let object = members(bytes) else { return Profile() }
    func field(_ name: String, _ change: (String) -> ProfileChange) -> String? {
      object.text(name).flatMap { text in isFit { try change(text).check() } ? text : nil }
    }
    return Profile(
      displayName: field("display_name") { ProfileChange(displayName: $0) },
      bio: field("bio") { ProfileChange(bio: $0) },
      avatarURL: field("avatar_url") { ProfileChange(avatarURL: $0) })
  }

  private static func isFit(_ check: () throws -> Void) -> Bool {
    if case .success = Result(catching: check) { true } else { false }
  }

  /// The text as far as a message may be long, without what no message may have.
  private static func cut(_ text: String) -> String {
    guard text.utf8.count > Outgoing.textLimit else { return text }
    var end = text.utf8.index(text.startIndex, offsetBy: Outgoing.textLimit)
    // Not within a character.
    while text.utf8[end] & 0xC0 == 0x80 { end = text.utf8.index(before: end) }
    return String(text[..<end])
  }
}

extension JSONObject {
  fileprivate func text(_ name: String) -> String? {
    if case .string(let text)? = self[name] { text } else { nil }
  }
}

/// What numbers of a hub may be; those beyond are clamped, because a hostile member may have chosen them.
package enum HubLimits {
  /// A lifetime in microseconds: from one second to 366 days.
  package static func lifetime(_ microseconds: Int64) -> Int64 {
    min(max(microseconds, 1_000_000), 366 * 86_400_000_000)
  }
}
