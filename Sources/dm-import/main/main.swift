import DMCLI
import ImportProgram

DMImport.main()
