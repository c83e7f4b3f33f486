import Foundation
import Testing

extension ToolFixture {
  /// The stored counts and states that disagree with the messages, found by SQL that shares no code with the programs.
  ///
  /// Empty if there are none.
  func keptFaults(at location: SourceLocation = #_sourceLocation) throws -> String {
    try sql(Self.countAnew, at: location)
  }

  /// Users whose membership disagrees with the announcements of who joined and who left a group.
  func announcedFaults(at location: SourceLocation = #_sourceLocation) throws -> [String] {
    let rows = try sql(
      """
      SELECT conversation, system_kind, subject FROM message WHERE system_kind IN (2, 3) ORDER BY conversation, seq
      """, at: location)
    var isIn: [String: Bool] = [:]
    var faults: [String] = []
    for row in rows.split(separator: "\n").map({ $0.split(separator: "|").map(String.init) }) where row.count == 3 {
      let who = "\(row[2]) in \(row[0])"
      let comes = row[1] == "2"
      if let before = isIn[who], before == comes { faults.append("\(who) \(comes ? "comes" : "goes") twice") }
      isIn[who] = comes
    }
    for (who, comes) in isIn {
      let words = who.components(separatedBy: " in ")
      let state = try sql(
        """
        SELECT left_seq IS NULL FROM participant WHERE conversation = \(words[1])
        AND user = (SELECT id FROM user WHERE handle = '\(words[0])')
        """, at: location)
      if state != (comes ? "1" : "0") { faults.append("\(who): \(state) though it was announced otherwise") }
    }
    return faults
  }

  func checkKept(at location: SourceLocation = #_sourceLocation) throws {
    try checkIntegrity(at: location)
    #expect(try keptFaults(at: location) == "", sourceLocation: location)
    #expect(try announcedFaults(at: location) == [], sourceLocation: location)
  }

  private static let countAnew = """
    CREATE TEMP VIEW place AS SELECT p.*, c.last_seq, c.direct_low, c.direct_high, c.created_at AS begun,
      c.last_activity AS ended, coalesce(p.left_seq, c.last_seq) AS end
      FROM participant p JOIN conversation c ON c.id = p.conversation;
    CREATE TEMP VIEW sight AS SELECT p.conversation, p.user, m.seq, m.sender, m.created_at, m.system_kind, m.deleted_at,
      EXISTS (SELECT 1 FROM read_range r WHERE r.conversation = p.conversation AND r.user = p.user
        AND m.seq BETWEEN r.from_seq AND r.to_seq) AS is_read,
      EXISTS (SELECT 1 FROM hidden_range h WHERE h.conversation = p.conversation AND h.user = p.user
        AND m.seq BETWEEN h.from_seq AND h.to_seq) AS is_hidden,
      EXISTS (SELECT 1 FROM block b WHERE b.user = p.user AND b.blocked = m.sender) AS is_blocked
      FROM place p JOIN message m ON m.conversation = p.conversation AND m.seq <= p.end;
    SELECT 'read_count', conversation, user, read_count FROM place p WHERE read_count IS NOT
      (SELECT count(*) FROM sight s WHERE s.conversation = p.conversation AND s.user = p.user AND is_read);
    SELECT 'read_ranges', conversation, user FROM place p WHERE read_count IS NOT
      (SELECT coalesce(sum(to_seq - from_seq + 1), 0) FROM read_range r
        WHERE r.conversation = p.conversation AND r.user = p.user);
    SELECT 'blocked_count', conversation, user, blocked_count FROM place p WHERE blocked_count IS NOT
      (SELECT count(*) FROM sight s WHERE s.conversation = p.conversation AND s.user = p.user AND is_blocked AND NOT is_read);
    SELECT 'mention_count', conversation, user, mention_count FROM place p WHERE mention_count IS NOT
      (SELECT count(*) FROM sight s JOIN mention n ON n.conversation = s.conversation AND n.user = s.user AND n.seq = s.seq
        WHERE s.conversation = p.conversation AND s.user = p.user AND NOT is_blocked AND NOT is_read);
    SELECT 'unread that is no news', conversation, user, seq FROM sight WHERE NOT is_read
      AND (sender = user OR system_kind IS NOT NULL OR deleted_at IS NOT NULL OR is_hidden);
    SELECT 'last_activity', conversation, user, last_activity FROM place p WHERE coalesce(last_activity, ended) IS NOT
      coalesce((SELECT created_at FROM sight s WHERE s.conversation = p.conversation AND s.user = p.user
        AND NOT is_blocked ORDER BY seq DESC LIMIT 1), begun);
    SELECT 'is_blocked', conversation, user FROM place p WHERE is_blocked IS NOT (direct_low IS NOT NULL AND EXISTS
      (SELECT 1 FROM block b WHERE b.user = p.user AND b.blocked = iif(direct_low = p.user, direct_high, direct_low)));
    SELECT 'owner', conversation FROM place WHERE direct_low IS NULL GROUP BY conversation
      HAVING max(left_seq IS NULL) <> max(is_owner) OR max(is_owner AND left_seq IS NOT NULL);
    SELECT 'conversation', id FROM conversation c WHERE last_message IS NOT (SELECT id FROM message m
        WHERE m.conversation = c.id AND deleted_at IS NULL ORDER BY seq DESC LIMIT 1)
      OR last_activity IS NOT coalesce((SELECT created_at FROM message m WHERE m.conversation = c.id
        ORDER BY seq DESC LIMIT 1), created_at);
    SELECT 'overlap', h.conversation, h.user, h.from_seq FROM hidden_range h JOIN hidden_range o
      ON o.conversation = h.conversation AND o.user = h.user AND o.from_seq > h.from_seq AND o.from_seq <= h.to_seq;
    SELECT 'mentions', conversation, seq FROM message m WHERE EXISTS (SELECT 1 FROM mention n JOIN user u ON u.id = n.user
        WHERE n.conversation = m.conversation AND n.seq = m.seq AND NOT instr(' ' || m.mentions || ' ', ' ' || handle || ' '))
      OR coalesce(length(mentions) - length(replace(mentions, ' ', '')) + 1, 0) IS NOT
        (SELECT count(*) FROM mention n WHERE n.conversation = m.conversation AND n.seq = m.seq);
    SELECT 'reactions', id FROM message m WHERE reaction_count IS NOT
      (SELECT count(*) FROM reaction r WHERE r.message = m.id);
    SELECT 'tombstone', id FROM message WHERE deleted_at IS NOT NULL
      AND (text IS NOT NULL OR mentions IS NOT NULL OR reaction_count <> 0 OR edited_at IS NOT NULL);
    SELECT 'times', conversation, seq FROM message m WHERE (SELECT created_at FROM message o
      WHERE o.conversation = m.conversation AND o.seq = m.seq - 1) - created_at BETWEEN 0 AND 60000000;
    SELECT 'draft of one who left', conversation, user FROM place WHERE left_seq IS NOT NULL AND draft_text IS NOT NULL;
    """
}
