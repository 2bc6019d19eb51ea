//! Why a command ended with CHECK CONDITION, and the sense bytes that say so.

use tapewise_scsi::SenseKey;

/// The contents of sense data (SPC-5, 4.4.3), before a device puts its own fields behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    pub key: SenseKey,
    /// Additional sense code and qualifier as one number: 0x3a00.
    pub code: u16,
    pub filemark: bool,
    pub end_of_medium: bool,
    pub incorrect_length: bool,
    pub information: Option<i64>,
    /// Which byte is wrong, for an illegal request.
    pub field: Option<Field>,
    pub is_deferred: bool,
}

/// A field pointer (SPC-5, 4.4.2.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    in_cdb: bool,
    byte: u16,
    bit: Option<u8>,
}

impl Check {
    pub const INVALID_OPCODE: Check = Check::new(SenseKey::IllegalRequest, 0x2000);
    pub const PARAMETER_LIST_LENGTH: Check = Check::new(SenseKey::IllegalRequest, 0x1a00);
    pub const SEQUENCE: Check = Check::new(SenseKey::IllegalRequest, 0x2c00);
    pub const INVALID_ELEMENT: Check = Check::new(SenseKey::IllegalRequest, 0x2101);
    pub const DESTINATION_FULL: Check = Check::new(SenseKey::IllegalRequest, 0x3b0d);
    pub const SOURCE_EMPTY: Check = Check::new(SenseKey::IllegalRequest, 0x3b0e);
    pub const REMOVAL_PREVENTED: Check = Check::new(SenseKey::IllegalRequest, 0x5302);
    pub const NO_MEDIUM: Check = Check::new(SenseKey::NotReady, 0x3a00);
    pub const BECOMING_READY: Check = Check::new(SenseKey::NotReady, 0x0401);
    pub const OPERATION_IN_PROGRESS: Check = Check::new(SenseKey::NotReady, 0x0407);
    pub const LOAD_NEEDED: Check = Check::new(SenseKey::NotReady, 0x0402);
    pub const INCOMPATIBLE_MEDIUM: Check = Check::new(SenseKey::MediumError, 0x3000);
    pub const UNRECOVERED_READ: Check = Check::new(SenseKey::MediumError, 0x1100);
    pub const MECHANICAL: Check = Check::new(SenseKey::HardwareError, 0x1501);
    pub const WRITE_ERROR: Check = Check::new(SenseKey::MediumError, 0x0c00);
    pub const WRITE_PROTECTED: Check = Check::new(SenseKey::DataProtect, 0x2700);
    pub const WORM_OVERWRITE: Check = Check::new(SenseKey::DataProtect, 0x300c);
    pub const INTERNAL_FAILURE: Check = Check::new(SenseKey::HardwareError, 0x4400);
    pub const DATA_PHASE: Check = Check::new(SenseKey::AbortedCommand, 0x4b00);
    pub const END_OF_DATA: Check = Check::new(SenseKey::BlankCheck, 0x0005);
    pub const CLEANING_REQUESTED: Check = Check::new(SenseKey::NoSense, 0x0017);
    pub const CLEANING: Check = Check::new(SenseKey::NotReady, 0x3003);
    pub const NONE: Check = Check::new(SenseKey::NoSense, 0x0000);

    pub const fn new(key: SenseKey, code: u16) -> Check {
        Check {
            key,
            code,
            filemark: false,
            end_of_medium: false,
            incorrect_length: false,
            information: None,
            field: None,
            is_deferred: false,
        }
    }

    pub const fn unit_attention(code: u16) -> Check {
        Check::new(SenseKey::UnitAttention, code)
    }

    /// Invalid field in CDB, at this byte.
    pub const fn invalid_cdb(byte: u16) -> Check {
        Check::illegal_field(0x2400, true, byte, None)
    }

    /// Invalid field in CDB, whose highest bit is `bit` of this byte.
    pub const fn invalid_cdb_bits(byte: u16, bit: u8) -> Check {
        Check::illegal_field(0x2400, true, byte, Some(bit))
    }

    /// Invalid field in parameter list, at this byte.
    pub const fn invalid_parameter(byte: u16) -> Check {
        Check::illegal_field(0x2600, false, byte, None)
    }

    const fn illegal_field(code: u16, in_cdb: bool, byte: u16, bit: Option<u8>) -> Check {
        let mut check = Check::new(SenseKey::IllegalRequest, code);
        check.field = Some(Field { in_cdb, byte, bit });
        check
    }

    pub const fn information(mut self, information: i64) -> Check {
        self.information = Some(information);
        self
    }

    pub const fn filemark(mut self) -> Check {
        self.filemark = true;
        self
    }

    pub const fn end_of_medium(mut self) -> Check {
        self.end_of_medium = true;
        self
    }

    pub const fn incorrect_length(mut self) -> Check {
        self.incorrect_length = true;
        self
    }

    /// The first 18 bytes of fixed format sense.
    pub fn fixed(&self) -> [u8; 18] {
        let mut sense = [0; 18];
        sense[0] = 0x70 | u8::from(self.is_deferred) | u8::from(self.information.is_some()) << 7;
        sense[2] = self.key as u8
            | u8::from(self.filemark) << 7
            | u8::from(self.end_of_medium) << 6
            | u8::from(self.incorrect_length) << 5;
        // Fixed format has 32 bits for the information; longer values keep their low half, as the
        // two's complement of a block longer than asked for needs.
        let information = self.information.unwrap_or(0) as u32;
        sense[3..7].copy_from_slice(&information.to_be_bytes());
        sense[7] = 10;
        sense[12..14].copy_from_slice(&self.code.to_be_bytes());
        if let Some(field) = self.field {
            let bit = field.bit.map_or(0, |bit| 0x08 | bit);
            sense[15] = 0x80 | u8::from(field.in_cdb) << 6 | bit;
            sense[16..18].copy_from_slice(&field.byte.to_be_bytes());
        }
        sense
    }
}
