import DMCLI
import PreviewProgram

DMPreviewProgram.main()
