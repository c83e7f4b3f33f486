import DMCLI
import TypingProgram

DMTyping.main()
