import AttachProgram
import DMCLI

DMAttach.main()
