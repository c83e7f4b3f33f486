import DMCLI
import TailProgram

DMTail.main()
