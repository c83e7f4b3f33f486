import DMCLI
import ConversationProgram

DMConversation.main()
