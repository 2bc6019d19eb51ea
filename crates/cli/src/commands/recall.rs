//! `tapewise recall`: files back from tape.

mod archive;
mod common;
mod failed;
mod ltfs;
mod mount;
mod report;
mod waiting;

use crate::error::CliError;
use crate::names::{MatchArgs, given_names, read_names};
use crate::placement::PlacementArgs;
use crate::quantity;
use crate::search::SearchArgs;
use crate::settings::Settings;
use clap::builder::{
    NonEmptyStringValueParser, OsStringValueParser, StyledStr, TypedValueParser as _,
};
use clap::{Arg, ArgGroup};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tapewise_archive::bucket::BucketUrl;
use tapewise_formats::list::Name;
use tapewise_order::Algorithm;

/// Recall files from tape in the fastest order.
///
/// Names in, files out: each file appears in --to under its path, complete and compared with its known
/// checksums. tapewise does not read files again that are already there, so after Ctrl-C the same
/// command continues.
#[derive(clap::Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    group(ArgGroup::new("source").args(["ltfs", "ltfs_mount", "archive"])),
    mut_arg("profile", |arg| {
        arg.required(false).default_value(BY_NAME).help(
            "Drive profile: a name from `tapewise profile list`, or a TOML file. With --ltfs tapewise finds it by the drive's \
             name, with --ltfs-mount it is needed. Not with --archive",
        )
    }),
    mut_args(of_a_mount),
)]
pub struct Recall {
    #[command(subcommand)]
    waiting: Option<waiting::Waiting>,
    /// The files: paths, bare names or patterns such as 'reel 3/*.mxf'. Without them, --files-from or standard input
    /// gives the names.
    #[arg(
        value_name = "NAME",
        conflicts_with_all = ["files_from", "all_files", "null"],
        value_parser = OsStringValueParser::new().try_map(name)
    )]
    names: Vec<OsString>,
    /// Drive with an LTFS tape in it. tapewise reads label, index and files from the tape without a
    /// mount, writes nothing to it, and learns where its blocks lie while it reads.
    #[arg(long, value_name = "DEVICE", conflicts_with_all = OF_A_MOUNT)]
    ltfs: Option<String>,
    /// Mounted LTFS volume. tapewise copies files from it in the order of their places on the tape,
    /// which it takes from their extended attributes.
    #[arg(long, value_name = "DIR")]
    ltfs_mount: Option<PathBuf>,
    /// Archive made by `tapewise catalog init`. Files come from its cache and its tapes. Several
    /// recalls may run at once: one process does the work for all. If the drives have no robot,
    /// tapewise prints the pull list and asks for each cartridge at the terminal.
    #[arg(long, value_name = "DIR", conflicts_with_all = OF_A_MOUNT, conflicts_with_all = ["profile", "sums", "replace", "no_mhl"])]
    archive: Option<PathBuf>,
    /// With --archive: only print the pull list: which cartridges are needed, in the order in which
    /// they go into the drives, and how long each is read.
    #[arg(long)]
    pull_list: bool,
    /// With --archive: wait until the oldest request is this old before a cartridge is mounted, so
    /// that requests of others are read with it [default: batch_window_s of archive.toml].
    #[arg(long, value_name = "TIME", conflicts_with_all = ["pull_list", "dry_run"],
        value_parser = quantity::duration)]
    batch_window: Option<Duration>,
    /// With --archive: if the recall is interrupted or fails, leave the remaining files in the queue.
    /// The next recall reads them too. Without this option they are withdrawn.
    #[arg(long)]
    keep_queued: bool,
    /// With --archive: who asks: `[mounts]` of archive.toml can give users shares of the drives, and limits.
    #[arg(
        long,
        value_name = "NAME",
        requires = "archive",
        conflicts_with = "pull_list",
        value_parser = NonEmptyStringValueParser::new()
    )]
    user: Option<String>,
    /// With --archive: what for, such as `production`: `[mounts]` of archive.toml can give activities shares of the
    /// drives.
    #[arg(
        long,
        value_name = "NAME",
        requires = "archive",
        conflicts_with = "pull_list"
    )]
    activity: Option<String>,
    /// Label of the same volume: its block size and partitions.
    #[arg(long, value_name = "XML")]
    ltfs_label: Option<PathBuf>,
    /// With --ltfs: read by this index. It must belong to the volume in the drive and be of the same
    /// generation.
    #[arg(long, value_name = "XML")]
    ltfs_index: Option<PathBuf>,
    /// With --ltfs-index: use it even if the tape is at another generation.
    #[arg(long, requires = "ltfs_index")]
    any_generation: bool,
    /// Recall every file instead of a list of names.
    #[arg(long, conflicts_with = "files_from")]
    all_files: bool,
    /// With --ltfs: every name ends with #OFFSET+LENGTH, in bytes. Only these bytes are read.
    #[arg(long, conflicts_with = "all_files")]
    ranges: bool,
    /// Skip names that cannot be found, and list them.
    #[arg(long)]
    ignore_missing: bool,
    #[command(flatten)]
    matching: MatchArgs,
    /// Print JSON: what became of every file, with --dry-run the plan, with --pull-list the list.
    #[arg(long)]
    json: bool,
    /// With --ltfs: append everything that the drive does to this event log.
    #[arg(long, value_name = "LOG")]
    events: Option<PathBuf>,
    /// With --ltfs: read in the order of the list (fifo) or sorted by block (sort), to compare these
    /// orders with ours on your drive.
    #[arg(long, value_name = "NAME", default_value = "best", value_parser = ["best", "fifo", "sort"])]
    algorithm: String,
    /// For `tapewise demo`: end in the middle of a file, as if power failed, after this many files.
    #[arg(long, hide = true, value_name = "FILES", value_parser = quantity::count::<usize>)]
    power_cut_after: Option<usize>,
    /// Directory in which the files appear. tapewise makes it if it is missing. With --archive also
    /// `s3://BUCKET/PREFIX`: a bucket, which the AWS_* variables lead to. --pull-list needs none.
    #[arg(long, value_name = "DIR", required_unless_present = "pull_list")]
    to: Option<PathBuf>,
    /// File with the names, one a line; "-" or nothing is standard input.
    #[arg(long, value_name = "LIST")]
    files_from: Option<PathBuf>,
    /// Names in the list end with a zero byte, not a line feed.
    #[arg(short = '0', long)]
    null: bool,
    /// Checksums to compare with: a list of md5sum, sha256sum or xxhsum, an MHL, or a BagIt manifest.
    /// Its names are below its own directory if that is on the volume, otherwise below the top of the
    /// volume. May be given several times. Not with --archive.
    #[arg(long, value_name = "LIST")]
    sums: Vec<PathBuf>,
    /// Replace files in --to that have other contents. Not with --archive.
    #[arg(long)]
    replace: bool,
    /// Do not write a media hash list (MHL) into --to. An archive writes none.
    #[arg(long)]
    no_mhl: bool,
    /// Only print what would be read, in which order and when, and what would go wrong.
    #[arg(long)]
    dry_run: bool,
    /// Print only errors on standard error.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    placement: PlacementArgs,
    #[command(flatten)]
    search: SearchArgs,
}

