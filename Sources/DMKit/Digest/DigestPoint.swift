package import DMJSON
package import DMModel

/// A point of a digest, with the references of the messages that it rests on.
package struct DigestPoint: Sendable, Equatable {
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
  package let who: String?
  /// Until when, in the words of the message.
  package let until: String?
  /// Set for a priority.
  package let reason: Reason?
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
    _ kind: Kind, _ text: String, who: String?, until: String?, reason: Reason?, references: [String],
    conversation: String, time: Timestamp
  ) {
    (self.kind, self.text, self.who, self.until, self.reason) = (kind, text, who, until, reason)
    (self.references, self.conversation, self.time) = (references, conversation, time)
  }
}

extension [DigestPoint] {
  /// The points without those that repeat the message of an earlier one, for people: a message can be several points.
  package var unrepeated: [DigestPoint] {
    var texts: Set<[ExactString]> = []
    return filter { texts.insert([ExactString($0.references[0]), ExactString($0.text)]).inserted }
  }
}

extension DigestPoint: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "digest")
      json.member("kind", kind.rawValue)
      json.member("conversation", conversation)
      json.member("text", text)
      json.member("who", who)
      json.member("until", until)
      json.member("reason", reason?.rawValue)
      json.member("refs", texts: references)
      json.member("created_at", time)
      json.member("source", source.rawValue)
    }
  }
}

extension RecordSchema {
  static let digest = RecordSchema(
    "digest",
    [
      Field("kind", .words(DigestPoint.Kind.allCases.map(\.rawValue))),
      Field("conversation", .string), Field("text", .string), Field("who", .string, optional: true),
      Field("until", .string, optional: true),
      Field("reason", .words(DigestPoint.Reason.allCases.map(\.rawValue)), optional: true),
      Field("refs", .list(.string)), Field("created_at", .time),
      Field("source", .words(DigestPoint.Source.allCases.map(\.rawValue))),
    ])

  static let translation = RecordSchema(
    "translation",
    [
      Field("id", .uuid), Field("ref", .string), Field("sender", .string), Field("text", .string),
      Field("language", .string), Field("created_at", .time),
    ])

  static let answer = RecordSchema(
    "answer",
    [Field("question", .string), Field("text", .string, optional: true), Field("refs", .list(.string))])
}
