import Foundation
import Testing

@testable import TestSupport

/// The result of an action, as docs/rules.md states it.
enum RuleOutcome: Equatable, Sendable {
  /// The action succeeds, and these users do not notice it.
  case allowed(hiddenFrom: [String])
  /// The action succeeds, but shows nothing and changes nothing.
  case nothing
  case refused(Int32, code: String)
  /// Nothing exists to which the action could be applied.
  case impossible

  init?(_ text: String) {
    let words = text.replacingOccurrences(of: "`", with: "").split(separator: " ").map(String.init)
    switch words.first {
    case "yes" where words.count == 1: self = .allowed(hiddenFrom: [])
    case "yes," where words.count == 4 && words[1...2] == ["hidden", "from"]:
      self = .allowed(hiddenFrom: [words[3]])
    case "nothing" where words.count == 1: self = .nothing
    case "–" where words.count == 1: self = .impossible
    case let status?:
      guard words.count == 2, let status = Int32(status) else { return nil }
      self = .refused(status, code: words[1])
    case nil: return nil
    }
  }
}

/// One cell of docs/rules.md.
struct RuleCell: Sendable, CustomTestStringConvertible {
  let section: String
  let act: String
  /// The heading of the column: the user who acts, or the message.
  let column: String
  let text: String

  var outcome: RuleOutcome? { RuleOutcome(text) }
  var isAllowed: Bool { if case .allowed = outcome { true } else { false } }

  /// The same cell on a hub; nil for actions that hubs do not sync, or that other tests check.
  var onHub: RuleCell? {
    let isCarried = ![
      "fetch what it carries", "fetch its attachment by id", "list what it carries", "show typing", "watch typing",
      "see presence", "import into it",
    ].contains(act)
    guard isCarried else { return nil }
    guard ["stranger", "said where the user never was"].contains(column), case .refused(77, _) = outcome else {
      return self
    }
    // The user's store does not have the conversation, and the hub does not send it.
    let isOfConversation = RuleWalk.walk(self)?.call.contains("CONVERSATION") == true
    let code = isOfConversation ? "unknown_conversation" : "unknown_message"
    return RuleCell(section: section, act: act, column: column, text: "66 `\(code)`")
  }

  var testDescription: String { "\(section): \(act), \(column): \(text)" }
}

/// The tables of docs/rules.md.
enum RuleTable {
  static let cells: [RuleCell] = {
    do {
      return parsed(try String(contentsOfFile: "\(repository)/docs/rules.md", encoding: .utf8))
    } catch {
      print("docs/rules.md: \(error)")
      return []
    }
  }()

  static func parsed(_ text: String) -> [RuleCell] {
    var cells: [RuleCell] = []
    var section = ""
    var columns: [String]?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("## ") { section = String(line.dropFirst(3)) }
      guard line.hasPrefix("|") else {
        columns = nil
        continue
      }
      let fields = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
        .map { $0.trimmingCharacters(in: .whitespaces) }
      guard let headings = columns else {
        columns = fields
        continue
      }
      if fields.allSatisfy({ $0.allSatisfy { $0 == "-" } }) { continue }
      for (heading, field) in zip(headings, fields).dropFirst() {
        cells.append(RuleCell(section: section, act: fields[0], column: heading, text: field))
      }
      // A row with too few or too many fields gets an invalid cell, so that the tests fail.
      if fields.count != headings.count {
        cells.append(RuleCell(section: section, act: fields[0], column: "of \(fields.count) fields", text: ""))
      }
    }
    return cells
  }
}
