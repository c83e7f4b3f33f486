internal import DMCLI
internal import DMKit

extension Conversing {
  static let mostFound = 100

  /// The newest messages that have the words, as lines of text, the newest first.
  func search(_ words: String) throws -> [String] {
    var request = SearchRequest(words)
    request.conversations = [conversation]
    request.newestFirst = true
    request.limit = Self.mostFound
    let name = TextFormat.name(try messenger.conversation(conversation), for: messenger.identity.handle)
    let results = try messenger.search(request)
    var lines: [String] = []
    while case let batch = try results.next(), !batch.isEmpty {
      lines += batch.map { TextFormat.line($0.message, $0.snippet, in: name) }
    }
    return lines
  }
}
