"""The records of dm-protocol(5). Made by schema-types; do not edit."""
from typing import Literal, NotRequired, TypedDict, Union


MessageReplyTo = TypedDict("MessageReplyTo", {
    "id": str,
    "seq": NotRequired[int],
    "sender": NotRequired[str],
    "text": NotRequired[str],
})

MessageLinkPreview = TypedDict("MessageLinkPreview", {
    "url": str,
    "title": str,
    "description": NotRequired[str],
    "site": NotRequired[str],
    "attachment_id": NotRequired[str],
})

MessageReactions = TypedDict("MessageReactions", {
    "emoji": str,
    "users": list[str],
})

Message = TypedDict("Message", {
    "type": Literal["message"],
    "id": str,
    "ref": str,
    "conversation_id": str,
    "conversation_title": NotRequired[str],
    "is_group": bool,
    "seq": NotRequired[int],
    "sender": str,
    "sender_name": NotRequired[str],
    "is_mine": bool,
    "text": NotRequired[str],
    "created_at": str,
    "status": Literal["sending", "sent", "delivered", "read", "failed"],
    "is_unread": bool,
    "read_by_count": int,
    "read_by": NotRequired[list[str]],
    "reply_to": NotRequired["MessageReplyTo"],
    "forwarded_from": NotRequired[str],
    "nonce": NotRequired[str],
    "attachments": NotRequired[list["Attachment"]],
    "link_preview": NotRequired["MessageLinkPreview"],
    "mentions": NotRequired[list[str]],
    "reactions": NotRequired[list["MessageReactions"]],
    "pinned_at": NotRequired[str],
    "pinned_by": NotRequired[str],
    "edited_at": NotRequired[str],
    "expires_at": NotRequired[str],
    "deleted_at": NotRequired[str],
    "failure": NotRequired[str],
    "replaces": NotRequired[str],
    "system_kind": NotRequired[Literal["conversation_created", "user_joined", "user_left", "title_changed",
      "history_imported", "unreadable"]],
    "subject": NotRequired[str],
    "duplicate": NotRequired[bool],
    "line": NotRequired[int],
    "snippet": NotRequired[str],
    "likeness": NotRequired[float],
    "is_truncated": NotRequired[bool],
    "cursor": NotRequired[str],
    "as_of": NotRequired[str],
})

MessageUpdatedReplyTo = TypedDict("MessageUpdatedReplyTo", {
    "id": str,
    "seq": NotRequired[int],
    "sender": NotRequired[str],
    "text": NotRequired[str],
})

MessageUpdatedLinkPreview = TypedDict("MessageUpdatedLinkPreview", {
    "url": str,
    "title": str,
    "description": NotRequired[str],
    "site": NotRequired[str],
    "attachment_id": NotRequired[str],
})

MessageUpdatedReactions = TypedDict("MessageUpdatedReactions", {
    "emoji": str,
    "users": list[str],
})

MessageUpdated = TypedDict("MessageUpdated", {
    "type": Literal["message_updated"],
    "id": str,
    "ref": str,
    "conversation_id": str,
    "conversation_title": NotRequired[str],
    "is_group": bool,
    "seq": NotRequired[int],
    "sender": str,
    "sender_name": NotRequired[str],
    "is_mine": bool,
    "text": NotRequired[str],
    "created_at": str,
    "status": Literal["sending", "sent", "delivered", "read", "failed"],
    "is_unread": bool,
    "read_by_count": int,
    "read_by": NotRequired[list[str]],
    "reply_to": NotRequired["MessageUpdatedReplyTo"],
    "forwarded_from": NotRequired[str],
    "nonce": NotRequired[str],
    "attachments": NotRequired[list["Attachment"]],
    "link_preview": NotRequired["MessageUpdatedLinkPreview"],
    "mentions": NotRequired[list[str]],
    "reactions": NotRequired[list["MessageUpdatedReactions"]],
    "pinned_at": NotRequired[str],
    "pinned_by": NotRequired[str],
    "edited_at": NotRequired[str],
    "expires_at": NotRequired[str],
    "deleted_at": NotRequired[str],
    "failure": NotRequired[str],
    "replaces": NotRequired[str],
    "system_kind": NotRequired[Literal["conversation_created", "user_joined", "user_left", "title_changed",
      "history_imported", "unreadable"]],
    "subject": NotRequired[str],
    "duplicate": NotRequired[bool],
    "line": NotRequired[int],
    "snippet": NotRequired[str],
    "likeness": NotRequired[float],
    "is_truncated": NotRequired[bool],
    "changed": list[Literal["text", "seq", "created_at", "status"]],
    "cursor": NotRequired[str],
    "as_of": NotRequired[str],
})

