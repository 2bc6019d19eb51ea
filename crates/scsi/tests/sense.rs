//! Sense data: formats, the LTO fields, words, and what everybody takes it to mean.

use tapewise_scsi::{Attention, Condition, NotReady, Sense, SenseKey, Specific, hex};

/// Fixed-format sense of this key and code, with these flags and this information.
fn fixed(key: u8, code: u16, flags: u8, information: i32) -> Sense {
    let [i0, i1, i2, i3] = information.to_be_bytes();
    let [asc, ascq] = code.to_be_bytes();
    let bytes = [
        0xf0,
        0,
        flags | key,
        i0,
        i1,
        i2,
        i3,
        10,
        0,
        0,
        0,
        0,
        asc,
        ascq,
        0,
        0,
        0,
        0,
    ];
    Sense::decode(&bytes).unwrap()
}

fn condition(key: u8, code: u16) -> Condition {
    fixed(key, code, 0, 0).condition()
}

#[test]
fn a_command_that_the_tape_driver_cannot_send_names_the_module_that_is_missing() {
    let sense = fixed(5, 0x20f0, 0, 0);
    assert!(
        sense
            .to_string()
            .contains("load the sg module (modprobe sg)"),
        "{sense}"
    );
    let by_drive = fixed(5, 0x2000, 0, 0).to_string();
    assert!(
        by_drive.contains("invalid command operation code"),
        "{by_drive}"
    );
    assert!(!by_drive.contains("sg module"), "{by_drive}");
    // Whoever can do without the command does without it in both cases.
    assert_eq!(sense.condition(), fixed(5, 0x2000, 0, 0).condition());
}

#[test]
fn the_sense_of_cerns_type_m8_tape_tells_wrap_lpos_and_label() {
    let dump = &tapewise_house::text("scsi/cern-2018-m8.hex");
    let bytes = hex::parse(dump).unwrap();
    assert_eq!(bytes.len(), 48);
    let sense = Sense::decode(&bytes).unwrap();
    assert_eq!((sense.key, sense.code()), (SenseKey::NoSense, 0));
    assert_eq!(
        (sense.information, sense.condition()),
        (None, Condition::Fine)
    );
    assert_eq!(sense.field_replaceable_unit, Some(0x30));
    let device = &sense.device;
    assert_eq!(device.volume_label.as_deref(), Some("L70063M"));
    assert_eq!((device.wrap(), device.lpos), (Some(2), Some(0x0001_1a77)));
    assert_eq!(device.partition, Some(0));
    assert_eq!(device.tape_directory_valid, Some(true));
    assert_eq!(
        (device.opcode, device.cartridge_generation),
        (Some(0), Some(6))
    );
    assert_eq!(device.label_type.as_deref(), Some("M8"));
    assert!(device.is_filled());
    // The dump ends within the logical block number: what did not come is not known.
    assert_eq!((device.logical_block, device.data_set), (None, None));
    assert_eq!(
        (device.lpos_region, &device.cartridge_serial),
        (None, &None)
    );
}

#[test]
fn the_whole_form_has_the_block_the_region_and_the_cartridges_serial_number() {
    let mut bytes = [0; 96];
    bytes[0] = 0x70;
    bytes[7] = 88;
    bytes[29] = 0xff;
    bytes[43..45].copy_from_slice(b"L9");
    bytes[45..49].copy_from_slice(&0x0007_b0fe_u32.to_be_bytes());
    bytes[69] = 82;
    bytes[86..96].copy_from_slice(b"  00012345");
    let device = Sense::decode(&bytes).unwrap().device;
    assert_eq!(device.logical_block, Some(0x7b0fe));
    assert_eq!(device.lpos_region, Some(82));
    assert_eq!(device.cartridge_serial.as_deref(), Some("00012345"));
    // FFh is every wrap above 254; without VOLVALID there is no label.
    assert_eq!(
        (device.physical_wrap_byte, device.wrap()),
        (Some(0xff), None)
    );
    assert_eq!(device.volume_label, None);
}

