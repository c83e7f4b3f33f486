import Foundation
import JSONSupport
import Testing

/// Tries each cell of docs/rules.md with the programs.
@Suite struct RulesTests {
  @Test func `the rule tables have a row for each action and a column for each role`() {
    let users = ["sender", "member", "owner", "former", "stranger", "blocked", "blocker"]
    let columns = [
      "In a group": users, "Elsewhere": users, "Messages that the user does not see": RuleVisit.unseen.keys.sorted(),
      "In a direct conversation": users.filter { $0 != "owner" && $0 != "former" },
    ]
    for (section, acts) in RuleWalk.bySection {
      let cells = RuleTable.cells.filter { $0.section == section }
      #expect(Set(cells.map(\.act)) == acts, "\(section)")
      for act in acts {
        let found = cells.filter { $0.act == act }.map(\.column)
        #expect(found.sorted() == columns[section]?.sorted(), "\(section): \(act)")
      }
    }
    #expect(Set(RuleTable.cells.map(\.section)) == Set(RuleWalk.bySection.keys))
  }

  @Test(arguments: RuleTable.cells)
  func `each action has the result in the rule table`(cell: RuleCell) throws {
    try visit(cell, RuleScene.onOneStore.get())
  }

  /// Without the actions that hubs do not sync.
  @Test(arguments: RuleTable.cells.compactMap(\.onHub))
  func `each action has the result in the rule table on a hub`(cell: RuleCell) throws {
    try visit(cell, RuleScene.onHub.get())
  }

  private func visit(_ cell: RuleCell, _ scene: RuleScene) throws {
    let outcome = try #require(cell.outcome, "no outcome: '\(cell.text)'")
    let walk = try #require(RuleWalk.walk(cell), "no call for this action")
    let visit = try RuleVisit(cell, scene)
    guard let call = visit.fill(walk.call) else {
      #expect(outcome == .impossible)
      return
    }
    switch outcome {
    case .impossible: Issue.record("it can be tried: \(call)")
    case .refused(let status, let code): try refuse(visit, walk, status, code)
    case .nothing: try expectNothing(visit, walk, call)
    case .allowed(let blind): try allow(visit, walk, call, hiddenFrom: blind)
    }
  }

  private func refuse(_ visit: RuleVisit, _ walk: RuleWalk, _ status: Int32, _ code: String) throws {
    var byNumber = visit
    byNumber.namesNumbers = true
    // The message is named by its id, and by its number.
    for call in Set([visit, byNumber].compactMap { $0.fill(walk.call) }) where !walk.needsLine {
      let outcome = try visit.run(call, as: visit.actor)
      #expect(outcome.status == .exit(status), "\(call): \(outcome.stderr)")
      #expect(outcome.output.isEmpty, "\(call): \(outcome.stdout)")
    }
    if let lines = walk.lines, let call = visit.fill(lines.call), let line = visit.fill(lines.line) {
      let outcome = try visit.run(call, as: visit.actor, line: line)
      #expect(outcome.status == .exit(1), "\(line): \(outcome.stderr)")
      #expect(try outcome.record["type"]?.string == "error", "\(line)")
      #expect(try outcome.record["code"]?.string == code, "\(line)")
    }
    #expect(try !visit.isChanged(), "something changed")
  }

  private func expectNothing(_ visit: RuleVisit, _ walk: RuleWalk, _ call: String) throws {
    if case .watches = walk.proof { return try watch(visit, sees: false) }
    let outcome = try visit.run(call, as: visit.actor)
    #expect(outcome.status == .exit(0), "\(outcome.stderr)")
    if case .prints(let text) = walk.proof, !text.isEmpty, let text = visit.fill(text) {
      #expect(!outcome.stdout.contains(text), "\(outcome.stdout)")
    } else {
      #expect(outcome.output.isEmpty, "\(outcome.stdout)")
    }
    #expect(try !visit.isChanged(), "something changed")
  }

  private func allow(_ visit: RuleVisit, _ walk: RuleWalk, _ call: String, hiddenFrom blind: [String]) throws {
    func holds(as user: String? = nil) throws -> Bool {
      switch walk.proof {
      case .shows(let text, let look, let by), .hides(let text, let look, let by):
        let user = user ?? (by == .actor ? visit.actor : visit.witness)
        let shown = try visit.look(visit.fill(look) ?? look, as: user)
        let isShown = shown.contains(visit.fill(text) ?? text)
        if case .hides = walk.proof { return !isShown }
        return isShown
      case .types:
        return try visit.typing(seenBy: user ?? visit.witness).contains(visit.actor)
      case .prints, .watches: return true
      }
    }
    switch walk.proof {
    case .watches: return try watch(visit, sees: true)
    case .types where visit.witness == visit.actor, .prints: break
    default: #expect(try !holds(), "the action was done before")
    }
    let line = walk.needsLine ? walk.lines.flatMap { visit.fill($0.line) } : nil
    let outcome = try visit.run(call, as: visit.actor, line: line)
    #expect(outcome.status == .exit(0), "\(outcome.stderr)")
    if case .prints(let text) = walk.proof {
      #expect(outcome.stdout.contains(visit.fill(text) ?? text), "\(outcome.stdout)")
      #expect(try !visit.isChanged(), "reading changed something")
    } else {
      #expect(try visit.isChanged(), "nothing changed")
      for user in [visit.actor, visit.witness] + blind { try visit.stores.carry(user) }
      if visit.stores.isOnHub {
        let pending = try visit.run("dm-sync pending", as: visit.actor)
        #expect(pending.output.isEmpty, "the hub refused the action: \(pending.stdout)")
      }
      // Nobody sees their own typing.
      if visit.witness != visit.actor || walk.proof.isSeenByActor { #expect(try holds(), "\(call)") }
    }
    for user in blind { #expect(try !holds(as: user), "\(user) notices it") }
  }

  /// Makes another user type, and checks whether the actor sees it.
  private func watch(_ visit: RuleVisit, sees: Bool) throws {
    let typist = visit.isDirect || visit.actor == "blocker" ? visit.typist : "extra"
    let typing = try visit.run(visit.fill("dm-typing CONVERSATION --on") ?? "", as: typist)
    #expect(typing.status == .exit(0), "\(typing.stderr)")
    #expect(try visit.typing(seenBy: visit.actor).contains(typist) == sees)
  }
}
