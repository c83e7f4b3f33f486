import DMCLI
import HubProgram

DMHub.main()
