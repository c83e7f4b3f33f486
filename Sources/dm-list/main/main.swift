import DMCLI
import ListProgram

DMList.main()
