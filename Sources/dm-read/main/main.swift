import DMCLI
import ReadProgram

DMRead.main()
