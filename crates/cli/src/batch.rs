//! What is to be read: from whatever the user gives to requests, with what was recognised.

mod mount;

use crate::error::CliError;
use crate::names::{MatchArgs, given_names, read_names};
use crate::progress;
use crate::quantity;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use tapewise::Batch;
use tapewise::batch::{Chosen, Listed, LtfsVolume, Source, check_label};
use tapewise::tapes::{Share, TapesError, everything, share};
use tapewise_formats::list::Name;
use tapewise_formats::ltfs_extent::LtfsLayout;
use tapewise_formats::name_match::MatchBy;
use tapewise_formats::{Content, FORMATS, Format, ltfs_label};

/// Where the requests come from.
#[derive(clap::Args, Debug, Default)]
pub struct Input {
    /// Requests: CSV, JSON Lines, an LTFS index, a CTA listing; "-" or nothing is standard input.
    #[arg(value_name = "REQUESTS")]
    requests: Option<PathBuf>,
    /// Format of the requests, if tapewise does not recognise it.
    #[arg(long, value_name = "FORMAT", value_parser = format_name)]
    format: Option<&'static Format>,
    /// Index of an LTFS volume; the names to read come from --files-from or standard input. With
    /// `order`, several indexes, or a directory of them, give a pull list over several tapes.
    #[arg(long, value_name = "XML|DIR", num_args = 1.., conflicts_with = "requests")]
    ltfs_index: Vec<PathBuf>,
    /// Label of the same volume: its block size and partitions.
    #[arg(long, value_name = "XML")]
    ltfs_label: Option<PathBuf>,
    /// Mounted LTFS volume. Positions come from the extended attributes of its files.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["requests", "ltfs_index"])]
    ltfs_mount: Option<PathBuf>,
    /// Names that a recall has on its command line.
    #[arg(skip)]
    names: Vec<OsString>,
    /// File with the names to read, one a line; "-" is standard input.
    #[arg(long, value_name = "LIST")]
    files_from: Option<PathBuf>,
    /// Read every file of the LTFS volume instead of a list of names.
    #[arg(long, conflicts_with = "files_from")]
    all_files: bool,
    /// Names in the list end with a zero byte, not a line feed.
    #[arg(short = '0', long)]
    null: bool,
    /// Skip names that cannot be found, and list them.
    #[arg(long)]
    ignore_missing: bool,
    #[command(flatten)]
    matching: MatchArgs,
    /// Size of a block on the tape, such as 524288 or 512K.
    #[arg(long, value_name = "BYTES", value_parser = quantity::size_in::<u64>(1..=u64::MAX))]
    block_size: Option<u64>,
    /// Use only the requests of this cartridge.
    #[arg(long, value_name = "VOLUME")]
    volume: Option<String>,
}

/// Which files of a volume are wanted, as options give them.
#[derive(Debug, Default)]
pub struct Wanted {
    /// The names themselves; without any, the list.
    pub names: Vec<OsString>,
    /// The list of names.
    pub files_from: Option<PathBuf>,
    /// Everything instead of a list.
    pub all_files: bool,
    /// Whether names in the list end with a zero byte.
    pub null: bool,
    /// Whether to go on without names that are not found.
    pub ignore_missing: bool,
    /// How names are understood.
    pub matching: MatchArgs,
}

impl Input {
    /// Files below the mount point of an LTFS volume.
    pub fn of_mount(mount: &Path, ltfs_label: Option<&Path>, wanted: Wanted) -> Input {
        Input {
            ltfs_mount: Some(mount.to_owned()),
            names: wanted.names,
            files_from: wanted.files_from,
            all_files: wanted.all_files,
            null: wanted.null,
            ignore_missing: wanted.ignore_missing,
            matching: wanted.matching,
            ltfs_label: ltfs_label.map(Path::to_owned),
            ..Input::default()
        }
    }
}

impl Input {
    /// The files that are read, standard input among them.
    pub fn paths(&self) -> Vec<&Path> {
        let is_volume = self.ltfs_mount.is_some() || !self.ltfs_index.is_empty();
        let list = self.files_from.as_deref();
        let main = if is_volume {
            Some(Path::new("-")).filter(|_| list.is_none() && !self.all_files)
        } else {
            self.requests.as_deref().or(Some(Path::new("-")))
        };
        let others = self.ltfs_index.iter().chain(&self.ltfs_label);
        let paths = others.map(PathBuf::as_path).chain(main).chain(list);
        let stdin = |path| {
            if path == Path::new("-") {
                Path::new("/dev/stdin")
            } else {
                path
            }
        };
        paths.map(stdin).collect()
    }

