import DMCLI
import DoctorProgram

DMDoctor.main()
