import DMCLI
import ExportProgram

DMExport.main()
