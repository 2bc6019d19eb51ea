//! What extended headers say of the member that follows them.

use super::member::{Part, nanoseconds};
use super::tar_kind::Kind;

/// The longest name that a global header may give to all members that follow.
///
/// Each of them, 512 bytes on the tape, gets a copy of it. A name of one member may be longer: it
/// takes as much on the tape.
const MOST_GLOBAL_NAME_BYTES: usize = 4096;

/// Records for the next member, and for all that follow.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    next: Said,
    global: Said,
}

/// What is said of a member beside its header.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    path: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
    pub size: Option<u64>,
    pub mtime_ns: Option<i64>,
    pub is_sparse: bool,
    pub xxh3: Option<u64>,
    pub zstd_of: Option<u64>,
    pub part: Option<Part>,
    pub file_xxh3: Option<u64>,
    pub stored_ns: Option<i64>,
    pub copies: Option<u32>,
}

impl Records {
    /// Takes an extended header: pax (`x`, `X`), pax for all that follow (`g`), GNU's long names (`L`,
    /// `K`).
    ///
    /// # Errors
    /// What is wrong with it; what could be understood counts.
    pub fn take(&mut self, kind: u8, bytes: &[u8]) -> Result<(), &'static str> {
        match kind {
            b'L' => self.next.path = Some(before_zero(bytes)),
            b'K' => self.next.target = Some(before_zero(bytes)),
            b'g' => {
                self.global.pax(bytes)?;
                return self.global.refuse_long_names();
            }
            _ => return self.next.pax(bytes),
        }
        Ok(())
    }

    /// What is said of the member that comes now; the next one begins with what is said of all.
    pub fn next_member(&mut self) -> Said {
        let next = std::mem::take(&mut self.next);
        let global = &self.global;
        Said {
            path: next.path.or_else(|| global.path.clone()),
            target: next.target.or_else(|| global.target.clone()),
            size: next.size.or(global.size),
            mtime_ns: next.mtime_ns.or(global.mtime_ns),
            is_sparse: next.is_sparse,
            xxh3: next.xxh3,
            zstd_of: next.zstd_of,
            part: next.part,
            file_xxh3: next.file_xxh3,
            stored_ns: next.stored_ns,
            copies: next.copies,
        }
    }
}

impl Said {
    /// The member's name: as said, else as in its header.
    pub fn path(&self, header: &::tar::Header) -> Vec<u8> {
        self.path
            .clone()
            .unwrap_or_else(|| header.path_bytes().into_owned())
    }

    /// Where a link points.
    pub fn target(&self, header: &::tar::Header, kind: Kind) -> Option<Vec<u8>> {
        match kind {
            Kind::HardLink | Kind::Symlink => {
                let own = || header.link_name_bytes().map(std::borrow::Cow::into_owned);
                self.target.clone().or_else(own)
            }
            _ => None,
        }
    }

