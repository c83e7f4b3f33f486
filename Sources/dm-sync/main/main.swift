import DMCLI
import SyncProgram

DMSync.main()
