-- The query of dm-search for :word, except for the order of messages with equal rank; the other columns are constant.
SELECT 'message' AS type, lower(hex(m.uuid)) AS id, lower(hex(c.uuid)) AS conversation_id, m.seq, u.handle AS sender,
  m.text, m.created_at, 'sent' AS status, lower(hex(m.reply_to)) AS reply_to, m.nonce
FROM search
CROSS JOIN message m ON m.id = search.rowid
CROSS JOIN participant p ON p.conversation = m.conversation AND p.user = (SELECT id FROM user WHERE handle = 'me')
JOIN conversation c ON c.id = m.conversation JOIN user u ON u.id = m.sender
WHERE search MATCH ':word' AND m.deleted_at IS NULL AND coalesce(m.expires_at > unixepoch() * 1000000, 1)
  AND m.seq <= coalesce(p.left_seq, m.seq)
  AND NOT EXISTS (SELECT 1 FROM hidden_range h WHERE h.conversation = m.conversation AND h.user = p.user
    AND m.seq BETWEEN h.from_seq AND h.to_seq)
  AND NOT EXISTS (SELECT 1 FROM block b WHERE b.user = p.user AND b.blocked = m.sender)
ORDER BY search.rank LIMIT 20;
