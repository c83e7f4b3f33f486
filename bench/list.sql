WITH p AS (
  SELECT * FROM (SELECT p.*
  FROM participant p INDEXED BY participant_activity CROSS JOIN conversation c ON c.id = p.conversation
  WHERE p.user = ?1 AND p.last_activity IS NOT NULL
    AND NOT p.is_deleted AND NOT p.is_blocked AND NOT p.is_archived
  ORDER BY p.is_pinned DESC, p.last_activity DESC, p.conversation DESC LIMIT ?2)
  UNION ALL
  SELECT * FROM (SELECT p.*
  FROM participant p  CROSS JOIN conversation c ON c.id = p.conversation
  WHERE p.user = ?1 AND p.is_pinned IN (0, 1) AND p.last_activity IS NULL
    AND NOT p.is_deleted AND NOT p.is_blocked AND NOT p.is_archived
  ORDER BY p.is_pinned DESC, c.last_activity DESC, p.conversation DESC LIMIT ?2))
SELECT c.id AS key, c.uuid AS id, c.direct_low IS NULL AS is_group, iif(p.left_seq IS NULL, c.title, f.title) AS title,
c.creator, coalesce(p.last_activity, c.last_activity) AS last_activity, p.is_pinned, p.is_archived, coalesce(p.left_seq, c.last_seq) - p.read_count - p.blocked_count AS unread,
(SELECT to_seq FROM read_range r WHERE r.conversation = c.id AND r.user = p.user ORDER BY from_seq DESC LIMIT 1)
  AS read_end,
(SELECT iif(from_seq = 1, to_seq + 1, 1) FROM read_range r WHERE r.conversation = c.id AND r.user = p.user
  ORDER BY from_seq LIMIT 1) AS first_unread,
iif(p.left_seq IS NULL, (SELECT group_concat(o.is_owner || u.handle, ' ') FROM participant o
  JOIN user u ON u.id = o.user WHERE o.conversation = c.id AND o.left_seq IS NULL), f.participants) AS participants,
p.blocked_count, p.mention_count, p.muted_until, p.draft_text,
iif(p.left_seq IS NULL, c.avatar_url, f.avatar_url) AS avatar_url,
iif(p.left_seq IS NULL, c.expire_after, f.expire_after) AS expire_after,
coalesce(p.left_seq, c.last_seq) AS last_seq, p.is_deleted + p.is_blocked AS is_unlisted,
(SELECT n.name FROM own_name n WHERE n.user = p.user AND n.conversation = c.id) AS own_name,
p.left_seq IS NOT NULL AS is_former, p.is_owner,
m.uuid AS id, m.conversation, m.seq, m.sender, m.text, m.created_at, m.reply_to, m.nonce, m.id AS key, m.edited_at,
m.expires_at, m.deleted_at, m.system_kind, m.subject, m.mentions, m.reaction_count, m.attachment_count,
m.forwarded_from, m.link_preview_count
FROM p JOIN conversation c ON c.id = p.conversation
LEFT JOIN message m ON m.id = c.last_message
LEFT JOIN former f ON f.user = p.user AND f.conversation = c.id
ORDER BY p.is_pinned DESC, coalesce(p.last_activity, c.last_activity) DESC, c.id DESC LIMIT ?2;
