internal import DMModel
internal import DMStore
internal import DMSystem

/// Finds values that no program of dm writes and that make programs fail when they are read.
enum ValueAudit {
  /// The description of each fault, and a query for the rows that have it; the parameters of each query are the first
  /// and last times that can be written.
  private static let rules: [(check: String, sql: StaticString)] = [
    (
      "a number that is out of bounds",
      """
      SELECT 'change ' || rev FROM change WHERE ?1 < ?2 AND (rev NOT BETWEEN 1 AND 1 << 53 OR from_seq < 1
        OR from_seq > to_seq OR to_seq > 1 << 40)
      UNION ALL SELECT 'participant ' || conversation || ', ' || user FROM participant p WHERE left_seq NOT BETWEEN 0 AND
        (SELECT last_seq FROM conversation c WHERE c.id = p.conversation)
      UNION ALL SELECT 'participant ' || conversation || ', ' || user FROM participant p WHERE delivered_seq NOT BETWEEN 0
        AND (SELECT last_seq FROM conversation c WHERE c.id = p.conversation)
      UNION ALL SELECT 'conversation ' || id FROM conversation WHERE last_seq NOT BETWEEN 0 AND 1 << 40
        OR expire_after NOT BETWEEN 1 AND 1 << 52
      UNION ALL SELECT 'read_range ' || conversation || ', ' || user FROM read_range
        WHERE from_seq NOT BETWEEN 1 AND to_seq OR to_seq > 1 << 40
      UNION ALL SELECT 'hidden_range ' || conversation || ', ' || user FROM hidden_range
        WHERE from_seq NOT BETWEEN 1 AND to_seq OR to_seq > 1 << 40
      UNION ALL SELECT 'receipt ' || conversation || ', ' || user FROM receipt
        WHERE from_seq NOT BETWEEN 1 AND to_seq OR to_seq > 1 << 40 OR rev < 0
      UNION ALL SELECT 'read_mark ' || conversation FROM read_mark
        WHERE from_seq NOT BETWEEN 1 AND to_seq OR to_seq > 1 << 40
      UNION ALL SELECT 'history ' || conversation FROM history h WHERE last_seq NOT BETWEEN message_count AND
        (SELECT last_seq FROM conversation c WHERE c.id = h.conversation)
      UNION ALL SELECT 'former ' || conversation || ', ' || user FROM former WHERE expire_after NOT BETWEEN 1 AND 1 << 52
        OR left_rev < 0 OR NOT json_valid(delivered)
      UNION ALL SELECT 'mention ' || conversation || ', ' || user FROM mention WHERE seq NOT BETWEEN 1 AND 1 << 40
      UNION ALL SELECT 'message ' || id FROM message WHERE seq > 1 << 40 OR id NOT BETWEEN 1 AND 1 << 53
      UNION ALL SELECT 'consumer ' || id FROM consumer WHERE rev NOT BETWEEN 0 AND (SELECT max(rev) FROM change)
      UNION ALL SELECT 'attachment ' || id FROM attachment WHERE id NOT BETWEEN 1 AND 1 << 53
        OR max(size_bytes, ifnull(thumbnail_size_bytes, 0)) > 1 << 53 OR duration > 1 << 50
        OR max(ifnull(width, 0), ifnull(height, 0), ifnull(thumbnail_width, 0), ifnull(thumbnail_height, 0)) > 1 << 32
      """
    ),
    (
      "a time that cannot be written",
      """
      SELECT 'user ' || id FROM user WHERE created_at NOT BETWEEN ?1 AND ?2
      UNION ALL SELECT 'conversation ' || id FROM conversation WHERE created_at NOT BETWEEN ?1 AND ?2
        OR last_activity NOT BETWEEN ?1 AND ?2
      UNION ALL SELECT 'participant ' || conversation || ', ' || user FROM participant
        WHERE joined_at NOT BETWEEN ?1 AND ?2 OR last_activity NOT BETWEEN ?1 AND ?2 OR muted_until NOT BETWEEN ?1 AND ?2
      UNION ALL SELECT 'message ' || id FROM message WHERE created_at NOT BETWEEN ?1 AND ?2
        OR edited_at NOT BETWEEN ?1 AND ?2 OR expires_at NOT BETWEEN ?1 AND ?2 OR deleted_at NOT BETWEEN ?1 AND ?2
      UNION ALL SELECT 'message_pin ' || conversation || ', ' || seq FROM message_pin WHERE at NOT BETWEEN ?1 AND ?2
      UNION ALL SELECT 'change ' || rev FROM change WHERE at NOT BETWEEN ?1 AND ?2
      UNION ALL SELECT 'consumer ' || id FROM consumer WHERE used_at NOT BETWEEN ?1 AND ?2
      UNION ALL SELECT 'attachment ' || id FROM attachment WHERE created_at NOT BETWEEN ?1 AND ?2
      """
    ),
    (
      "a name that no file can have",
      """
      SELECT 'attachment ' || id FROM attachment WHERE ?1 < ?2 AND (name IN ('.', '..') OR instr(name, '/')
        OR instr(CAST(name AS BLOB), x'00') OR length(CAST(name AS BLOB)) > 255)
      """
    ),
    (
      "a type that is none",
      """
      SELECT 'attachment ' || id FROM attachment WHERE ?1 < ?2
        AND (instr(CAST(mime_type || ifnull(thumbnail_mime_type, '') AS BLOB), x'00')
        OR mime_type GLOB '*[^!-~]*' OR thumbnail_mime_type GLOB '*[^!-~]*')
      """
    ),
    (
      "a list that is none",
      "SELECT 'consumer ' || id FROM consumer WHERE ?1 < ?2 AND conversations IS NOT NULL AND NOT json_valid(conversations)"
    ),
  ]

  static func run(_ store: Store, _ findings: Findings) throws {
    for rule in rules {
      var rows = try store.connection.prepare(rule.sql)
      rows.bind(Timestamp.writable.lowerBound)
      rows.bind(Timestamp.writable.upperBound)
      while try rows.step() { findings.add(.values, rows.text(0), "it has \(rule.check)") }
    }
    var pictures = try store.connection.prepare("SELECT hash, bytes FROM picture")
    while try pictures.step() {
      guard case .blob(let hash) = pictures.value(0), case .blob(let bytes) = pictures.value(1) else { continue }
      if contentHash(of: bytes).bytes != hash {
        findings.add(.values, "picture \(hexadecimal(hash))", "its bytes do not have this SHA-256")
      }
    }
    var handles = try store.connection.prepare("SELECT id, handle FROM user")
    while try handles.step() {
      if let problem = Handle.problem(with: handles.text(1)) {
        findings.add(.values, "user \(handles.int64(0))", "its handle cannot be one: \(problem)")
      }
    }
  }
}
