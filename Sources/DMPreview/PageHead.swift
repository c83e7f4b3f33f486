internal import CXML2
internal import DMModel

/// What a page says about itself, read by libxml2.
///
/// Open Graph (ogp.me) comes first, then the cards of Twitter, then the elements of HTML.
struct PageHead: Sendable {
  private(set) var title: String?
  private(set) var description: String?
  private(set) var site: String?
  /// The URL of an image, which may be relative to that of the page.
  private(set) var image: String?
  /// Whether the reader has seen the end of the head, or the body.
  private(set) var isComplete = false

  /// - Throws: `link_failed` if libxml2 is not installed.
  init(_ page: String) throws(DMError) {
    let reader = Reader()
    let status = withExtendedLifetime(reader) { Self.read(page, reader) }
    guard status == 1 else {
      throw DMError(
        status == 0 ? .linkFailed : .internal,
        status == 0
          ? "cannot read a page without 'libxml2.so.2' or 'libxml2.so.16'; on Debian, install libxml2"
          : "cannot read a page; there is not enough memory")
    }
    func first(_ names: String...) -> String? { names.lazy.compactMap { reader.metadata[$0] }.first }
    title =
      safeLine(first("og:title", "twitter:title") ?? reader.title, limit: LinkPreview.titleLimit)
      ?? safeLine(reader.title, limit: LinkPreview.titleLimit)
    description = first("og:description", "twitter:description", "description").flatMap {
      safeLine($0, limit: LinkPreview.descriptionLimit)
    }
    site = first("og:site_name").flatMap { safeLine($0, limit: LinkPreview.siteLimit) }
    image = first("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src")
    isComplete = reader.isComplete
  }

  private static func read(_ page: String, _ reader: Reader) -> Int32 {
    var events = dm_html_events(
      context: Unmanaged.passUnretained(reader).toOpaque(),
      start: { context, name, attributes in Reader.of(context)?.start(String(cString: name), attributes) },
      end: { context, name in Reader.of(context)?.end(String(cString: name)) },
      text: { context, bytes, count in
        Reader.of(context)?.add(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
      })
    // libxml2 takes a NUL for the end of the page.
    var page = page.contains(byte: 0) ? page.replacing(text: "\0", with: "\u{FFFD}") : page
    return page.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        guard let start = bytes.baseAddress else { return 1 }
        return dm_read_html(start, Int32(bytes.count), &events)
      }
    }
  }
}

/// Collects the title and the `meta` elements of a page, up to its body.
private final class Reader {
  private(set) var title = ""
  /// The contents of the `meta` elements by their lower-case names; of several with a name, the first that is not empty.
  private(set) var metadata: [String: String] = [:]
  private(set) var isComplete = false
  private var isInTitle = false
  private var hasTitle = false

  /// A longer title or content is cut to this number of bytes before it is cleaned.
  private static let textLimit = 16 << 10

  static func of(_ context: UnsafeMutableRawPointer?) -> Reader? {
    context.map { Unmanaged<Reader>.fromOpaque($0).takeUnretainedValue() }
  }

  func start(_ name: String, _ attributes: UnsafePointer<UnsafePointer<CChar>?>?) {
    switch name {
    // Some pages have their 'meta' elements in the body.
    case "meta": addMetadata(attributes)
    case "title": isInTitle = !hasTitle
    case "body": isComplete = true
    default: break
    }
  }

  func end(_ name: String) {
    switch name {
    case "title": (isInTitle, hasTitle) = (false, hasTitle || isInTitle)
    case "head": isComplete = true
    default: break
    }
  }

  func add(_ bytes: UnsafeRawBufferPointer) {
    guard isInTitle, title.utf8.count < Self.textLimit else { return }
    title += String(decoding: bytes.prefix(Self.textLimit), as: UTF8.self)
  }

  private func addMetadata(_ attributes: UnsafePointer<UnsafePointer<CChar>?>?) {
    guard var next = attributes else { return }
    var name = ""
    var content = ""
    while let key = next[0] {
      if let value = next[1].map({ beginning(of: String(cString: $0), bytes: Self.textLimit) }) {
        switch String(cString: key) {
        case "property", "name": name = value.lowercased()
        case "content": content = value
        default: break
        }
      }
      next += 2
    }
    if !name.isEmpty, !content.isEmpty, metadata.count < 100, metadata[name] == nil { metadata[name] = content }
  }
}
