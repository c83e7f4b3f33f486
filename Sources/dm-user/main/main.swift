import DMCLI
import UserProgram

DMUser.main()
