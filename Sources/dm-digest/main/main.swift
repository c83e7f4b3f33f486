import DMCLI
import DigestProgram

DMDigestProgram.main()