/// What --profile says where the drive is to be known by its name.
const BY_NAME: &str = "auto";

/// Options that a drive answers itself, or that have no meaning where the order follows the tape.
const OF_A_MOUNT: [&str; 10] = [
    "ltfs_label",
    "map",
    "layout",
    "head",
    "end",
    "extents",
    "no_read_through",
    "time_budget",
    "prove",
    "seed",
];

/// Says of options that are for a mount that they are: other verbs, which have them too, read no mount.
fn of_a_mount(mut arg: Arg) -> Arg {
    if !OF_A_MOUNT.contains(&arg.get_id().as_str()) {
        return arg;
    }
    let said = |help: &StyledStr| {
        let help = help.to_string();
        let (first, rest) = help.split_at(help.chars().next().map_or(0, char::len_utf8));
        format!("With --ltfs-mount: {}{rest}", first.to_lowercase())
    };
    if let Some(help) = arg.get_help().map(said) {
        arg = arg.help(help);
    }
    if let Some(help) = arg.get_long_help().map(said) {
        arg = arg.long_help(help);
    }
    arg
}

/// A name of a file. None at all would stand for everything, and comes of a variable of a shell that is not set.
fn name(given: OsString) -> Result<OsString, &'static str> {
    if given.is_empty() {
        return Err("an empty name is no file's; --all-files recalls everything");
    }
    Ok(given)
}

impl Recall {
    /// The names that are wanted, and what messages call their list. `hint` is what to do if there are none.
    fn list(&self, hint: &str) -> Result<(String, Vec<Name>), CliError> {
        if !self.names.is_empty() {
            return Ok(given_names(&self.names));
        }
        let from = self.files_from.as_deref();
        let list = read_names(from, self.null, hint)?;
        if list.1.is_empty() && from.is_none_or(|from| from == Path::new("-")) {
            // What should have written the list may have failed, and nobody sees the exit code of that.
            return Err(CliError::input("standard input has no names, so nothing was recalled")
                .hint("see whether the command before the pipe failed; --files-from FILE takes an empty list"));
        }
        Ok(list)
    }

    /// The profile that was asked for.
    fn profile(&self) -> Option<&str> {
        Some(self.placement.profile.as_str()).filter(|name| *name != BY_NAME)
    }

