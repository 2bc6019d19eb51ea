//! The book, its overview and `tapewise help` have the same pages.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tapewise_house::root;

/// Overviews of links; `tapewise help` is one itself.
const OVERVIEWS: [&str; 3] = ["README.md", "SUMMARY.md", "method.md"];

/// The Markdown files of one directory, with links followed.
fn pages(directory: &Path) -> BTreeSet<PathBuf> {
    std::fs::read_dir(directory)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| path.canonicalize().expect("a file that is there"))
        .collect()
}

#[test]
fn every_page_is_in_the_book_and_in_the_program() {
    let docs = root().join("docs").canonicalize().expect("the manual");
    let book = std::fs::read_to_string(docs.join("SUMMARY.md")).expect("a list of pages");
    let overview = std::fs::read_to_string(docs.join("README.md")).expect("an overview");
    let cli = root().join("crates/cli");
    let mut topics = pages(&cli.join("reference"));
    topics.extend(pages(&cli.join("guides")));
    let parts = ["how-to", "method", "papers", "reference"];
    let mut all = pages(&docs);
    for part in parts {
        all.extend(pages(&docs.join(part)));
    }
    assert!(all.len() > 60, "{}", all.len());
    for page in &all {
        let name = page.strip_prefix(&docs).expect("a page of the manual");
        let name = name.to_str().expect("a plain name");
        let link = format!("]({name})");
        assert!(
            name == "SUMMARY.md" || book.contains(&link),
            "{name} is not in docs/SUMMARY.md"
        );
        assert!(
            !name.contains('/') || overview.contains(&link),
            "{name} is not in docs/README.md"
        );
        let has = OVERVIEWS.contains(&name) || topics.contains(page);
        assert!(has, "crates/cli/guides has no link to {name}");
    }
}