#[test]
fn an_emulation_that_sends_zeros_has_no_position() {
    let mut bytes = [0; 96];
    bytes[0] = 0xf0;
    bytes[7] = 0x58;
    let sense = Sense::decode(&bytes).unwrap();
    assert_eq!(sense.device.lpos, Some(0));
    assert!(!sense.device.is_filled());
}

#[test]
fn bytes_past_what_the_device_sent_are_not_known() {
    // ADDITIONAL SENSE LENGTH says 10: the buffer behind it was never filled.
    let mut bytes = [0xee; 96];
    bytes[..18].copy_from_slice(&[0x70, 0, 5, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0]);
    let sense = Sense::decode(&bytes).unwrap();
    assert_eq!(
        (sense.device.lpos, sense.device.needs_cleaning),
        (None, None)
    );
    assert_eq!(sense.condition(), Condition::UnsupportedCommand);
}

#[test]
fn the_rest_of_a_longer_block_is_negative() {
    let sense = fixed(0, 0x0000, 0x20, 100 - 3000);
    assert_eq!(sense.information, Some(-2900));
    assert_eq!(sense.condition(), Condition::IncorrectLength);
}

#[test]
fn the_descriptor_format_says_the_same() {
    let bytes = hex::parse(
        "72 00 00 01 00 00 00 18
         00 0a 80 00 ff ff ff ff ff ff f4 ac
         04 02 00 a0
         02 06 00 00 c8 00 05 00",
    )
    .unwrap();
    let sense = Sense::decode(&bytes).unwrap();
    assert_eq!(sense.information, Some(-2900));
    assert!(sense.filemark && sense.incorrect_length && !sense.end_of_medium);
    assert_eq!(sense.code(), 0x0001);
    assert!(!sense.is_deferred);
}

#[test]
fn a_refused_field_is_named() {
    let bytes = hex::parse("70 00 05 00 00 00 00 0a 00 00 00 00 24 00 00 c9 00 02").unwrap();
    let sense = Sense::decode(&bytes).unwrap();
    let field = Specific::Field {
        in_cdb: true,
        byte: 2,
        bit: Some(1),
    };
    assert_eq!(sense.specific, Some(field));
    assert_eq!(
        sense.to_string(),
        "illegal request: invalid field in CDB (05/24/00), byte 2 bit 1 of the command"
    );
}

#[test]
fn progress_is_a_share() {
    let bytes = hex::parse("70 00 02 00 00 00 00 0a 00 00 00 00 04 07 00 80 40 00").unwrap();
    let sense = Sense::decode(&bytes).unwrap();
    assert_eq!(sense.specific, Some(Specific::Progress(0x4000)));
    assert!(
        sense.to_string().ends_with("(02/04/07), 25 % done"),
        "{sense}"
    );
}

#[test]
fn sense_is_said_in_words_and_its_numbers_stay() {
    assert_eq!(
        fixed(3, 0x1100, 0, 0).to_string(),
        "medium error: unrecovered read error (03/11/00)"
    );
    assert_eq!(
        fixed(0, 0x8282, 0, 0).to_string(),
        "no sense: vendor-specific code 82h/82h (00/82/82)"
    );
    let mut deferred = fixed(4, 0x4400, 0, 0);
    deferred.is_deferred = true;
    assert_eq!(
        deferred.to_string(),
        "of an earlier command: hardware error: internal target failure (04/44/00)"
    );
}

#[test]
fn other_response_codes_and_short_data_are_refused() {
    for bytes in [&[][..], &[0x70, 0, 3], &[0x00; 18], &[0x7f; 18]] {
        assert!(Sense::decode(bytes).is_err(), "{bytes:02x?}");
    }
}