MessageDeleted = TypedDict("MessageDeleted", {
    "type": Literal["message_deleted"],
    "message_id": str,
    "conversation_id": str,
    "seq": NotRequired[int],
    "for_everyone": bool,
    "cursor": NotRequired[str],
    "as_of": NotRequired[str],
})

MessageStatus = TypedDict("MessageStatus", {
    "type": Literal["message_status"],
    "conversation_id": str,
    "conversation_title": NotRequired[str],
    "sender": str,
    "status": Literal["delivered", "read"],
    "ranges": list[list[int]],
    "user": str,
    "cursor": str,
    "as_of": NotRequired[str],
})

Reaction = TypedDict("Reaction", {
    "type": Literal["reaction"],
    "message_id": str,
    "conversation_id": str,
    "seq": int,
    "user": str,
    "emoji": NotRequired[str],
    "reacted_at": str,
    "cursor": NotRequired[str],
    "as_of": NotRequired[str],
})

MessagePin = TypedDict("MessagePin", {
    "type": Literal["message_pin"],
    "message_id": str,
    "conversation_id": str,
    "seq": int,
    "user": str,
    "is_pinned": bool,
    "changed_at": str,
    "cursor": NotRequired[str],
    "as_of": NotRequired[str],
})

DeliveryReceipt = TypedDict("DeliveryReceipt", {
    "type": Literal["delivery_receipt"],
    "conversation_id": str,
    "conversation_title": NotRequired[str],
    "user": str,
    "ranges": list[list[int]],
    "delivered_at": NotRequired[str],
    "cursor": NotRequired[str],
    "as_of": NotRequired[str],
})

ReadReceipt = TypedDict("ReadReceipt", {
    "type": Literal["read_receipt"],
    "conversation_id": str,
    "conversation_title": NotRequired[str],
    "user": str,
    "ranges": list[list[int]],
    "read_at": str,
    "cursor": NotRequired[str],
    "as_of": NotRequired[str],
})

Typing = TypedDict("Typing", {
    "type": Literal["typing"],
    "conversation_id": str,
    "users": list[str],
    "as_of": NotRequired[str],
})

Presence = TypedDict("Presence", {
    "type": Literal["presence"],
    "user": str,
    "is_online": bool,
    "last_seen_at": NotRequired[str],
    "as_of": NotRequired[str],
})

ConversationUpdated = TypedDict("ConversationUpdated", {
    "type": Literal["conversation_updated"],
    "id": str,
    "name": str,
    "is_group": bool,
    "title": NotRequired[str],
    "own_name": NotRequired[str],
    "avatar_url": NotRequired[str],
    "creator": NotRequired[str],
    "owners": NotRequired[list[str]],
    "my_role": NotRequired[Literal["member", "owner", "former"]],
    "participants": list[str],
    "last_message": NotRequired["Message"],
    "last_activity_at": str,
    "unread_count": int,
    "unread_mentions_count": int,
    "last_read_seq": NotRequired[int],
    "first_unread_seq": NotRequired[int],
    "is_pinned": bool,
    "is_muted": bool,
    "muted_until": NotRequired[str],
    "is_archived": bool,
    "expire_after": NotRequired[int],
    "draft_text": NotRequired[str],
    "replaces": NotRequired[str],
    "cursor": str,
    "as_of": NotRequired[str],
})

HubSetAside = TypedDict("HubSetAside", {
    "conversation_id": str,
    "conversation": NotRequired[str],
    "code": str,
})

Hub = TypedDict("Hub", {
    "type": Literal["hub"],
    "state": Literal["never", "connecting", "filling", "live", "polling", "waiting", "refused", "offline", "left"],
    "color": Literal["green", "yellow", "red"],
    "user": str,
    "network": Literal["normal", "poor", "very-poor", "offline"],
    "is_running": bool,
    "queued_count": int,
    "failed_count": int,
    "oldest_queued_at": NotRequired[str],
    "attempts": int,
    "last_sync_at": NotRequired[str],
    "next_attempt_at": NotRequired[str],
    "retry_at": NotRequired[str],
    "clock_offset": NotRequired[int],
    "fault": NotRequired[str],
    "set_aside": NotRequired[list["HubSetAside"]],
    "as_of": NotRequired[str],
})

CaughtUp = TypedDict("CaughtUp", {
    "type": Literal["caught_up"],
    "cursor": str,
    "as_of": NotRequired[str],
})

Heartbeat = TypedDict("Heartbeat", {
    "type": Literal["heartbeat"],
    "cursor": str,
    "as_of": NotRequired[str],
})

Gap = TypedDict("Gap", {
    "type": Literal["gap"],
    "from": str,
    "to": str,
    "cursor": str,
    "as_of": NotRequired[str],
})

Ack = TypedDict("Ack", {
    "type": Literal["ack"],
    "consumer": str,
    "cursor": str,
    "as_of": NotRequired[str],
})

