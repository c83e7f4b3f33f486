import DMCLI
import HubProgram

DMHubProgram.main()