#[test]
fn every_condition_of_a_tape_is_told_apart() {
    use Condition::*;
    let flagged = |flags, code| fixed(0, code, flags, 0).condition();
    assert_eq!(flagged(0x80, 0x0001), Filemark);
    // A filemark within early warning sets EOM too: what stopped the read is the filemark.
    assert_eq!(flagged(0xc0, 0x0001), Filemark);
    assert_eq!(flagged(0x40, 0x0002), EarlyWarning);
    assert_eq!(flagged(0x40, 0x0000), EarlyWarning);
    assert_eq!(flagged(0x40, 0x0004), BeginningOfPartition);
    assert_eq!(flagged(0x00, 0x0017), Fine);
    let expected = [
        (0x1, 0x1701, Recovered),
        (0x2, 0x0401, NotReady(self::NotReady::BecomingReady)),
        (0x2, 0x0400, NotReady(self::NotReady::BecomingReady)),
        (0x2, 0x3e00, NotReady(self::NotReady::BecomingReady)),
        (0x2, 0x0402, NotReady(self::NotReady::NeedsLoad)),
        (0x2, 0x0403, NotReady(self::NotReady::NeedsIntervention)),
        (0x2, 0x3a00, NotReady(self::NotReady::NoMedium)),
        (0x2, 0x3a04, NotReady(self::NotReady::NoMedium)),
        (0x2, 0x3003, NotReady(self::NotReady::Cleaning)),
        (0x2, 0x3002, NotReady(self::NotReady::Incompatible)),
        (0x3, 0x1100, Medium),
        (0x3, 0x1404, Medium),
        (0x3, 0x0002, EndOfMedium),
        (0x4, 0x1501, Hardware),
        (0x5, 0x2000, UnsupportedCommand),
        (0x5, 0x2400, UnsupportedField),
        (0x5, 0x2600, UnsupportedField),
        (0x5, 0x2c00, IllegalRequest),
        (0x5, 0x2101, Element),
        (0x5, 0x3b0d, Element),
        (0x5, 0x3b0e, Element),
        (0x5, 0x5302, RemovalPrevented),
        (0x6, 0x2800, UnitAttention(Attention::MediumChanged)),
        (0x6, 0x2801, UnitAttention(Attention::StationAccessed)),
        (0x6, 0x2904, UnitAttention(Attention::Reset)),
        (0x6, 0x2a01, UnitAttention(Attention::ParametersChanged)),
        (0x6, 0x2a03, UnitAttention(Attention::ReservationsChanged)),
        (0x6, 0x2a0d, UnitAttention(Attention::EncryptionChanged)),
        (0x6, 0x2a10, UnitAttention(Attention::ParametersChanged)),
        (0x6, 0x2a12, UnitAttention(Attention::EncryptionChanged)),
        (0x6, 0x3f01, UnitAttention(Attention::FirmwareChanged)),
        (0x6, 0x5a01, UnitAttention(Attention::RemovalRequested)),
        (0x7, 0x2700, DataProtect),
        (0x7, 0x300c, DataProtect),
        (0x8, 0x0005, EndOfData),
        (0xb, 0x4b00, Aborted),
        (0xd, 0x0002, EndOfMedium),
        (0xe, 0x1d00, Other),
    ];
    for (key, code, meant) in expected {
        assert_eq!(condition(key, code), meant, "{key:x}/{code:04x}");
    }
}

#[test]
fn only_what_passes_by_itself_is_retryable() {
    let retryable = |key, code| fixed(key, code, 0, 0).is_retryable();
    assert!(retryable(0x2, 0x0401) && retryable(0x2, 0x3003) && retryable(0xb, 0x4b00));
    assert!(!retryable(0x2, 0x3a00) && !retryable(0x3, 0x1100) && !retryable(0x6, 0x2800));
}

/// Lines for people have no names of the source in them.
#[test]
fn every_condition_is_in_words() {
    for key in 0..16 {
        for code in [0, 0x2800, 0x2900, 0x2a01, 0x2a03, 0x3a00, 0x0401, 0x5a01] {
            let [asc, ascq] = u16::to_be_bytes(code);
            let condition = Sense::new(SenseKey::from_bits(key), asc, ascq).condition();
            let words = condition.to_string();
            let (first, rest) = words.split_at(1);
            assert_eq!(first, first.to_lowercase(), "{words}");
            assert!(words.contains(' ') && !rest.contains('('), "{words}");
        }
    }
}
