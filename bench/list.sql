WITH p AS (
  SELECT * FROM (SELECT p.conversation, p.user, p.is_pinned, p.is_archived, p.read_count
  FROM participant p INDEXED BY participant_activity CROSS JOIN conversation c ON c.id = p.conversation
  WHERE p.user = ?1 AND p.last_activity IS NOT NULL
    AND NOT p.is_archived
  ORDER BY p.is_pinned DESC, p.last_activity DESC, p.conversation DESC LIMIT ?2)
  UNION ALL
  SELECT * FROM (SELECT p.conversation, p.user, p.is_pinned, p.is_archived, p.read_count
  FROM participant p  CROSS JOIN conversation c ON c.id = p.conversation
  WHERE p.user = ?1 AND p.is_pinned IN (0, 1) AND p.last_activity IS NULL
    AND NOT p.is_archived
  ORDER BY p.is_pinned DESC, c.last_activity DESC, p.conversation DESC LIMIT ?2))
SELECT c.id, c.uuid, c.direct_low IS NULL, c.title, c.creator, c.last_activity, p.is_pinned, p.is_archived,
c.last_seq - p.read_count,
(SELECT to_seq FROM read_range r WHERE r.conversation = c.id AND r.user = p.user ORDER BY from_seq DESC LIMIT 1),
(SELECT iif(from_seq = 1, to_seq + 1, 1) FROM read_range r WHERE r.conversation = c.id AND r.user = p.user
  ORDER BY from_seq LIMIT 1),
(SELECT group_concat(u.handle, ' ') FROM participant o JOIN user u ON u.id = o.user WHERE o.conversation = c.id),
m.uuid, m.conversation, m.seq, m.sender, m.text, m.created_at, m.reply_to, m.nonce FROM p JOIN conversation c ON c.id = p.conversation
LEFT JOIN message m ON m.id = c.last_message
ORDER BY p.is_pinned DESC, c.last_activity DESC, c.id DESC LIMIT ?2;
