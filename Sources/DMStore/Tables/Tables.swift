// The tables, by subject. Each property returns a new value, which contains only a reference to the store.

extension Store {
  package var attachments: Attachments { Attachments(store: self) }
  package var blocks: Blocks { Blocks(store: self) }
  package var changes: Changes { Changes(store: self) }
  package var consumers: Consumers { Consumers(store: self) }
  package var conversations: Conversations { Conversations(store: self) }
  package var hub: Hub { Hub(store: self) }
  package var hubBases: HubBases { HubBases(store: self) }
  package var hubConversations: HubConversations { HubConversations(store: self) }
  package var hubFloors: HubFloors { HubFloors(store: self) }
  package var hubKnown: HubKnown { HubKnown(store: self) }
  package var hubUnreadable: HubUnreadable { HubUnreadable(store: self) }
  package var hubOwnStates: HubOwnStates { HubOwnStates(store: self) }
  package var hubFiles: HubFiles { HubFiles(store: self) }
  package var hubAttachments: HubAttachments { HubAttachments(store: self) }
  package var members: Members { Members(store: self) }
  package var linkPreviews: LinkPreviews { LinkPreviews(store: self) }
  package var mentions: Mentions { Mentions(store: self) }
  package var messages: Messages { Messages(store: self) }
  package var outbox: Outbox { Outbox(store: self) }
  package var pictures: Pictures { Pictures(store: self) }
  package var pins: Pins { Pins(store: self) }
  package var reactions: Reactions { Reactions(store: self) }
  package var readState: ReadState { ReadState(store: self) }
  package var reports: Reports { Reports(store: self) }
  package var searchIndex: SearchIndex { SearchIndex(store: self) }
  package var unreadFlags: UnreadFlags { UnreadFlags(store: self) }
  package var users: Users { Users(store: self) }
  package var waiting: Waiting { Waiting(store: self) }
}
