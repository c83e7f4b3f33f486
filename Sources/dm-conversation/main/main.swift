import ConversationProgram
import DMCLI

DMConversation.main()
