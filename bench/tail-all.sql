SELECT 'message' AS type, lower(hex(m.uuid)) AS id, lower(hex(c.uuid)) AS conversation_id, m.seq, u.handle AS sender,
  m.text, m.created_at, 'sent' AS status, lower(hex(m.reply_to)) AS reply_to, m.nonce
FROM message m INDEXED BY message_created
CROSS JOIN participant p ON p.conversation = m.conversation AND p.user = (SELECT id FROM user WHERE handle = 'me')
JOIN conversation c ON c.id = m.conversation JOIN user u ON u.id = m.sender
ORDER BY m.created_at, m.id;
