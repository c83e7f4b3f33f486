internal import DMJSON
package import DMKit
internal import DMSystem

/// The owner's log of the calls of an agent: a file to which lines of JSON are only appended.
///
/// A call has two lines: one before it is carried out, and one with its result.
package final class CallLog {
  /// A call whose first line is in the log.
  struct Entry {
    fileprivate let id: Identifier
    fileprivate let user: Handle
    fileprivate let tool: String
  }

  private let path: String
  private let hasTexts: Bool

  /// The arguments that are texts.
  private static let texts = ["text", "query", "match"]

  /// - Parameter hasTexts: whether the log has the texts that the agent writes and searches for, instead of their sizes.
  /// - Throws: `io_error` if the file cannot be written; `cannot_create` if it is in the folder of a store.
  package init(_ path: String, hasTexts: Bool) throws(DMError) {
    (self.path, self.hasTexts) = (path, hasTexts)
    try Messenger.refuse(insideStore: path)
    try append([])
    try syncToDisk(folder(of: path))
  }

  /// Appends the line of a call that is about to be carried out.
  ///
  /// - Parameter fields: the arguments of the tool; other arguments are not logged.
  /// - Throws: `io_error`: then the call must not be carried out.
  func begin(
    _ tool: String, _ arguments: JSONObject, _ fields: [RecordSchema.Field], by user: Handle
  ) throws(DMError) -> Entry {
    let entry = Entry(id: Identifier(at: .now), user: user, tool: Outgoing.cut(tool, to: 64))
    try append(entry) { json in
      json.key("arguments")
      json.object { json in
        for field in fields {
          if let value = arguments[field.name] { write(field.kind.meant(by: value), of: field.name, to: &json) }
        }
      }
    }
    return entry
  }

  /// Appends the line with the result of a call: `ok`, `cancelled` or the code of an error, and the message that it has
  /// sent or changed.
  ///
  /// - Throws: `io_error`.
  func end(_ entry: Entry, _ result: String, _ changed: AgentTool.Changed?) throws(DMError) {
    try append(entry) { json in
      json.member("result", result)
      json.member("conversation_id", changed?.conversation)
      json.member("seq", changed?.seq)
      json.member("message_id", changed?.message)
    }
  }

  private func append(_ entry: Entry, _ members: (inout JSONWriter) -> Void) throws(DMError) {
    var json = JSONWriter()
    json.object { json in
      json.member("at", Timestamp.now)
      json.member("call", entry.id)
      json.member("user", entry.user.description)
      json.member("tool", entry.tool)
      members(&json)
    }
    json.endLine()
    try append(json.bytes)
  }

  private func write(_ value: JSONValue, of name: String, to json: inout JSONWriter) {
    let isText = Self.texts.contains(name)
    switch value {
    case .string(let text) where isText && !hasTexts:
      json.key(name: name + "_bytes")
      json.value(text.utf8.count)
    case _ where isText && !hasTexts: break
    case .string(let text):
      json.key(name: name)
      json.value(isText ? text : Outgoing.cut(text, to: 256))
    case .integer(let number):
      json.key(name: name)
      json.value(number)
    case .number(let number):
      json.key(name: name)
      json.value(number.description)
    case .bool(let flag):
      json.key(name: name)
      json.value(flag)
    case .array(let values) where !isText:
      json.key(name: name)
      json.array { json in
        for case .string(let text) in values.prefix(64) { json.value(Outgoing.cut(text, to: 256)) }
      }
    default: break
    }
  }

  /// Appends a line with one write, so that lines of several processes do not mix, and waits until it is on the disk.
  ///
  /// The file is opened for each line, so that it can be renamed, as logrotate(8) does, while the program runs.
  private func append(_ line: [UInt8]) throws(DMError) {
    let file = try OpenFile(path, for: .appending) { fileError(.inputOutput, "write the log", path, $0) }
    guard try file.status().kind == .regular else {
      throw DMError(.inputOutput, "the log '\(path)' is not a regular file", subject: path)
    }
    if line.isEmpty { return }
    let line = try endsInLine(file) ? line : [UInt8(ascii: "\n")] + line
    let written: Int
    do { written = try writeSome(line[...], to: file.descriptor) } catch {
      throw fileError(.inputOutput, "write the log", path, error)
    }
    if written < line.count { throw DMError(.inputOutput, "the disk of the log '\(path)' is full", subject: path) }
    try file.sync()
  }

  /// Whether the last line is whole: a full disk or the end of a process may have cut it.
  private func endsInLine(_ file: borrowing OpenFile) throws(DMError) -> Bool {
    let size = try file.status().size
    if size == 0 { return true }
    var last: UInt8 = 0
    let copy = try OpenFile(path, for: .readingItself) { fileError(.inputOutput, "read the log", path, $0) }
    try withUnsafeMutableBytes(of: &last) { (last) throws(DMError) in try copy.read(into: last, at: size - 1) }
    return last == UInt8(ascii: "\n")
  }
}
