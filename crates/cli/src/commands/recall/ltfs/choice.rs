//! Which files of a volume are recalled: all, or those of a list, or ranges of their bytes.

use super::Say;
use crate::commands::recall::Recall;
use crate::error::CliError;
use crate::units;
use tapewise::batch::Listed;
use tapewise_archive::deliver::InnerPath;
use tapewise_archive::ltfs::deliver::{NotWanted, Wanted};
use tapewise_archive::ltfs::wanted::{ByteRange, WantError};
use tapewise_archive::sums::{Kind, Ledger, ltfs_index_sum};
use tapewise_formats::list::Name;
use tapewise_formats::ltfs_extent::LtfsLayout;
use tapewise_formats::ltfs_index::LtfsFile;
use tapewise_formats::ltfs_select::{named, sorted};

/// What was asked for, before anything is known of the tape.
pub enum Choice {
    /// Every file.
    All,
    /// Those of a list, called so.
    Names(String, Vec<Name>),
    /// Ranges of bytes of the files of a list.
    Ranges(String, Vec<(Name, ByteRange)>),
}

/// What is to be recalled.
pub struct Chosen {
    /// What has a place to lie and to go.
    pub wanted: Vec<Wanted>,
    /// What was asked for and cannot be recalled, with why.
    pub left_out: Vec<(String, String)>,
}

impl Choice {
    /// Reads the list.
    pub fn read(args: &Recall) -> Result<Choice, CliError> {
        if args.all_files {
            return Ok(Choice::All);
        }
        let hint = "--all-files recalls everything";
        let (called, names) = args.list(hint)?;
        if !args.ranges {
            return Ok(Choice::Names(called, names));
        }
        let range = |name: Name| {
            let bad = |why: &dyn std::fmt::Display| {
                CliError::input(format!("{called}, line {}: {why}", name.line))
            };
            let text = name.as_str().map_err(|e| bad(&e))?;
            let (path, range) = text
                .rsplit_once('#')
                .ok_or_else(|| bad(&"with --ranges every name ends with #OFFSET+LENGTH"))?;
            let range = range.parse().map_err(|e| bad(&e))?;
            let bytes = path.as_bytes().to_vec();
            Ok((
                Name {
                    bytes,
                    ..name.clone()
                },
                range,
            ))
        };
        let ranges = names
            .into_iter()
            .map(range)
            .collect::<Result<_, CliError>>()?;
        Ok(Choice::Ranges(called, ranges))
    }

    /// What of it the index has.
    pub fn of(
        &self,
        args: &Recall,
        files: &[LtfsFile],
        layout: &LtfsLayout,
        ledger: &mut Ledger,
        say: Say<'_>,
    ) -> Result<Chosen, CliError> {
        let picked: Vec<(&LtfsFile, Option<ByteRange>)> = match self {
            Choice::All => files.iter().map(|file| (file, None)).collect(),
            Choice::Names(called, names) => {
                let listed = Listed {
                    list: called,
                    names,
                    ignore_missing: args.ignore_missing,
                    matching: &args.matching.matching(),
                };
                let found = listed.among_files("the index", files)?;
                found.notices.iter().for_each(|notice| say(notice));
                found.files.iter().map(|&at| (&files[at], None)).collect()
            }
            Choice::Ranges(called, ranges) => {
                let sorted = sorted(files);
                let last = |name: &Name| named(files, &sorted, &name.bytes).last().copied();
                let unknown = ranges.iter().map(|(name, _)| name);
                let unknown = unknown.filter(|name| last(name).is_none());
                let unknown: Vec<Name> = unknown.cloned().collect();
                refuse_unknown(args, called, &unknown, "not in the index", say)?;
                let known = ranges.iter();
                known
                    .filter_map(|(name, range)| Some((&files[last(name)?], Some(*range))))
                    .collect()
            }
        };
        self.wanted(picked, layout, ledger, say)
    }

