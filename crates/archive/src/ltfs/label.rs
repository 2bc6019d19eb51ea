//! What identifies an LTFS volume beside its XML label: the VOL1 label at the beginning of each
//! partition, and the volume coherency attribute in the cartridge's memory.

/// The attribute of the cartridge's memory that says how far a partition was written when its index
/// was (SPC-5, 7.4.2.4.10).
pub const COHERENCY_ATTRIBUTE: u16 = 0x080c;

/// Why a first block is not the VOL1 label of an LTFS volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoVol1 {
    /// It has another length.
    #[error("it has {bytes} bytes, a VOL1 label has 80")]
    Length {
        /// Its length.
        bytes: usize,
    },
    /// It begins otherwise.
    #[error("it does not begin with VOL1")]
    Identifier,
    /// It is an ANSI label of something else.
    #[error("its VOL1 label is not one of LTFS")]
    NotLtfs,
}

/// The name of the cartridge as a VOL1 label has it; `None` where it was formatted without a name.
///
/// # Errors
/// [`NoVol1`]; what is read is six characters at byte 4 and the system at byte 24 (LTFS Format
/// Specification 2.5, section 6.1.1).
pub fn volume_name(block: &[u8]) -> Result<Option<String>, NoVol1> {
    if block.len() != 80 {
        return Err(NoVol1::Length { bytes: block.len() });
    }
    if !block.starts_with(b"VOL1") {
        return Err(NoVol1::Identifier);
    }
    if !block[24..].starts_with(b"LTFS") {
        return Err(NoVol1::NotLtfs);
    }
    let name = String::from_utf8_lossy(&block[4..10]);
    let name = name.trim_matches([' ', '\0']);
    Ok((!name.is_empty()).then(|| name.to_owned()))
}

/// What the cartridge's memory says of a partition: the index that was the newest one when it was
/// written there, which LTFS does when it unmounts a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coherency {
    /// The drive's count of changes to the cartridge when the attribute was written.
    pub change_reference: u64,
    /// The generation of the index.
    pub generation: u64,
    /// The block in which it begins.
    pub start_block: u64,
    /// The volume's UUID, in lower case.
    pub volume_uuid: String,
}

impl Coherency {
    /// Reads the value of the attribute; `None` where another application wrote it, or it is
    /// damaged.
    pub fn parse(value: &[u8]) -> Option<Coherency> {
        let (&length, rest) = value.split_first()?;
        let (change_reference, rest) = rest.split_at_checked(usize::from(length))?;
        let (generation, rest) = rest.split_at_checked(8)?;
        let (start_block, rest) = rest.split_at_checked(8)?;
        let of_application = rest.get(2..)?.strip_prefix(b"LTFS\0")?;
        let uuid = of_application.get(..36)?;
        if !uuid.is_ascii() || change_reference.len() > 8 {
            return None;
        }
        Some(Coherency {
            change_reference: number(change_reference),
            generation: number(generation),
            start_block: number(start_block),
            volume_uuid: String::from_utf8_lossy(uuid).to_ascii_lowercase(),
        })
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |number, &byte| number << 8 | u64::from(byte))
}
