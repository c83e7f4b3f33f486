// The records of dm-protocol(5). Made by schema-types; do not edit.

export interface MessageReplyTo {
  id: string;
  seq?: number;
  sender?: string;
  text?: string;
}

export interface MessageLinkPreview {
  url: string;
  title: string;
  description?: string;
  site?: string;
  attachment_id?: string;
}

export interface MessageReactions {
  emoji: string;
  users: Array<string>;
}

export interface Message {
  type: "message";
  id: string;
  ref: string;
  conversation_id: string;
  conversation_title?: string;
  is_group: boolean;
  seq?: number;
  sender: string;
  sender_name?: string;
  is_mine: boolean;
  text?: string;
  created_at: string;
  status: "sending" | "sent" | "delivered" | "read" | "failed";
  is_unread: boolean;
  read_by_count: number;
  read_by?: Array<string>;
  reply_to?: MessageReplyTo;
  forwarded_from?: string;
  nonce?: string;
  attachments?: Array<Attachment>;
  link_preview?: MessageLinkPreview;
  mentions?: Array<string>;
  reactions?: Array<MessageReactions>;
  pinned_at?: string;
  pinned_by?: string;
  edited_at?: string;
  expires_at?: string;
  deleted_at?: string;
  failure?: string;
  replaces?: string;
  system_kind?: "conversation_created" | "user_joined" | "user_left" | "title_changed" | "history_imported" |
      "unreadable";
  subject?: string;
  duplicate?: boolean;
  line?: number;
  snippet?: string;
  likeness?: number;
  is_truncated?: boolean;
  cursor?: string;
  as_of?: string;
}

export interface MessageUpdatedReplyTo {
  id: string;
  seq?: number;
  sender?: string;
  text?: string;
}

export interface MessageUpdatedLinkPreview {
  url: string;
  title: string;
  description?: string;
  site?: string;
  attachment_id?: string;
}

export interface MessageUpdatedReactions {
  emoji: string;
  users: Array<string>;
}

export interface MessageUpdated {
  type: "message_updated";
  id: string;
  ref: string;
  conversation_id: string;
  conversation_title?: string;
  is_group: boolean;
  seq?: number;
  sender: string;
  sender_name?: string;
  is_mine: boolean;
  text?: string;
  created_at: string;
  status: "sending" | "sent" | "delivered" | "read" | "failed";
  is_unread: boolean;
  read_by_count: number;
  read_by?: Array<string>;
  reply_to?: MessageUpdatedReplyTo;
  forwarded_from?: string;
  nonce?: string;
  attachments?: Array<Attachment>;
  link_preview?: MessageUpdatedLinkPreview;
  mentions?: Array<string>;
  reactions?: Array<MessageUpdatedReactions>;
  pinned_at?: string;
  pinned_by?: string;
  edited_at?: string;
  expires_at?: string;
  deleted_at?: string;
  failure?: string;
  replaces?: string;
  system_kind?: "conversation_created" | "user_joined" | "user_left" | "title_changed" | "history_imported" |
      "unreadable";
  subject?: string;
  duplicate?: boolean;
  line?: number;
  snippet?: string;
  likeness?: number;
  is_truncated?: boolean;
  changed: Array<"text" | "seq" | "created_at" | "status">;
  cursor?: string;
  as_of?: string;
}

export interface MessageDeleted {
  type: "message_deleted";
  message_id: string;
  conversation_id: string;
  seq?: number;
  for_everyone: boolean;
  cursor?: string;
  as_of?: string;
}

export interface MessageStatus {
  type: "message_status";
  conversation_id: string;
  conversation_title?: string;
  sender: string;
  status: "delivered" | "read";
  ranges: Array<Array<number>>;
  user: string;
  cursor: string;
  as_of?: string;
}

export interface Reaction {
  type: "reaction";
  message_id: string;
  conversation_id: string;
  seq: number;
  user: string;
  emoji?: string;
  reacted_at: string;
  cursor?: string;
  as_of?: string;
}

export interface MessagePin {
  type: "message_pin";
  message_id: string;
  conversation_id: string;
  seq: number;
  user: string;
  is_pinned: boolean;
  changed_at: string;
  cursor?: string;
  as_of?: string;
}

export interface DeliveryReceipt {
  type: "delivery_receipt";
  conversation_id: string;
  conversation_title?: string;
  user: string;
  ranges: Array<Array<number>>;
  delivered_at?: string;
  cursor?: string;
  as_of?: string;
}

export interface ReadReceipt {
  type: "read_receipt";
  conversation_id: string;
  conversation_title?: string;
  user: string;
  ranges: Array<Array<number>>;
  read_at: string;
  cursor?: string;
  as_of?: string;
}

export interface Typing {
  type: "typing";
  conversation_id: string;
  users: Array<string>;
  as_of?: string;
}

export interface Presence {
  type: "presence";
  user: string;
  is_online: boolean;
  last_seen_at?: string;
  as_of?: string;
}

