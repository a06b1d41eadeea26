"""The driver `direct`: MongoDB's wire protocol, behind the interface `Driver`. Read its README first."""
