import DMCLI
import SyncProgram

DMSyncProgram.main()
