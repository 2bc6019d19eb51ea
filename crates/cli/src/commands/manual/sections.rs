//! What a man page has beside the help: examples, exit status, files, other pages.

use clap_mangen::roff::{Inline, Roff, bold, roman};

/// Commands that people begin with, by the page that they stand on, each with what it does.
const EXAMPLES: [(&str, &[(&str, &str)]); 22] = [
    (
        "tapewise",
        &[
            (
                "Order the clips of a list on an LTFS tape, and see what the order is worth",
                "tapewise order --ltfs-index TAPE.xml --profile lto8 --files-from clips.txt --explain -o order.txt",
            ),
            ("See all of this without hardware", "tapewise demo"),
        ],
    ),
    (
        "tapewise-order",
        &[
            (
                "Order the clips of a list on an LTFS tape",
                "tapewise order --ltfs-index TAPE.xml --profile lto8 --files-from clips.txt -o order.txt",
            ),
            (
                "A pull list over all tapes whose indexes are in a directory, for two drives",
                "tapewise order --ltfs-index indexes/ --profile lto8 --files-from clips.txt --drives 2 -o lists/",
            ),
            (
                "Requests by block numbers",
                "tapewise order --profile lto9 --block-size 256K requests.csv",
            ),
        ],
    ),
    (
        "tapewise-convert",
        &[(
            "Block numbers of files of an LTFS tape, as CSV",
            "tapewise convert --ltfs-index TAPE.xml --files-from clips.txt",
        )],
    ),
    (
        "tapewise-recall",
        &[
            (
                "Recall files from an LTFS tape, without a mount",
                "tapewise recall --ltfs /dev/nst0 --to /data/back --files-from clips.txt",
            ),
            (
                "Recall everything of an archive",
                "tapewise recall --archive /srv/archive --to /data/back --all-files",
            ),
        ],
    ),
    (
        "tapewise-recall-queue",
        &[(
            "See what waits",
            "tapewise recall queue --archive /srv/archive",
        )],
    ),
    (
        "tapewise-recall-cancel",
        &[(
            "Cancel everything that waits",
            "tapewise recall cancel --archive /srv/archive --all",
        )],
    ),
    (
        "tapewise-recall-retry",
        &[(
            "Ask again for everything that failed",
            "tapewise recall retry --archive /srv/archive --all",
        )],
    ),
    (
        "tapewise-recall-dismiss",
        &[(
            "Take a recall that failed off the list",
            "tapewise recall dismiss --archive /srv/archive 17",
        )],
    ),
    (
        "tapewise-store",
        &[(
            "Put a directory into an archive, on two tapes",
            "tapewise store --archive /srv/archive --copies 2 /data/reel7",
        )],
    ),
    (
        "tapewise-catalog",
        &[(
            "Make an archive",
            "tapewise catalog init /srv/archive --drive /dev/nst0 --profile lto8",
        )],
    ),
    (
        "tapewise-drive",
        &[(
            "See who uses a drive, and what is in it",
            "tapewise drive status /dev/sg3",
        )],
    ),
    (
        "tapewise-drive-check",
        &[(
            "Ten minutes: how far our times are off on a drive",
            "tapewise drive check /dev/sg3 -o report.json",
        )],
    ),
    (
        "tapewise-library",
        &[(
            "List what is where in a library",
            "tapewise library inventory /dev/sg5",
        )],
    ),
    (
        "tapewise-measure",
        &[(
            "Half an hour of measuring, without writing",
            "tapewise measure /dev/sg3 --quick -o drive.jsonl",
        )],
    ),
    (
        "tapewise-fit",
        &[(
            "Make a profile from the log of a drive",
            "tapewise fit drive.jsonl --base lto8 --output mine.toml",
        )],
    ),
    (
        "tapewise-profile",
        &[("List the profiles", "tapewise profile list")],
    ),
    (
        "tapewise-audit",
        &[(
            "Where the hours of a month went",
            "tapewise audit --profile lto9 --maps maps/ cta-tape.log",
        )],
    ),
    (
        "tapewise-simulate",
        &[(
            "Response times of a library under load",
            "tapewise simulate scenario.toml",
        )],
    ),
    (
        "tapewise-capacity",
        &[(
            "How many drives a target needs",
            "tapewise capacity scenario.toml --target \"p95 < 60 s at 200/h\" --drives 2..10",
        )],
    ),
    (
        "tapewise-emulate",
        &[(
            "Make a library of two drives in a directory",
            "tapewise emulate lib --robot ibm3584 --drives 2",
        )],
    ),
    (
        "tapewise-doctor",
        &[("What does this machine lack?", "tapewise doctor")],
    ),
    (
        "tapewise-sense",
        &[("A sense code in words", "tapewise sense 4/44/00")],
    ),
];

/// The exit codes, as docs/reference/exit-codes.md has them.
const CODES: [(&str, &str); 11] = [
    ("0", "Done, also if nothing was left to do."),
    ("1", "Failed for another reason than the following."),
    ("2", "Wrong usage or bad input."),
    ("3", "Refused as unsafe."),
    ("4", "The drive is busy or reserved by another."),
    ("5", "Not ready."),
    ("6", "The medium could not be read or written."),
    ("7", "Partly done."),
    ("8", "A checksum did not match."),
    ("9", "Drive or robot failed."),
    ("130", "Interrupted; the same command continues."),
];

const FILES: [(&str, &str); 2] = [
    (
        "~/.config/tapewise/config.toml",
        "Defaults for --profile and --archive. TAPEWISE_PROFILE and TAPEWISE_ARCHIVE come before it; see tapewise-config-show(1).",
    ),
    (
        "DIR/archive.toml",
        "Settings of the archive in DIR; see tapewise-archive(5).",
    ),
];

/// These sections of a page.
pub fn roff(name: &str) -> Roff {
    let mut roff = Roff::new();
    let examples = EXAMPLES.iter().filter(|(page, _)| *page == name);
    let mut examples = examples.flat_map(|(_, examples)| *examples).peekable();
    if examples.peek().is_some() {
        roff.control("SH", ["EXAMPLES"]);
    }
    for (what, command) in examples {
        roff.control("TP", []);
        roff.text([roman(format!("{what}:"))]);
        roff.text([bold(*command)]);
    }
    let mut list = |title: &str, rows: &[(&str, &str)]| {
        roff.control("SH", [title]);
        for (term, text) in rows {
            roff.control("TP", []);
            roff.text([bold(*term)]);
            roff.text([roman(*text)]);
        }
    };
    list("EXIT STATUS", &CODES);
    list("FILES", &FILES);
    roff.control("SH", ["SEE ALSO"]);
    let above = name.rsplit_once('-').map(|(above, _)| above);
    let mut pages: Vec<Inline> = Vec::new();
    for page in [above, Some("tapewise-help")].into_iter().flatten() {
        if page != name {
            pages.push(bold(page));
            pages.push(roman("(1), "));
        }
    }
    pages.push(roman(
        "`tapewise help` lists the pages of the reference; they are in section 5, too.",
    ));
    roff.text(pages);
    roff
}