    /// Forgets names for all members that are longer than any that a file system takes.
    fn refuse_long_names(&mut self) -> Result<(), &'static str> {
        let names = [&mut self.path, &mut self.target];
        let mut long = names.into_iter().filter(|name| {
            let name = name.as_ref();
            name.is_some_and(|name| name.len() > MOST_GLOBAL_NAME_BYTES)
        });
        let Some(first) = long.next() else {
            return Ok(());
        };
        *first = None;
        long.for_each(|name| *name = None);
        Err("a name for all members is longer than 4 KiB")
    }

    fn pax(&mut self, mut bytes: &[u8]) -> Result<(), &'static str> {
        while !bytes.is_empty() {
            let space = bytes.iter().take(20).position(|byte| *byte == b' ');
            let space = space.ok_or("a record has no length")?;
            let length = number(&bytes[..space]).ok_or("the length of a record is not a number")?;
            let length = usize::try_from(length).map_err(|_| "a record is too long")?;
            let record = bytes
                .get(space + 1..length)
                .ok_or("a record is longer than the header")?;
            let record = record
                .strip_suffix(b"\n")
                .ok_or("a record does not end its line")?;
            let equals = record.iter().position(|byte| *byte == b'=');
            let (key, value) = record.split_at(equals.ok_or("a record has no value")?);
            self.record(key, &value[1..])?;
            bytes = &bytes[length..];
        }
        Ok(())
    }

    fn record(&mut self, key: &[u8], value: &[u8]) -> Result<(), &'static str> {
        let text = || std::str::from_utf8(value).map_err(|_| "a number is not text");
        let bytes = || number(value).ok_or("a number of bytes is not a number");
        let sum =
            || u64::from_str_radix(text()?, 16).map_err(|_| "a sum is not a hexadecimal number");
        match key {
            b"path" => self.path = Some(value.to_vec()),
            b"GNU.sparse.name" => {
                self.path = Some(value.to_vec());
                self.is_sparse = true;
            }
            b"linkpath" => self.target = Some(value.to_vec()),
            b"size" => self.size = Some(bytes()?),
            b"mtime" => self.mtime_ns = Some(nanoseconds(text()?).ok_or("mtime is not a time")?),
            b"TAPEWISE.xxh3" => self.xxh3 = Some(sum()?),
            b"TAPEWISE.file.xxh3" => self.file_xxh3 = Some(sum()?),
            b"TAPEWISE.stored" => self.stored_ns = nanoseconds(text()?),
            b"TAPEWISE.copies" => self.copies = text()?.parse().ok(),
            b"TAPEWISE.zstd" => self.zstd_of = Some(bytes()?),
            b"TAPEWISE.part" => {
                let (number, of) = text()?
                    .split_once('/')
                    .ok_or("TAPEWISE.part is not a part")?;
                let parse = |text: &str| text.parse().map_err(|_| "TAPEWISE.part is not a part");
                let (number, of) = (parse(number)?, parse(of)?);
                if !(1..=of).contains(&number) {
                    return Err("TAPEWISE.part is not a part");
                }
                let part = self.part.get_or_insert(NOTHING);
                (part.number, part.of) = (number, of);
            }
            b"TAPEWISE.offset" => self.part.get_or_insert(NOTHING).offset = bytes()?,
            _ if key.starts_with(b"GNU.sparse.") => self.is_sparse = true,
            _ => {}
        }
        Ok(())
    }
}

/// A part of which nothing is said yet.
const NOTHING: Part = Part {
    number: 1,
    of: 1,
    offset: 0,
};

fn number(digits: &[u8]) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits)
        .ok()
        .filter(|_| is_number)?
        .parse()
        .ok()
}

fn before_zero(bytes: &[u8]) -> Vec<u8> {
    let end = bytes.iter().position(|byte| *byte == 0);
    bytes[..end.unwrap_or(bytes.len())].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(key: &str, value: &str) -> Vec<u8> {
        let body = format!(" {key}={value}\n");
        let digits = |length: usize| length.to_string().len() + body.len();
        let length = digits(digits(body.len()));
        format!("{length}{body}").into_bytes()
    }

    #[test]
    fn a_part_has_a_number_among_those_that_there_are() {
        let part = |value| {
            let mut records = Records::default();
            let taken = records.take(b'x', &record("TAPEWISE.part", value));
            (taken.is_ok(), records.next_member().part.is_some())
        };
        for wrong in ["0/0", "1/0", "0/1", "3/2", "1", "1/", "-1/2"] {
            assert_eq!(part(wrong), (false, false), "{wrong}");
        }
        assert_eq!(part("2/2"), (true, true));
    }

    #[test]
    fn a_long_name_for_all_members_is_refused_and_a_long_one_of_one_member_is_not() {
        let header = ::tar::Header::new_ustar();
        let long = "n".repeat(MOST_GLOBAL_NAME_BYTES + 1);
        for key in ["path", "linkpath", "GNU.sparse.name"] {
            let mut records = Records::default();
            assert!(records.take(b'g', &record(key, &long)).is_err(), "{key}");
            assert_eq!(records.next_member().path(&header), b"");
            let short = &long[1..];
            records
                .take(b'g', &record(key, short))
                .expect("short enough");
            let said = records.next_member();
            let target = said.target(&header, Kind::Symlink);
            let found = if key == "linkpath" {
                target
            } else {
                Some(said.path(&header))
            };
            assert_eq!(found.as_deref(), Some(short.as_bytes()), "{key}");
        }
        let mut records = Records::default();
        records.take(b'x', &record("path", &long)).expect("its own");
        assert_eq!(records.next_member().path(&header), long.as_bytes());
    }
}
