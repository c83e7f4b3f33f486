internal import DMJSON
package import DMModel

/// A line of `dm-preview`, which is printed as it was read, with a preview at its end.
package struct PreviewLine {
  private let line: ArraySlice<UInt8>
  /// The text of a message that can get a preview; nil if the line has no text, or has a member `link_preview`.
  package let text: String?
  /// Whether the message was sent already, so that it can get no attachment.
  package let isSent: Bool

  /// - Throws: `malformed_line`, `invalid_utf8`, `bad_field`.
  package init(_ line: ArraySlice<UInt8>) throws {
    let read = try InputLine(line)
    let isMessage = try [nil, "message", "send_line"].contains(read.text("type"))
    self.line = line
    text = try isMessage && read.object["link_preview"] == nil ? read.text("text") : nil
    isSent = read.has("id")
  }

  /// The line with one more member, without a line feed.
  package func adding(_ preview: LinkPreview) -> [UInt8] {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    // A line that could be read ends with the bracket of its object.
    let end = line.lastIndex { !isSpace($0) } ?? line.startIndex
    var json = JSONWriter()
    json.key("link_preview")
    preview.write(to: &json)
    // There is a member before it: the text.
    return line[..<end] + [UInt8(ascii: ",")] + json.bytes + [UInt8(ascii: "}")]
  }
}

extension LinkPreview {
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("url", url)
      json.member("title", title)
      json.member("description", description)
      json.member("site", site)
      json.member("attachment_id", attachment)
    }
  }
}