    /// Whether a file was asked for by its own name, and not by a directory or a pattern or with everything else.
    fn names(&self, file: &LtfsFile) -> bool {
        let path = String::from(&file.path);
        let is_it = |name: &Name| {
            let before = path.as_bytes().strip_suffix(name.bytes.as_slice());
            before.is_some_and(|before| before.is_empty() || before.ends_with(b"/"))
        };
        match self {
            Choice::All => false,
            Choice::Names(_, names) => names.iter().any(is_it),
            Choice::Ranges(_, ranges) => ranges.iter().any(|(name, _)| is_it(name)),
        }
    }

    fn wanted(
        &self,
        picked: Vec<(&LtfsFile, Option<ByteRange>)>,
        layout: &LtfsLayout,
        ledger: &mut Ledger,
        say: Say<'_>,
    ) -> Result<Chosen, CliError> {
        let mut chosen = Chosen {
            wanted: Vec::new(),
            left_out: Vec::new(),
        };
        let mut links = Vec::new();
        for (file, range) in picked {
            if file.symlink.is_some() && !self.names(file) {
                links.push(file.path.to_string());
                continue;
            }
            let sums = match InnerPath::new(String::from(&file.path)) {
                Ok(path) => {
                    for sum in file.hashes.iter().filter_map(ltfs_index_sum) {
                        ledger
                            .add("the index", &path, None, &sum)
                            .map_err(CliError::input)?;
                    }
                    ledger.of(&path, file.length).map_err(CliError::input)?
                }
                Err(_) => Vec::new(),
            };
            match Wanted::new(file, layout, range, sums, vec![Kind::Xxh64]) {
                Ok(wanted) => chosen.wanted.push(wanted),
                Err(error @ NotWanted::Want(WantError::RangeBeyond { .. })) => {
                    return Err(CliError::input(error).of(&file.path));
                }
                Err(error) => {
                    say(&format_args!("{}: {error}", file.path));
                    chosen
                        .left_out
                        .push((file.path.to_string(), error.to_string()));
                }
            }
        }
        if !links.is_empty() {
            let count = units::count(links.len(), "symbolic link");
            let verb = if links.len() == 1 { "is" } else { "are" };
            let named = some_of(links.iter());
            say(&format_args!("{count} {verb} not made: {named}"));
        }
        let known = chosen
            .wanted
            .iter()
            .filter(|one| !one.expected.sums.is_empty())
            .count();
        let files = units::count(chosen.wanted.len(), "file");
        let bytes = chosen
            .wanted
            .iter()
            .map(|one| one.expected.bytes)
            .fold(0, u64::saturating_add);
        say(&format_args!(
            "{files}, {}; {known} have a known checksum",
            units::bytes(bytes)
        ));
        Ok(chosen)
    }
}

/// Names that cannot be found are an error unless they are to be ignored.
fn refuse_unknown(
    args: &Recall,
    called: &str,
    names: &[Name],
    why: &str,
    say: Say<'_>,
) -> Result<(), CliError> {
    if names.is_empty() {
        return Ok(());
    }
    let lines = names.iter().map(|name| {
        let text = String::from_utf8_lossy(&name.bytes);
        format!("line {}: {text}", name.line)
    });
    let said = format!("{called}: {why}: {}", some_of(lines));
    if !args.ignore_missing {
        return Err(CliError::input(said).hint(
            "with --ranges names are paths in the volume, byte for byte; --ignore-missing skips those it does not have",
        ));
    }
    say(&said);
    Ok(())
}

/// The first few of some names, and how many more there are.
fn some_of(names: impl ExactSizeIterator<Item = impl AsRef<str>>) -> String {
    const SHOWN: usize = 3;
    let more = names.len().saturating_sub(SHOWN);
    let mut said = String::new();
    for (nth, name) in names.take(SHOWN).enumerate() {
        if nth > 0 {
            said.push_str("; ");
        }
        said.push_str(name.as_ref());
    }
    if more > 0 {
        said.push_str(&format!("; and {more} more"));
    }
    said
}
