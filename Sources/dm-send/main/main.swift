import DMCLI
import SendProgram

DMSend.main()
