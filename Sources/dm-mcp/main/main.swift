import DMCLI
import McpProgram

DMMCP.main()
