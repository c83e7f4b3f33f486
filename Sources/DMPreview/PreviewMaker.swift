internal import DMMedia
package import DMModel
internal import DMSystem

/// What a link shows before it is followed.
package struct PagePreview: Equatable, Sendable {
  package let title: String
  package let description: String?
  /// The name of the site, as the page says it.
  package let site: String?
  /// The content of a picture of the page, of at most 1 MiB.
  package let image: [UInt8]?
}

/// Makes previews of links: fetches the page of a link, reads it, and fetches its image.
package struct PreviewMaker: Sendable {
  private let curl: Curl
  private let policy: FetchPolicy

  /// - Throws: `link_failed` if a library is not installed.
  package init(_ policy: FetchPolicy = FetchPolicy()) throws(DMError) {
    curl = try Curl.loaded()
    _ = try PageHead("")
    self.policy = policy
  }

  /// - Throws: `link_refused`, `link_failed`; the message names the host, but no other part of the URL.
  package func preview(of url: String) throws(DMError) -> PagePreview { try preview(of: url, Fetcher(curl, policy)) }

  /// The preview of the first link in a text; nil if there is no link.
  ///
  /// - Parameter attach: makes an attachment of an image, or returns nil to leave the image out; nil to fetch no image.
  /// - Throws: like `preview(of:)`.
  package func linkPreview(in text: String, attach: (([UInt8]) -> Identifier?)?) throws(DMError) -> LinkPreview? {
    guard let url = firstLink(in: text) else { return nil }
    let page = try preview(of: url, Fetcher(curl, policy), wantsImage: attach != nil)
    return try LinkPreview(
      url: url, title: page.title, description: page.description, site: page.site,
      attachment: page.image.flatMap { attach?($0) })
  }

  func preview(of url: String, _ fetcher: Fetcher, wantsImage: Bool = true) throws(DMError) -> PagePreview {
    let page = try fetcher.fetch(url, accepts: "text/html,application/xhtml+xml")
    let type = String(decoding: page.type.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 }, as: UTF8.self)
      .lowercased()
    guard ["text/html", "application/xhtml+xml"].contains(type) else {
      throw DMError(.linkFailed, "the link to '\(page.host)' leads to a file, not to a page")
    }
    let head = try PageHead(pageText(page.bytes, type: page.type, isCut: page.isCut))
    if page.isCut, !head.isComplete { throw tooLarge(page.host) }
    guard let title = head.title else { throw DMError(.linkFailed, "the page of '\(page.host)' has no title") }
    return PagePreview(
      title: title, description: head.description, site: head.site,
      image: wantsImage ? head.image.flatMap { image($0, of: page, fetcher) } : nil)
  }

  /// The image of a page; nil if it cannot be fetched, or is not a picture.
  private func image(_ url: String, of page: Fetched, _ fetcher: Fetcher) -> [UInt8]? {
    do {
      let image = try fetcher.fetch(url, relativeTo: page.url, accepts: "image/*")
      let format = image.bytes.withUnsafeBytes { MediaFormat.of(CheckedBytes($0)) }
      return !image.isCut && format.kind == .image ? image.bytes : nil
    } catch {
      // The page without its image is still a preview.
      return nil
    }
  }
}
