import DMCLI
import UsageProgram

DMUsage.main()