Consumer = TypedDict("Consumer", {
    "type": Literal["consumer"],
    "name": str,
    "cursor": str,
    "behind_count": int,
    "skipped_count": int,
    "used_at": str,
    "as_of": NotRequired[str],
})

AttachmentThumbnail = TypedDict("AttachmentThumbnail", {
    "sha256": str,
    "mime_type": str,
    "size_bytes": int,
    "width": int,
    "height": int,
})

Attachment = TypedDict("Attachment", {
    "type": Literal["attachment"],
    "id": str,
    "kind": Literal["image", "video", "audio", "voice", "file"],
    "name": str,
    "mime_type": str,
    "size_bytes": int,
    "sha256": str,
    "width": NotRequired[int],
    "height": NotRequired[int],
    "duration": NotRequired[float],
    "thumbnail": NotRequired["AttachmentThumbnail"],
    "waveform": NotRequired[list[int]],
    "message_id": NotRequired[str],
    "conversation_id": NotRequired[str],
    "seq": NotRequired[int],
    "sender": NotRequired[str],
    "created_at": NotRequired[str],
    "path": NotRequired[str],
    "as_of": NotRequired[str],
})

DmTail = Union["Message", "MessageUpdated", "MessageDeleted", "MessageStatus", "Reaction", "MessagePin",
      "DeliveryReceipt", "ReadReceipt", "Typing", "Presence", "ConversationUpdated", "Hub", "CaughtUp", "Heartbeat",
      "Gap", "Ack", "Consumer"]

Conversation = TypedDict("Conversation", {
    "type": Literal["conversation"],
    "id": str,
    "name": str,
    "is_group": bool,
    "title": NotRequired[str],
    "own_name": NotRequired[str],
    "avatar_url": NotRequired[str],
    "creator": NotRequired[str],
    "owners": NotRequired[list[str]],
    "my_role": NotRequired[Literal["member", "owner", "former"]],
    "participants": list[str],
    "last_message": NotRequired["Message"],
    "last_activity_at": str,
    "unread_count": int,
    "unread_mentions_count": int,
    "last_read_seq": NotRequired[int],
    "first_unread_seq": NotRequired[int],
    "is_pinned": bool,
    "is_muted": bool,
    "muted_until": NotRequired[str],
    "is_archived": bool,
    "expire_after": NotRequired[int],
    "draft_text": NotRequired[str],
    "page_cursor": NotRequired[str],
})

Error = TypedDict("Error", {
    "type": Literal["error"],
    "line": NotRequired[int],
    "code": Literal["malformed_line", "invalid_utf8", "line_too_long", "unfinished_line", "missing_field", "bad_field",
      "bad_reference", "bad_handle", "bad_time", "bad_cursor", "empty_text", "text_too_long", "bad_attachment",
      "nonce_conflict", "out_of_order", "handle_taken", "name_taken", "unknown_conversation", "ambiguous_title",
      "unknown_message", "unknown_attachment", "unknown_user", "no_draft", "unknown_consumer", "unknown_file",
      "unreadable_file", "file_changed", "not_allowed", "usage", "no_store", "cannot_create", "io_error",
      "read_only_store", "busy", "store_too_new", "store_foreign", "store_damaged", "store_replaced", "gap",
      "network_file_system", "hub_unreachable", "hub_refused", "hub_mismatch", "hub_damaged", "no_hub",
      "refused_by_hub", "over_quota", "model_failed", "link_refused", "link_failed", "internal"],
    "retryable": bool,
    "subject": NotRequired[str],
    "nonce": NotRequired[str],
    "message": str,
})

SendLineReplyTo = TypedDict("SendLineReplyTo", {
    "id": str,
})

SendLineAttachments = TypedDict("SendLineAttachments", {
    "id": str,
})

SendLineLinkPreview = TypedDict("SendLineLinkPreview", {
    "url": str,
    "title": str,
    "description": NotRequired[str],
    "site": NotRequired[str],
    "attachment_id": NotRequired[str],
})

SendLine = TypedDict("SendLine", {
    "type": NotRequired[str],
    "conversation_id": NotRequired[str],
    "conversation": NotRequired[str],
    "text": NotRequired[str],
    "nonce": NotRequired[str],
    "reply_to": NotRequired[Union[str, "SendLineReplyTo"]],
    "attachments": NotRequired[list[Union[str, "SendLineAttachments"]]],
    "link_preview": NotRequired["SendLineLinkPreview"],
    "expires_in": NotRequired[Union[str, int]],
    "ack": NotRequired[str],
    "message_id": NotRequired[str],
    "react": NotRequired[str],
    "read": NotRequired[bool],
})

DmSend = Union["Message", "Conversation", "Ack", "Error"]
