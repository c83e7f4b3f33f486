import DMCLI
import EditProgram

DMEdit.main()
