import DMCLI
import SearchProgram

DMSearch.main()
