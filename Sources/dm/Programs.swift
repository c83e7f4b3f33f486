import AttachProgram
import ConversationProgram
import DMCLI
import DoctorProgram
import EditProgram
import ImportProgram
import ListProgram
import McpProgram
import ReadProgram
import SearchProgram
import SendProgram
import TailProgram
import TypingProgram
import UserProgram

/// The programs of this file, in the order in which a newcomer needs them.
enum Programs {
  static let all: [(name: String, program: any Program.Type)] = [
    ("dm-list", DMList.self), ("dm-send", DMSend.self), ("dm-tail", DMTail.self), ("dm-read", DMRead.self),
    ("dm-attach", DMAttach.self), ("dm-edit", DMEdit.self), ("dm-search", DMSearch.self),
    ("dm-typing", DMTyping.self), ("dm-user", DMUser.self), ("dm-conversation", DMConversation.self),
    ("dm-import", DMImport.self), ("dm-mcp", DMMCP.self), ("dm-doctor", DMDoctor.self),
  ]

  /// The programs that use the network: files of their own, beside this one.
  static let apart = [
    (name: "dm-sync", summary: "link a store to a hub, and carry between the two"),
    (name: "dm-hub", summary: "set up a hub, and say who may join"),
  ]

  static func named(_ name: String) -> (any Program.Type)? { all.first { $0.name == name }?.program }
}
