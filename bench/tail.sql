SELECT 'message' AS type, lower(hex(m.uuid)) AS id, lower(hex(c.uuid)) AS conversation_id, m.seq, u.handle AS sender,
  m.text, m.created_at, 'sent' AS status, lower(hex(m.reply_to)) AS reply_to, m.nonce
FROM conversation c JOIN message m ON m.conversation = c.id JOIN user u ON u.id = m.sender
WHERE c.title = 'group 7' AND m.seq > c.last_seq - 30 ORDER BY m.seq;
