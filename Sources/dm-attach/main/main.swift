import DMCLI
import AttachProgram

DMAttach.main()
