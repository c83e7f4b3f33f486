/// What the first link of a message leads to, as the program of the sender saw it when it sent the message.
public struct LinkPreview: Equatable, Sendable {
  /// The link, as it is written in the text of the message.
  public let url: String
  /// The title of the page.
  public let title: String
  /// What the page says about itself; nil if it says nothing.
  public let description: String?
  /// The name of the site; nil if the page does not say it.
  public let site: String?
  /// The id of the attachment of the message that is an image of the page; nil if there is none.
  public package(set) var attachment: Identifier?

  /// The maximum numbers of code points, and of bytes of the URL.
  package static let (titleLimit, descriptionLimit, siteLimit, urlLimit) = (300, 500, 100, 2048)

  /// Makes a preview.
  ///
  /// - Throws: `bad_field` for a text that is empty, too long, or has characters that control a terminal or reorder text.
  public init(
    url: String, title: String, description: String? = nil, site: String? = nil, attachment: Identifier? = nil
  ) throws(DMError) {
    guard url.utf8.count <= Self.urlLimit, Self.isLink(url) else {
      throw DMError(
        .badField, "'link_preview.url' is not a link of at most \(Self.urlLimit) bytes with http or https",
        subject: "link_preview.url")
    }
    try Self.check(title, "title", Self.titleLimit)
    if let description { try Self.check(description, "description", Self.descriptionLimit) }
    if let site { try Self.check(site, "site", Self.siteLimit) }
    (self.url, self.title, self.description, self.site) = (url, title, description, site)
    self.attachment = attachment
  }

  /// Makes a preview of values that were checked when they were stored.
  package init(stored url: String, _ title: String, _ description: String?, _ site: String?) {
    (self.url, self.title, self.description, self.site) = (url, title, description, site)
  }

  /// The preview with another attachment as its image.
  package func with(attachment: Identifier?) -> LinkPreview {
    var preview = self
    preview.attachment = attachment
    return preview
  }

  private static func check(_ text: String, _ name: String, _ limit: Int) throws(DMError) {
    let scalars = text.unicodeScalars
    guard !text.isEmpty, scalars.prefix(limit + 1).count <= limit, !scalars.contains(where: isHidden) else {
      throw DMError(
        .badField, "'link_preview.\(name)' is not one line of 1 to \(limit) characters", subject: "link_preview.\(name)"
      )
    }
  }

  private static func isLink(_ url: String) -> Bool {
    let start = String(decoding: url.utf8.prefix(8), as: UTF8.self).lowercased()
    let isWeb = start.utf8.starts(with: "http://".utf8) || start.utf8.starts(with: "https://".utf8)
    return isWeb && !url.unicodeScalars.contains { isHidden($0) || $0.properties.isWhitespace }
  }
}
