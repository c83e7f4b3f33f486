package import DMJSON
internal import DMKit
package import DMModel

/// A point of a digest, with the references of the messages that it rests on.
package struct Point: Sendable, Equatable {
  package enum Kind: String, CaseIterable, Sendable {
    case priority, actionItem = "action_item", decision, question, summary

    /// The heading above points of the kind, for people.
    package var title: String {
      switch self {
      case .priority: "Needs you"
      case .actionItem: "To do"
      case .decision: "Decided"
      case .question: "Not answered"
      case .summary: "In short"
      }
    }
  }

  /// Why a message needs the user.
  package enum Reason: String, CaseIterable, Sendable { case asks, requests, urgent, trouble, answers }

  /// What makes points: the cues that are in the program, or a model.
  package enum Source: String, CaseIterable, Sendable { case cues, model }

  package let kind: Kind
  /// What the point says: the text of the message, or the words of a model.
  package let text: String
  /// Who has to act for an action item, else who wrote the message; nil if a model named nobody.
  package var who: String?
  /// Until when, in the words of the message.
  package var until: String?
  /// Set for a priority.
  package var reason: Reason?
  /// The references of the messages, at least one.
  package let references: [String]
  /// The reference of the conversation.
  package let conversation: String
  /// The time of the first of the messages.
  package let time: Timestamp
  /// What made the point.
  package var source = Source.cues

  /// Who is named, the reason and the time, as the text of a line for people begins: `bob (asks), by friday`.
  package var introduction: String {
    (who ?? "") + (reason.map { " (\($0.rawValue))" } ?? "") + (until.map { ", \($0)" } ?? "")
  }

  package init(
    _ kind: Kind, _ text: String, who: String?, until: String? = nil, reason: Reason? = nil,
    on messages: [DigestMessage]
  ) {
    self.kind = kind
    self.text = text
    self.who = who
    self.until = until
    self.reason = reason
    references = messages.map(\.reference)
    conversation = messages[0].conversation
    time = messages[0].time
  }
}

extension Point: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "digest")
      json.member("kind", kind.rawValue)
      json.member("conversation", conversation)
      json.member("text", text)
      json.member("who", who)
      json.member("until", until)
      json.member("reason", reason?.rawValue)
      json.key("refs")
      json.array { json in for reference in references { json.value(reference) } }
      json.member("created_at", time)
      json.member("source", source.rawValue)
    }
  }
}

extension Point {
  /// The point as a line for a model.
  var line: [UInt8] {
    var json = JSONWriter()
    json.line(self)
    return json.bytes
  }
}
