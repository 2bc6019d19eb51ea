//! What a man page has beside the help: examples, exit status, files, other pages.

use clap_mangen::roff::{Inline, Roff, bold, roman};

/// Commands that people begin with, each under a line that says what it does.
const EXAMPLES: &str = include_str!("examples.txt");

/// What an example does, and its command.
type Example = (&'static str, &'static str);

fn examples() -> impl Iterator<Item = Example> {
    let commands = EXAMPLES.lines().skip(1);
    let lines = EXAMPLES.lines().zip(commands).step_by(2);
    lines.map(|(what, command)| (what.trim_start_matches("# "), command))
}

/// The examples of a verb and of the verbs below it; for the program itself the first two.
fn examples_of(page: &str) -> Vec<Example> {
    let verb = page.replace('-', " ");
    let is_of = |command: &str| {
        let rest = command.strip_prefix(&verb);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let most = if page == "tapewise" { 2 } else { usize::MAX };
    let found = examples().filter(|(_, command)| is_of(command));
    found.take(most).collect()
}

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
    roff.control("SH", ["EXAMPLES"]);
    for (what, command) in examples_of(name) {
        roff.control("TP", []);
        roff.text([roman(format!("{what}:"))]);
        roff.text([bold(command)]);
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Command, CommandFactory};

    fn pages(command: &Command, name: &str, found: &mut Vec<String>) {
        for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
            pages(verb, &format!("{name}-{}", verb.get_name()), found);
        }
        found.push(name.to_owned());
    }

    #[test]
    fn every_page_has_an_example_that_the_program_takes() {
        let mut found = Vec::new();
        let command = crate::Cli::command().disable_help_subcommand(true);
        pages(&command, "tapewise", &mut found);
        for page in found {
            assert!(!examples_of(&page).is_empty(), "{page} has no example");
        }
        for (_, line) in examples() {
            // What is in quotes is one word.
            let words = line
                .split('\'')
                .enumerate()
                .flat_map(|(at, piece)| match at % 2 {
                    0 => piece.split_whitespace().collect(),
                    _ => vec![piece],
                });
            let taken = crate::Cli::command().try_get_matches_from(words);
            assert!(taken.is_ok(), "{line}: {}", taken.unwrap_err());
        }
    }
}
