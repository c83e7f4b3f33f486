import ChatProgram
import DMCLI

DMChat.main()
