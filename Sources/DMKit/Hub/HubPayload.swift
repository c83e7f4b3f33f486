internal import DMJSON
internal import DMMedia
package import DMStore

/// The part of an operation that the hub does not read: a JSON object with a version.
///
/// Equal values are always written as equal bytes, so that the hub recognizes an operation that is pushed again.
package enum HubPayload: Equatable, Sendable {
  package struct Text: Equatable, Sendable {
    package var text: String?
    package var replyTo: Identifier?
    package var nonce: String?
    package var forwardedFrom: Handle?
    package var attachments: [HubAttachment]
    package var preview: LinkPreviews.Placed?

    package init(
      text: String?, replyTo: Identifier? = nil, nonce: String? = nil, forwardedFrom: Handle? = nil,
      attachments: [HubAttachment] = [], preview: LinkPreviews.Placed? = nil
    ) {
      self.text = text
      self.replyTo = replyTo
      self.nonce = nonce
      self.forwardedFrom = forwardedFrom
      self.attachments = attachments
      self.preview = preview
    }

    /// The payload of a message, with the given text, attachments and preview in place of its own.
    package init(
      _ message: Message, text: String?, attachments: [HubAttachment], preview: LinkPreviews.Placed?
    ) {
      self.init(
        text: text, replyTo: message.replyTo?.id, nonce: message.nonce, forwardedFrom: message.forwardedFrom,
        attachments: attachments, preview: preview)
      dropStrayPreview()
    }

    /// Removes the preview if the text does not have its link.
    package mutating func dropStrayPreview() {
      if let url = preview?.preview.url, text?.contains(text: url) != true { preview = nil }
    }

    /// Whether two messages have the same text, and attachments with equal contents.
    ///
    /// The ids of the files may differ, and so may the previews and their images.
    package func hasSameContent(as other: Text) -> Bool {
      text.map(ExactString.init) == other.text.map(ExactString.init) && contents == other.contents
    }

    /// The contents of the attachments, without the image of the preview.
    private var contents: [ContentHash] {
      let image = preview?.place.map { $0 - 1 }
      return attachments.enumerated().filter { $0.offset != image }.map(\.element.attachment.sha256)
    }
  }

  /// The settings of a group that a newly added member needs.
  package struct Group: Equatable, Sendable {
    package var title: String?
    package var avatarURL: String?
    /// The picture that `avatarURL` names; nil if that is the URL of another picture.
    package var picture: Picture?
    /// Whether the picture is only for users who were just added, and changes nothing if the group has another one now.
    package var isForAdded = false
    /// The lifetime of messages in microseconds; nil if they do not expire.
    package var expireAfter: Int64?
    package var creator: Handle?

    package init(
      title: String? = nil, avatarURL: String? = nil, picture: Picture? = nil, expireAfter: Int64? = nil,
      creator: Handle? = nil
    ) {
      self.title = title
      self.avatarURL = avatarURL
      self.picture = picture
      self.expireAfter = expireAfter
      self.creator = creator
    }
  }

  package struct Profile: Equatable, Sendable {
    package var displayName: String?
    package var bio: String?
    package var avatarURL: String?
    /// The picture that `avatarURL` names; nil if that is the URL of another picture.
    package var picture: Picture?

    package init(
      displayName: String? = nil, bio: String? = nil, avatarURL: String? = nil, picture: Picture? = nil
    ) {
      self.displayName = displayName
      self.bio = bio
      self.avatarURL = avatarURL
      self.picture = picture
    }
  }

  case text(Text)
  case reaction(emoji: String?)
  case group(Group)
  case profile(Profile)

  /// The version that this program writes, and the only one that it reads.
  private static let version = 1

  /// The JSON object as bytes.
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
        if !text.attachments.isEmpty {
          json.key("attachments")
          json.array { json in for attachment in text.attachments { attachment.write(to: &json) } }
        }
        Self.write(text.preview, to: &json)
      case .reaction(let emoji): json.member("emoji", emoji)
      case .group(let group):
        json.member("title", group.title)
        json.member("avatar_url", group.avatarURL)
        Self.write(group.picture, to: &json)
        if group.isForAdded { json.member("for_added", true) }
        json.member("expire_after", group.expireAfter.map(Int.init))
        json.member("creator", group.creator?.description)
      case .profile(let profile):
        json.member("display_name", profile.displayName)
        json.member("bio", profile.bio)
        json.member("avatar_url", profile.avatarURL)
        Self.write(profile.picture, to: &json)
      }
    }
    return json.bytes
  }

  private static func write(_ picture: Picture?, to json: inout JSONWriter) {
    if let picture { json.member("picture", picture.bytes.withUnsafeBytes(base64)) }
  }

  // MARK: Reading untrusted payloads

  /// The JSON members of a payload; nil if it is not an object of this version.
  private static func members(_ bytes: [UInt8]?) -> JSONObject? {
    guard let bytes, case .success(let object) = Result(catching: { try JSONReader.object(bytes[...]) }),
      object["v"] == .integer(version)
    else { return nil }
    return object
  }

  /// The content of a message; nil if it cannot be read.
  ///
  /// Cuts a text that is too long for a message, and leaves out an invalid nonce or reference.
  package static func text(_ bytes: [UInt8]?) -> Text? {
    guard let object = members(bytes) else { return nil }
    var text = Text(text: object.text("text").map { beginning(of: $0, bytes: Outgoing.textLimit) })
    text.replyTo = object.text("reply_to").flatMap { Identifier($0) }
    text.nonce = object.text("nonce").flatMap { nonce in isFit { try Outgoing.check(nonce: nonce) } ? nonce : nil }
    text.forwardedFrom = handle(object.text("forwarded_from"))
    text.attachments = HubAttachment.all(object["attachments"])
    if text.text?.isEmpty == true { text.text = nil }
    text.preview = preview(in: object)
    text.dropStrayPreview()
    return text.text == nil && text.attachments.isEmpty ? nil : text
  }

  private static func write(_ placed: LinkPreviews.Placed?, to json: inout JSONWriter) {
    guard let placed else { return }
    json.key("link_preview")
    json.object { json in
      json.member("url", placed.preview.url)
      json.member("title", placed.preview.title)
      json.member("description", placed.preview.description)
      json.member("site", placed.preview.site)
      json.member("image", placed.place)
    }
  }

  /// The preview of a message; nil if there is none, or if it is not valid.
  private static func preview(in object: JSONObject) -> LinkPreviews.Placed? {
    guard case .object(let members)? = object["link_preview"], let url = members.text("url"),
      let title = members.text("title"),
      case .success(let preview) = Result(catching: {
        try LinkPreview(url: url, title: title, description: members.text("description"), site: members.text("site"))
      })
    else { return nil }
    return LinkPreviews.Placed(
      preview, place: members.integer("image").flatMap { (1...Attachment.limit).contains($0) ? $0 : nil })
  }

  static func handle(_ text: String?) -> Handle? {
    guard let text, case .success(let handle) = Result(catching: { try Handle(text) }) else { return nil }
    return handle
  }

  /// The emoji of a reaction; nil if there is none, or if it cannot be read.
  package static func emoji(_ bytes: [UInt8]?) -> String? {
    guard let emoji = members(bytes)?.text("emoji"), isFit({ try Edit.check(emoji: emoji) }) else { return nil }
    return emoji
  }

  /// The settings of a group; those that cannot be read are nil.
  package static func group(_ bytes: [UInt8]?) -> Group {
    guard let object = members(bytes) else { return Group() }
    var group = Group()
    group.title = object.text("title").flatMap { title in isFit { try checkTitle(title) } ? title : nil }
    group.avatarURL = object.text("avatar_url").flatMap { url in
      isFit { try ProfileChange(avatarURL: url).check() } ? url : nil
    }
    group.picture = picture(in: object, named: group.avatarURL)
    group.isForAdded = object["for_added"] == .bool(true)
    if case .integer(let lifetime)? = object["expire_after"] { group.expireAfter = HubLimits.lifetime(Int64(lifetime)) }
    group.creator = handle(object.text("creator"))
    return group
  }

  package static func profile(_ bytes: [UInt8]?) -> Profile {
    guard let object = members(bytes) else { return Profile() }
    func field(_ name: String, _ change: (String) -> ProfileChange) -> String? {
      object.text(name).flatMap { text in isFit { try change(text).check() } ? text : nil }
    }
    var profile = Profile(
      displayName: field("display_name") { ProfileChange(displayName: $0) },
      bio: field("bio") { ProfileChange(bio: $0) },
      avatarURL: field("avatar_url") { ProfileChange(avatarURL: $0) })
    profile.picture = picture(in: object, named: profile.avatarURL)
    return profile
  }

  /// The picture in a payload, if it is valid and the URL is its name.
  private static func picture(in object: JSONObject, named url: String?) -> Picture? {
    guard let hash = url.flatMap({ ContentHash(url: $0) }),
      let bytes = object.text("picture").flatMap({ DMJSON.bytes(base64: $0) }), let picture = Picture(checked: bytes)
    else { return nil }
    return picture.sha256 == hash ? picture : nil
  }

  static func isFit(_ check: () throws -> Void) -> Bool {
    if case .success = Result(catching: check) { true } else { false }
  }
}

/// Limits of numbers from the hub, because a hostile member may have chosen the numbers.
package enum HubLimits {
  /// Clamps a lifetime in microseconds to the range from one second to 366 days.
  package static func lifetime(_ microseconds: Int64) -> Int64 {
    min(max(microseconds, 1_000_000), 366 * 86_400_000_000)
  }

  /// The maximum number of messages that a hub returns in one call that requests messages by their numbers.
  package static let pageMessages = 500

  /// The sizes of a file that are accepted, in bytes.
  package static let fileBytes = 0...(16 << 30)
}