    /// The indexes that were named, those of directories among them; empty if there is at most one.
    pub fn several_indexes(&self) -> Result<Vec<PathBuf>, CliError> {
        let mut indexes = Vec::new();
        for path in &self.ltfs_index {
            if path.is_dir() {
                indexes.extend(indexes_in(path)?)
            } else {
                indexes.push(path.clone())
            }
        }
        let is_one_file = self.ltfs_index.len() < 2 && !self.ltfs_index.iter().any(|p| p.is_dir());
        Ok(if is_one_file { Vec::new() } else { indexes })
    }

    /// The volumes of several indexes. Of two indexes of one volume the newer one counts.
    pub fn volumes(&self, indexes: &[PathBuf]) -> Result<(Vec<LtfsVolume>, Vec<String>), CliError> {
        let mut volumes: Vec<LtfsVolume> = Vec::new();
        let mut notices = Vec::new();
        for path in indexes {
            let volume = LtfsVolume::read(&path.display().to_string(), open(path)?)?;
            notices.extend(volume.put_beside(&mut volumes));
        }
        Ok((volumes, notices))
    }

    /// The share of each volume in what is wanted.
    pub fn share(&self, volumes: &[LtfsVolume]) -> Result<Share, CliError> {
        let all = volumes.iter().enumerate();
        let wanted = all.filter(|(_, volume)| self.volume.is_some() && self.wants(volume));
        let wanted: Vec<(usize, &LtfsVolume)> = wanted.collect();
        if let [_, (_, other), ..] = wanted[..] {
            let count = wanted.len();
            let called = tapewise_formats::misleading::shown(other.title().as_bytes());
            let uuids: Vec<&str> = wanted.iter().map(|(_, volume)| volume.uuid()).collect();
            return Err(CliError::input(format!(
                "--volume {called}: {count} of the volumes are called so"
            ))
            .hint(format!("give the UUID of one: {}", uuids.join(", "))));
        }
        if self.all_files {
            let mut share = everything(volumes);
            if self.volume.is_some() {
                share.notices.clear();
            }
            return Ok(share);
        }
        let (list, names) = names(self)?;
        let listed = Listed {
            list: &list,
            names: &names,
            ignore_missing: self.ignore_missing,
            matching: &self.matching.matching(),
        };
        let wanted = wanted.first().map(|(at, _)| *at);
        share(volumes, &listed, wanted).map_err(|error| match error {
            TapesError::Names(error) => error.into(),
            error => CliError::input(error)
                .hint("write VOLUME/PATH, where VOLUME is a name or a UUID; or --volume VOLUME, which takes the files of one volume"),
        })
    }

    /// Whether the files of a volume are wanted, by its name or UUID.
    pub fn wants(&self, volume: &LtfsVolume) -> bool {
        self.volume.as_deref().is_none_or(|one| {
            one.eq_ignore_ascii_case(volume.title()) || one.eq_ignore_ascii_case(volume.uuid())
        })
    }

    /// The requests for some files of a volume, by their numbers.
    pub fn requests_of(&self, volume: &LtfsVolume, files: &[usize]) -> Result<Batch, CliError> {
        let layout = layout(self, Some(volume.uuid()))?;
        Ok(volume.batch_of(files, Vec::new(), &layout)?)
    }

    /// The one volume that is wanted of several.
    pub fn one_volume(&self) -> Option<&str> {
        self.volume.as_deref()
    }
}

/// The indexes in a directory, by name.
fn indexes_in(directory: &Path) -> Result<Vec<PathBuf>, CliError> {
    let bad = |error: std::io::Error| CliError::input(error).of(directory.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(bad)? {
        let path = entry.map_err(bad)?.path();
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        if !ending.is_some_and(|ending| ending == "xml" || ending == "schema") {
            continue;
        }
        let name = path.display().to_string();
        let source = Source::recognise(&name, open(&path)?, None)?;
        if matches!(source.format().content, Content::Index) {
            found.push(path);
        }
    }
    if found.is_empty() {
        let what = "has no LTFS index (a file that ends with .xml or .schema)";
        return Err(CliError::input(what).of(directory.display()));
    }
    found.sort();
    Ok(found)
}

/// Options that choose files of an LTFS volume mean nothing for requests that name their blocks.
fn refuse_index_options(input: &Input, name: &str) -> Result<(), CliError> {
    let given = [
        ("--files-from", input.files_from.is_some()),
        ("--all-files", input.all_files),
        ("--null (-0)", input.null),
        ("--ignore-missing", input.ignore_missing),
        ("--ltfs-label", input.ltfs_label.is_some()),
        ("--match", input.matching.matching().by != MatchBy::Auto),
        (
            "--strip-prefix",
            input.matching.matching().strip_prefix.is_some(),
        ),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(CliError::input(format!(
            "{option} needs an LTFS volume; {name} is not one"
        ))
        .hint("add --ltfs-index INDEX.xml or --ltfs-mount DIR, or leave it out")),
        None => Ok(()),
    }
}

fn format_name(text: &str) -> Result<&'static Format, String> {
    Format::from_name(text).ok_or_else(|| {
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        format!("no such format; there are: {}", names.join(", "))
    })
}