    /// The order that was asked for.
    fn algorithm(&self) -> Algorithm {
        Algorithm::from_name(&self.algorithm).unwrap_or(Algorithm::Best)
    }
}

/// Where the files come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Ltfs,
    Mount,
    Archive,
}

impl Recall {
    /// The destination, which clap has asked for.
    fn to(&self) -> &Path {
        self.to.as_deref().unwrap_or(Path::new("."))
    }

    fn is_to_bucket(&self) -> bool {
        BucketUrl::is_one(self.to().as_os_str().as_encoded_bytes())
    }

    /// Refuses options that mean nothing for this source: clap does not look at `requires` where the
    /// required option would contradict another one.
    fn refuse_options_of_other_sources(&self, source: Source) -> Result<(), CliError> {
        use Source::{Archive, Ltfs, Mount};
        let given = [
            ("--pull-list", self.pull_list, Archive),
            ("--batch-window", self.batch_window.is_some(), Archive),
            ("--keep-queued", self.keep_queued, Archive),
            ("--user", self.user.is_some(), Archive),
            ("--activity", self.activity.is_some(), Archive),
            ("--ltfs-label", self.ltfs_label.is_some(), Mount),
            ("--ltfs-index", self.ltfs_index.is_some(), Ltfs),
            ("--ranges", self.ranges, Ltfs),
            ("--events", self.events.is_some(), Ltfs),
            ("--algorithm", self.algorithm() != Algorithm::Best, Ltfs),
            ("--to s3://BUCKET", self.is_to_bucket(), Archive),
            ("--power-cut-after", self.power_cut_after.is_some(), Ltfs),
        ];
        let other = given
            .into_iter()
            .find(|(_, given, of)| *given && *of != source);
        match other {
            None => Ok(()),
            Some((option, _, of)) => {
                let needed = match of {
                    Ltfs => "--ltfs",
                    Mount => "--ltfs-mount",
                    Archive => "--archive",
                };
                Err(CliError::input(format!(
                    "{option} works with {needed} only"
                )))
            }
        }
    }

    /// Refuses what clap refuses beside `--archive`: it does not see an archive that is set for good.
    fn refuse_options_beside_archive(&self) -> Result<(), CliError> {
        let given = [
            ("--profile", self.profile().is_some()),
            ("--sums", !self.sums.is_empty()),
            ("--replace", self.replace),
            ("--no-mhl", self.no_mhl),
        ];
        let given = given.into_iter().find(|(_, given)| *given);
        let given = given.map(|(option, _)| option);
        let placed = || self.placement.given().or_else(|| self.search.given());
        match given.or_else(placed) {
            None => Ok(()),
            Some(option) => Err(CliError::input(format!(
                "{option} is not for an archive, and TAPEWISE_ARCHIVE or the configuration file sets one"
            ))
            .hint("give --ltfs DEVICE or --ltfs-mount DIR, or leave it out")),
        }
    }
}

/// Runs the verb.
pub fn run(args: &Recall) -> Result<ExitCode, CliError> {
    if let Some(what) = &args.waiting {
        return waiting::run(what);
    }
    let settings = Settings::read()?;
    let named = args.ltfs.is_some() || args.ltfs_mount.is_some();
    let set = settings.archive().filter(|_| !named);
    let set = set.map(|archive| PathBuf::from(&archive.text));
    if let Some(directory) = args.archive.as_ref().or(set.as_ref()) {
        args.refuse_options_of_other_sources(Source::Archive)?;
        args.refuse_options_beside_archive()?;
        return archive::run(args, directory);
    }
    if let Some(device) = &args.ltfs {
        args.refuse_options_of_other_sources(Source::Ltfs)?;
        return ltfs::run(args, device);
    }
    let Some(directory) = &args.ltfs_mount else {
        return Err(
            CliError::input("give --ltfs DEVICE, --ltfs-mount DIR or --archive DIR")
                .hint("TAPEWISE_ARCHIVE or the configuration file sets an archive for good"),
        );
    };
    args.refuse_options_of_other_sources(Source::Mount)?;
    if args.profile().is_none() {
        return Err(
            CliError::input("tapewise cannot see which drive the mounted volume is in")
                .hint("give its profile with --profile; `tapewise profile list` shows them"),
        );
    }
    mount::run(args, directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_says_which_options_are_for_a_mount() {
        let recall = <Recall as clap::Args>::augment_args(clap::Command::new("recall"));
        for arg in recall.get_arguments() {
            let is_so = OF_A_MOUNT.contains(&arg.get_id().as_str());
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            assert_eq!(
                help.starts_with("With --ltfs-mount: "),
                is_so,
                "{arg}: {help}"
            );
        }
    }
}