export interface ConversationUpdated {
  type: "conversation_updated";
  id: string;
  name: string;
  is_group: boolean;
  title?: string;
  own_name?: string;
  avatar_url?: string;
  creator?: string;
  owners?: Array<string>;
  my_role?: "member" | "owner" | "former";
  participants: Array<string>;
  last_message?: Message;
  last_activity_at: string;
  unread_count: number;
  unread_mentions_count: number;
  last_read_seq?: number;
  first_unread_seq?: number;
  is_pinned: boolean;
  is_muted: boolean;
  muted_until?: string;
  is_archived: boolean;
  expire_after?: number;
  draft_text?: string;
  replaces?: string;
  cursor: string;
  as_of?: string;
}

export interface HubSetAside {
  conversation_id: string;
  conversation?: string;
  code: string;
}

export interface Hub {
  type: "hub";
  state: "never" | "connecting" | "filling" | "live" | "polling" | "waiting" | "refused" | "offline" | "left";
  color: "green" | "yellow" | "red";
  user: string;
  network: "normal" | "poor" | "very-poor" | "offline";
  is_running: boolean;
  queued_count: number;
  failed_count: number;
  oldest_queued_at?: string;
  attempts: number;
  last_sync_at?: string;
  next_attempt_at?: string;
  retry_at?: string;
  clock_offset?: number;
  fault?: string;
  set_aside?: Array<HubSetAside>;
  as_of?: string;
}

export interface CaughtUp {
  type: "caught_up";
  cursor: string;
  as_of?: string;
}

export interface Heartbeat {
  type: "heartbeat";
  cursor: string;
  as_of?: string;
}

export interface Gap {
  type: "gap";
  from: string;
  to: string;
  cursor: string;
  as_of?: string;
}

export interface Ack {
  type: "ack";
  consumer: string;
  cursor: string;
  as_of?: string;
}

export interface Consumer {
  type: "consumer";
  name: string;
  cursor: string;
  behind_count: number;
  skipped_count: number;
  used_at: string;
  as_of?: string;
}

export interface AttachmentThumbnail {
  sha256: string;
  mime_type: string;
  size_bytes: number;
  width: number;
  height: number;
}

export interface Attachment {
  type: "attachment";
  id: string;
  kind: "image" | "video" | "audio" | "voice" | "file";
  name: string;
  mime_type: string;
  size_bytes: number;
  sha256: string;
  width?: number;
  height?: number;
  duration?: number;
  thumbnail?: AttachmentThumbnail;
  waveform?: Array<number>;
  message_id?: string;
  conversation_id?: string;
  seq?: number;
  sender?: string;
  created_at?: string;
  path?: string;
  as_of?: string;
}

export type DmTail = Message | MessageUpdated | MessageDeleted | MessageStatus | Reaction | MessagePin | DeliveryReceipt
      | ReadReceipt | Typing | Presence | ConversationUpdated | Hub | CaughtUp | Heartbeat | Gap | Ack | Consumer;

export interface Conversation {
  type: "conversation";
  id: string;
  name: string;
  is_group: boolean;
  title?: string;
  own_name?: string;
  avatar_url?: string;
  creator?: string;
  owners?: Array<string>;
  my_role?: "member" | "owner" | "former";
  participants: Array<string>;
  last_message?: Message;
  last_activity_at: string;
  unread_count: number;
  unread_mentions_count: number;
  last_read_seq?: number;
  first_unread_seq?: number;
  is_pinned: boolean;
  is_muted: boolean;
  muted_until?: string;
  is_archived: boolean;
  expire_after?: number;
  draft_text?: string;
  page_cursor?: string;
}

export interface Error {
  type: "error";
  line?: number;
  code: "malformed_line" | "invalid_utf8" | "line_too_long" | "unfinished_line" | "missing_field" | "bad_field" |
      "bad_reference" | "bad_handle" | "bad_time" | "bad_cursor" | "empty_text" | "text_too_long" | "bad_attachment" |
      "nonce_conflict" | "out_of_order" | "handle_taken" | "name_taken" | "unknown_conversation" | "ambiguous_title" |
      "unknown_message" | "unknown_attachment" | "unknown_user" | "no_draft" | "unknown_consumer" | "unknown_file" |
      "unreadable_file" | "file_changed" | "not_allowed" | "usage" | "no_store" | "cannot_create" | "io_error" |
      "read_only_store" | "busy" | "store_too_new" | "store_foreign" | "store_damaged" | "store_replaced" | "gap" |
      "network_file_system" | "hub_unreachable" | "hub_refused" | "hub_mismatch" | "hub_damaged" | "no_hub" |
      "refused_by_hub" | "over_quota" | "model_failed" | "link_refused" | "link_failed" | "internal";
  retryable: boolean;
  subject?: string;
  nonce?: string;
  message: string;
}

export interface SendLineReplyTo {
  id: string;
}

export interface SendLineAttachments {
  id: string;
}

export interface SendLineLinkPreview {
  url: string;
  title: string;
  description?: string;
  site?: string;
  attachment_id?: string;
}

export interface SendLine {
  type?: string;
  conversation_id?: string;
  conversation?: string;
  text?: string;
  nonce?: string;
  reply_to?: string | SendLineReplyTo;
  attachments?: Array<string | SendLineAttachments>;
  link_preview?: SendLineLinkPreview;
  expires_in?: string | number;
  ack?: string;
  message_id?: string;
  react?: string;
  read?: boolean;
}

export type DmSend = Message | Conversation | Ack | Error;