/// Reads what the user asks for.
pub fn load(input: &Input) -> Result<Batch, CliError> {
    progress::during("read the requests", None, || read(input))
}

/// Reads what the user asks for of a mounted volume; and the files that no request can name.
pub fn load_mount(input: &Input, mount: &Path) -> Result<(Batch, Vec<PathBuf>), CliError> {
    progress::during("read the requests", None, || {
        mount::from_mount(input, mount)
    })
}

fn read(input: &Input) -> Result<Batch, CliError> {
    let mut batch = if let Some(mount) = &input.ltfs_mount {
        mount::from_mount(input, mount)?.0
    } else if let [index] = input.ltfs_index.as_slice() {
        let name = index.display().to_string();
        from_index(input, LtfsVolume::read(&name, open(index)?)?)?
    } else if !input.ltfs_index.is_empty() {
        return Err(
            CliError::input("several LTFS indexes are several tapes, this needs one")
                .hint("`tapewise order` takes several and gives a pull list"),
        );
    } else {
        from_file(input)?
    };
    if let Some(volume) = &input.volume {
        batch.keep_volume(volume)?;
    }
    Ok(batch)
}

fn open(path: &Path) -> Result<BufReader<File>, CliError> {
    let file = File::open(path).map_err(|e| CliError::input(format!("{}: {e}", path.display())))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        let hint = "for a mounted LTFS volume use --ltfs-mount";
        return Err(CliError::input(format!("{}: is a directory", path.display())).hint(hint));
    }
    Ok(BufReader::with_capacity(1 << 20, file))
}

/// Standard input, or an error where it is a terminal and would wait for ever.
fn standard_input(what: &str) -> Result<BufReader<std::io::Stdin>, CliError> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Err(CliError::input(format!("nothing to read: {what}"))
            .hint("tapewise order --help shows the inputs; tapewise demo needs none"));
    }
    Ok(BufReader::with_capacity(1 << 20, stdin))
}

fn from_file(input: &Input) -> Result<Batch, CliError> {
    match input.requests.as_deref() {
        Some(path) if path != Path::new("-") => {
            from_reader(input, &path.display().to_string(), open(path)?)
        }
        _ => from_reader(
            input,
            "standard input",
            standard_input("give a file of requests")?,
        ),
    }
}

fn from_reader(input: &Input, name: &str, reader: impl BufRead) -> Result<Batch, CliError> {
    let source = Source::recognise(name, reader, input.format)?;
    if matches!(source.format().content, Content::Index) {
        return from_index(input, source.ltfs_index()?);
    }
    refuse_index_options(input, name)?;
    Ok(source.requests(input.block_size)?)
}

/// The layout that the label gives, if there is one; it must be of the same volume as the index.
fn layout(input: &Input, volume_uuid: Option<&str>) -> Result<LtfsLayout, CliError> {
    let layout = match &input.ltfs_label {
        Some(path) => {
            let label = ltfs_label::read_ltfs_label(open(path)?)
                .map_err(|e| CliError::input(format!("{}: {e}", path.display())))?;
            if let Some(uuid) = volume_uuid {
                check_label(&path.display().to_string(), &label, uuid)?;
            }
            if let Some(bytes) = input.block_size.filter(|&bytes| bytes != label.block_size) {
                let says = format!(
                    "--block-size {bytes}: {} says that the blocks have {} bytes",
                    path.display(),
                    label.block_size
                );
                return Err(CliError::input(says).hint("leave out --block-size, or the label"));
            }
            LtfsLayout::from_label(&label)
        }
        None => LtfsLayout::assumed(),
    };
    Ok(match input.block_size {
        Some(bytes) => layout.with_block_size(bytes),
        None => layout,
    })
}

/// The list of names, and what to call it.
fn names(input: &Input) -> Result<(String, Vec<Name>), CliError> {
    if !input.names.is_empty() {
        return Ok(given_names(&input.names));
    }
    let hint = "--all-files reads everything; `tapewise demo` needs no names";
    read_names(input.files_from.as_deref(), input.null, hint)
}

fn from_index(input: &Input, volume: LtfsVolume) -> Result<Batch, CliError> {
    let layout = layout(input, Some(volume.uuid()))?;
    if input.all_files {
        return Ok(volume.batch(Chosen::All, &layout)?);
    }
    let (list, names) = names(input)?;
    let listed = Listed {
        list: &list,
        names: &names,
        ignore_missing: input.ignore_missing,
        matching: &input.matching.matching(),
    };
    Ok(volume.batch(Chosen::Names(listed), &layout)?)
}

/// Reads a whole file for a caller that parses it at once.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    open(path)?
        .read_to_end(&mut bytes)
        .map_err(|e| CliError::input(format!("{}: {e}", path.display())))?;
    Ok(bytes)
}
