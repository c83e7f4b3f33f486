import AttachProgram
import ChatProgram
import ConversationProgram
import DMCLI
import DigestProgram
import DoctorProgram
import EditProgram
import ExportProgram
import HubProgram
import ImportProgram
import ListProgram
import McpProgram
import PreviewProgram
import ReadProgram
import SearchProgram
import SendProgram
import SyncProgram
import TailProgram
import TypingProgram
import UsageProgram
import UserProgram

/// The programs of the suite, in the order in which a new user needs them.
enum Programs {
  static let all: [(name: String, program: any Program.Type)] = [
    ("dm-list", DMList.self), ("dm-send", DMSend.self), ("dm-tail", DMTail.self), ("dm-chat", DMChat.self),
    ("dm-read", DMRead.self), ("dm-attach", DMAttach.self), ("dm-edit", DMEdit.self), ("dm-search", DMSearch.self),
    ("dm-digest", DMDigestProgram.self), ("dm-typing", DMTyping.self), ("dm-preview", DMPreviewProgram.self),
    ("dm-user", DMUser.self), ("dm-conversation", DMConversation.self), ("dm-import", DMImport.self),
    ("dm-export", DMExport.self),
    ("dm-mcp", DMMCP.self), ("dm-doctor", DMDoctor.self), ("dm-usage", DMUsage.self), ("dm-sync", DMSyncProgram.self),
    ("dm-hub", DMHub.self),
  ]

  /// The programs that a static `dm` does not contain, because they load libraries. They are separate files beside it.
  #if DM_STATIC
    static let apart = ["dm-sync", "dm-hub", "dm-preview"]
  #else
    static let apart: [String] = []
  #endif

  static func named(_ name: String) -> (any Program.Type)? {
    apart.contains(name) ? nil : all.first { $0.name == name }?.program
  }
}
