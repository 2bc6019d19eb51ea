//! Emulated tape drives, cartridges and robots with mechanics of their own, behind the SCSI transport.
