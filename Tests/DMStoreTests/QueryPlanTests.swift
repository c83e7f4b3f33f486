import Foundation
import Testing

@testable import DMModel
@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

@Suite struct QueryPlanTests {
  private func plan(of sql: String, isLinked: Bool = false) throws -> String {
    let directory = try TemporaryStore()
    let store = try #require(try Store.open(directory.location))
    if isLinked { for step in Migration.linked { try store.connection.execute(String(decoding: step, as: UTF8.self)) } }
    var statement = try store.connection.prepare(text: "EXPLAIN QUERY PLAN \(sql)")
    var plan = ""
    while try statement.step() { plan += statement.text(3) + "\n" }
    return plan
  }

  @Test func `a nonce is looked up with the nonce index`() throws {
    let plan = try plan(of: "\(Messages.addressOfNonce)")
    #expect(plan.contains("USING INDEX message_nonce (conversation=? AND nonce=?)"), "\(plan)")
  }

  @Test func `a group is looked up with the title index`() throws {
    let plan = try plan(of: "\(Conversations.ownGroups)")
    #expect(plan.contains("SEARCH c USING COVERING INDEX conversation_title (title=?"), "\(plan)")
    #expect(plan.contains("SEARCH p USING PRIMARY KEY (conversation=? AND user=?"), "\(plan)")
  }

  @Test func `a page of the conversation list is read with an index, without a scan`() throws {
    let plan = try plan(of: Conversations.listSQL(ListQuery(), paged: true))
    #expect(plan.contains("SEARCH p USING INDEX participant_activity (user=?"), "\(plan)")
    #expect(!plan.contains("SCAN c"), "\(plan)")
  }

  @Test func `unread messages are counted without reading the conversations that the user has read`() throws {
    let plan = try plan(of: Conversations.unreadSQL(ListQuery()))
    #expect(plan.contains("SEARCH p USING INDEX participant_unread (user=?)"), "\(plan)")
    #expect(
      plan.contains("SEARCH p USING INDEX participant_activity (user=? AND is_pinned=? AND last_activity=?)"), "\(plan)"
    )
    #expect(!plan.contains("SCAN c"), "\(plan)")
  }

  @Test func `the mentions of a user are read with the primary key`() throws {
    let plan = try plan(of: "\(Mentions.seqsOfMentions)")
    #expect(
      plan.contains("SEARCH mention USING PRIMARY KEY (conversation=? AND user=? AND seq>? AND seq<?)"), "\(plan)")
    let all = try self.plan(of: Messages.timelineSQL)
    #expect(all.contains("SEARCH n USING PRIMARY KEY (conversation=? AND user=? AND seq=?)"), "\(all)")
    #expect(all.contains("SEARCH m USING INDEX message_created (created_at>?"), "\(all)")
  }

  @Test func `the pins of a conversation and of a user are read with primary keys`() throws {
    let one = try plan(of: "\(Pins.ofConversation)")
    #expect(one.contains("SEARCH message_pin USING PRIMARY KEY (conversation=?)"), "\(one)")
    let all = try plan(of: "\(Pins.conversationsOfUser)")
    #expect(all.contains("SEARCH p USING COVERING INDEX participant_activity (user=?)"), "\(all)")
    #expect(all.contains("SEARCH x USING PRIMARY KEY (conversation=?)"), "\(all)")
  }

  @Test func `the operations that wait for a hub are found without reading those that are done`() throws {
    for sql in [
      "\(Outbox.nextPostponed)", "UPDATE outbox SET state = 0 WHERE state < 3 AND (state = 1 OR ?1 AND state = 2)",
    ] {
      let plan = try plan(of: sql, isLinked: true)
      #expect(plan.contains("INDEX outbox_open"), "\(plan)")
    }
    let one = try plan(of: "SELECT * FROM outbox \(Outbox.pendingOfOne)", isLinked: true)
    #expect(one == "SEARCH outbox USING INDEX outbox_pending (conversation=?)\n", "\(one)")
    let all = try plan(of: "SELECT * FROM outbox \(Outbox.allPending)", isLinked: true)
    #expect(all.hasPrefix("SCAN outbox USING INDEX outbox_pending\n"), "\(all)")
  }

  @Test func `the answers of a thread are read from one part of a conversation`() throws {
    let plan = try plan(of: "\(Messages.answersAfter)")
    #expect(
      plan.contains("SEARCH message USING INDEX sqlite_autoindex_message_2 (conversation=? AND seq>?)"), "\(plan)")
    #expect(!plan.contains("TEMP B-TREE"), "\(plan)")
  }

  @Test func `a search for attachments of one conversation reads only messages with attachments`() throws {
    let conditions = Messages.conditions(needsAttachment: true, isNamed: false)
    let plan = try plan(of: Messages.newestOfOne(conditions))
    #expect(plan.contains("SEARCH m USING INDEX message_attached (conversation=? AND seq>? AND seq<?)"), "\(plan)")
    #expect(plan.contains("SEARCH a USING INDEX attachment_message (message=?)"), "\(plan)")
  }

  @Test func `the SQL of the list benchmark is the query that the store executes`() throws {
    func words(_ sql: String) -> [Substring] { sql.split { $0.isWhitespace || $0 == ";" } }
    let copy = try String(contentsOf: URL(filePath: "\(repository)/bench/list.sql"), encoding: .utf8)
    #expect(words(copy) == words(Conversations.listSQL(ListQuery(), paged: false)), "bench/list.sql is out of date")
  }
}
