//! The house rules that a compiler does not check: which crate may look at which, and that the pure ones touch neither
//! files nor clock nor terminal. ARCHITECTURE.md says why.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use syn::visit_mut::VisitMut;
use tapewise_house::root;

/// What a crate may use of the workspace.
struct Rule {
    name: &'static str,
    /// In its own code.
    uses: &'static [&'static str],
    /// In its tests, benches and examples besides, the house itself excepted.
    tests_with: &'static [&'static str],
    /// Whether it touches nothing outside of memory.
    pure: bool,
}

const fn pure(
    name: &'static str,
    uses: &'static [&'static str],
    tests_with: &'static [&'static str],
) -> Rule {
    let pure = true;
    Rule {
        name,
        uses,
        tests_with,
        pure,
    }
}

const fn acting(
    name: &'static str,
    uses: &'static [&'static str],
    tests_with: &'static [&'static str],
) -> Rule {
    let pure = false;
    Rule {
        name,
        uses,
        tests_with,
        pure,
    }
}

/// Every crate, in reading order: a new one needs a line here and in ARCHITECTURE.md.
#[rustfmt::skip]
const HOUSE: &[Rule] = &[
    pure("model", &[], &[]),
    pure("order", &["model"], &[]),
    pure("formats", &["model"], &[]),
    pure("fit", &["model", "formats"], &[]),
    pure("tapewise", &["model", "order", "formats"], &["fit"]),
    pure("sim", &["model", "order", "formats"], &[]),
    pure("plot", &["model", "order", "fit", "tapewise", "sim"], &[]),
    acting("scsi", &[], &[]),
    acting("emulator", &["model", "scsi"], &[]),
    acting("run", &["model", "order", "formats", "plot", "scsi"], &["emulator", "fit"]),
    acting("library", &["model", "formats", "sim", "scsi", "run"], &["emulator"]),
    acting("archive", &["model", "order", "formats", "tapewise", "sim", "scsi", "run", "library"], &["emulator", "fit"]),
    acting("serve", &["model", "formats", "run", "archive"], &[]),
    acting(
        "papers",
        &["model", "order", "formats", "fit", "sim", "plot", "scsi", "emulator", "run", "library", "archive"],
        &[],
    ),
    acting("capi", &["tapewise"], &[]),
    acting("web", &["tapewise", "sim", "plot"], &[]),
    acting("fuzz", &["model", "formats", "fit", "sim", "scsi", "emulator", "archive", "capi"], &[]),
    acting("torn", &[], &[]),
    acting(
        "world",
        &["model", "formats", "scsi", "emulator", "library", "archive", "torn", "house"],
        &[],
    ),
    acting(
        "cli",
        &[
            "model", "order", "formats", "fit", "tapewise", "sim", "plot", "scsi", "emulator", "run", "library",
            "archive", "serve", "papers",
        ],
        &[],
    ),
];

/// What a pure crate must not use: input/output, clock, environment, printing, global state. Words of tokens as `quote`
/// prints them, a space between each.
const IMPURE: [&str; 13] = [
    "std :: fs",
    "std :: env",
    "std :: net",
    "std :: process",
    "std :: thread",
    "std :: os",
    "Instant",
    "SystemTime",
    "println !",
    "eprintln !",
    "dbg !",
    "static mut",
    "thread_local !",
];

fn folder(name: &str) -> PathBuf {
    root().join("crates").join(name)
}

fn manifest(name: &str) -> toml::Table {
    let text = std::fs::read_to_string(folder(name).join("Cargo.toml")).expect("a manifest");
    toml::from_str(&text).expect("a manifest in TOML")
}

/// The crates that a manifest names in some section, for every system or for some only.
fn dependencies(manifest: &toml::Table, section: &str) -> Vec<String> {
    let of = |table: &toml::Table| table.get(section).and_then(toml::Value::as_table).cloned();
    let systems = manifest.get("target").and_then(toml::Value::as_table);
    let of_some = systems.into_iter().flat_map(toml::Table::values);
    let of_some = of_some.filter_map(toml::Value::as_table).filter_map(of);
    of(manifest)
        .into_iter()
        .chain(of_some)
        .flat_map(|table| table.into_iter().map(|(name, _)| name))
        .collect()
}

fn is_ours(name: &str) -> bool {
    name == "tapewise" || name.starts_with("tapewise-")
}

/// The workspace's crates that a manifest names in some section.
fn named(manifest: &toml::Table, section: &str) -> Vec<String> {
    dependencies(manifest, section)
        .into_iter()
        .filter(|name| is_ours(name))
        .map(|name| name.strip_prefix("tapewise-").unwrap_or(&name).to_owned())
        .collect()
}

/// Takes out whatever is compiled for tests only.
struct WithoutTests;

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|path| path.is_ident("test"))
    })
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

impl VisitMut for WithoutTests {
    fn visit_file_mut(&mut self, file: &mut syn::File) {
        file.items.retain(|item| !is_for_tests(attributes(item)));
        syn::visit_mut::visit_file_mut(self, file);
    }

    fn visit_item_mod_mut(&mut self, module: &mut syn::ItemMod) {
        if let Some((_, items)) = &mut module.content {
            items.retain(|item| !is_for_tests(attributes(item)));
        }
        syn::visit_mut::visit_item_mod_mut(self, module);
    }

    fn visit_item_impl_mut(&mut self, block: &mut syn::ItemImpl) {
        block.items.retain(
            |item| !matches!(item, syn::ImplItem::Fn(function) if is_for_tests(&function.attrs)),
        );
        syn::visit_mut::visit_item_impl_mut(self, block);
    }
}

/// What a source text uses that a pure crate must not, wherever in the file; its tests and its words do not count.
fn impurities(source: &str) -> Vec<&'static str> {
    let mut file = syn::parse_file(source).expect("a source in Rust");
    WithoutTests.visit_file_mut(&mut file);
    let mut tokens = String::new();
    words(quote::ToTokens::to_token_stream(&file), &mut tokens);
    IMPURE
        .into_iter()
        .filter(|word| tokens.contains(&format!(" {word} ")))
        .collect()
}

/// All tokens in a row, literals and documentation excepted, `::` as one.
fn words(tokens: proc_macro2::TokenStream, row: &mut String) {
    use proc_macro2::{Spacing, TokenTree};
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                row.push_str(" ( ");
                words(group.stream(), row);
                row.push_str(" ) ");
            }
            TokenTree::Literal(_) => row.push_str(" _ "),
            TokenTree::Punct(punct) if punct.spacing() == Spacing::Joint => {
                row.push(' ');
                row.push(punct.as_char());
            }
            TokenTree::Punct(punct) => {
                if !row.ends_with(':') {
                    row.push(' ');
                }
                row.push(punct.as_char());
                row.push(' ');
            }
            TokenTree::Ident(name) => {
                row.push(' ');
                row.push_str(&name.to_string());
                row.push(' ');
            }
        }
        *row = row.replace("  ", " ");
    }
}

/// All files of that ending below a directory.
fn files(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Vec::new();
    };
    entries
        .flat_map(|entry| {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                files(&path, ending)
            } else {
                vec![path]
            }
        })
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == ending)
        })
        .collect()
}

fn sources(name: &str) -> Vec<(PathBuf, String)> {
    let text = |path: PathBuf| {
        let source = std::fs::read_to_string(&path).expect("a source");
        (path, source)
    };
    files(&folder(name).join("src"), "rs")
        .into_iter()
        .map(text)
        .collect()
}

#[test]
fn every_crate_is_in_the_house() {
    let entries = std::fs::read_dir(root().join("crates")).expect("crates");
    let crates: BTreeSet<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    let house: BTreeSet<String> = HOUSE.iter().map(|rule| rule.name.to_owned()).collect();
    assert_eq!(
        crates, house,
        "a new crate needs a line in HOUSE and in ARCHITECTURE.md"
    );
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the page");
    for name in crates {
        assert!(
            page.contains(&format!("crates/{name} ")),
            "ARCHITECTURE.md lacks crates/{name}"
        );
    }
}

#[test]
fn the_page_names_every_dependency() {
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the page");
    let (_, paragraph) = page.split_once("**Dependencies**").expect("the paragraph");
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '_';
    let words: BTreeSet<&str> = paragraph.split(|letter| !is_part(letter)).collect();
    let house = std::fs::read_to_string(root().join("house/Cargo.toml")).expect("a manifest");
    let house = toml::from_str(&house).expect("a manifest in TOML");
    let manifests = HOUSE.iter().map(|rule| manifest(rule.name)).chain([house]);
    let others = manifests.flat_map(|manifest| {
        let sections = ["dependencies", "build-dependencies", "dev-dependencies"];
        sections.map(|section| dependencies(&manifest, section))
    });
    let others: BTreeSet<String> = others.flatten().filter(|name| !is_ours(name)).collect();
    let unnamed: Vec<&String> = others
        .iter()
        .filter(|name| !words.contains(&***name))
        .collect();
    assert!(
        unnamed.is_empty(),
        "ARCHITECTURE.md does not say why: {unnamed:?}"
    );
    let workspace = std::fs::read_to_string(root().join("Cargo.toml")).expect("a manifest");
    let workspace: toml::Table = toml::from_str(&workspace).expect("a manifest in TOML");
    let listed = workspace["workspace"].as_table().expect("the workspace");
    let listed = dependencies(listed, "dependencies").into_iter();
    let unused: Vec<String> = listed
        .filter(|name| !is_ours(name) && !others.contains(name))
        .collect();
    assert!(unused.is_empty(), "no crate uses {unused:?}");
}

#[test]
fn every_crate_uses_what_its_manifest_names() {
    let mut unused = Vec::new();
    for Rule { name, .. } in HOUSE {
        let text = |paths: Vec<PathBuf>| -> String {
            let read = |path| std::fs::read_to_string(path).expect("a source");
            paths.into_iter().map(read).collect()
        };
        let manifest = manifest(name);
        for (section, part) in [("dependencies", "src"), ("dev-dependencies", "")] {
            let text = text(files(&folder(name).join(part), "rs"));
            // The package md-5 is the crate md5.
            let is_used = |package: &String| {
                text.contains(&package.replace('-', "_"))
                    || text.contains(&package.replace('-', ""))
            };
            let named = dependencies(&manifest, section).into_iter();
            unused.extend(
                named
                    .filter(|package| !is_used(package))
                    .map(|package| (name, package)),
            );
        }
    }
    assert!(unused.is_empty(), "named and not used: {unused:?}");
}

#[test]
fn no_crate_looks_the_wrong_way() {
    for Rule {
        name,
        uses,
        tests_with,
        ..
    } in HOUSE
    {
        let manifest = manifest(name);
        for section in ["dependencies", "build-dependencies"] {
            for used in named(&manifest, section) {
                assert!(uses.contains(&used.as_str()), "{name} must not use {used}");
            }
        }
        for used in named(&manifest, "dev-dependencies") {
            let may = used == "house" || uses.contains(&&*used) || tests_with.contains(&&*used);
            assert!(may, "tests of {name} must not use {used}");
        }
    }
}

#[test]
fn pure_crates_touch_nothing_outside() {
    for Rule { name, .. } in HOUSE.iter().filter(|rule| rule.pure) {
        // Tests of private items stand in a file of that name beside what they test.
        let sources = sources(name).into_iter().filter(|(path, _)| {
            !path.ends_with("tests.rs") && !path.iter().any(|part| part == "tests")
        });
        for (path, source) in sources {
            let found = impurities(&source);
            assert!(found.is_empty(), "{}: {found:?}", path.display());
        }
    }
}

#[test]
fn the_checks_can_fail() {
    assert_eq!(impurities("use std::fs::File;\n"), ["std :: fs"]);
    assert_eq!(
        impurities("fn f() { let now = Instant::now(); println!(\"{now:?}\"); }"),
        ["Instant", "println !"]
    );
    assert!(impurities("// std::fs is not used\n#[cfg(test)]\nuse std::fs;\n").is_empty());
    assert!(impurities("/// Never `std::fs`.\nconst A: &str = \"std::fs\";\n").is_empty());
    let after_a_test = "#[cfg(test)]\nmod tests {}\nfn f() { std::env::var(\"HOME\"); }\n";
    assert_eq!(impurities(after_a_test), ["std :: env"]);
    let looks_back = "[dev-dependencies]\ntapewise-cli.workspace = true\ntapewise = \"1\"\n";
    let looks_back = toml::from_str(looks_back).expect("TOML");
    assert_eq!(named(&looks_back, "dev-dependencies"), ["tapewise", "cli"]);
    assert!(named(&looks_back, "dependencies").is_empty());
}

#[test]
fn modules_have_one_style() {
    // `name.rs` beside `name/`: an editor shows which file it is. Tests must have `common/mod.rs`, which cargo asks for.
    for Rule { name, .. } in HOUSE {
        for (path, _) in sources(name) {
            assert!(
                !path.ends_with("mod.rs"),
                "{}: name it after its folder",
                path.display()
            );
        }
    }
}

#[test]
fn files_fit_on_a_few_screens() {
    const MOST_LINES: usize = 600;
    for Rule { name, .. } in HOUSE {
        for (path, source) in sources(name) {
            let lines = source.lines().count();
            assert!(
                lines <= MOST_LINES,
                "{} has {lines} lines: split it by idea",
                path.display()
            );
        }
    }
}

/// Whether a line of a file so many folders deep in its package reads something outside of the package.
fn leaves_the_package(line: &str, folders: usize) -> bool {
    let included = line.contains("include_") || line.contains("#[path");
    let joined = line.contains("CARGO_MANIFEST_DIR") || line.contains("join(\"../");
    let climbs = |times: usize| line.contains(&"../".repeat(times));
    included && climbs(folders + 1) || joined && climbs(1) && !line.contains("CARGO_TARGET_TMPDIR")
}

#[test]
fn no_package_reads_files_outside_itself() {
    let mut found = Vec::new();
    for Rule { name, .. } in HOUSE {
        for part in ["src", "tests", "benches", "examples"] {
            for path in files(&folder(name).join(part), "rs") {
                let inside = path.strip_prefix(folder(name)).expect("inside");
                let folders = inside.components().count() - 1;
                let source = std::fs::read_to_string(&path).expect("a source");
                let lines = source
                    .lines()
                    .filter(|line| leaves_the_package(line, folders));
                found.extend(lines.map(|line| format!("{}: {line}", inside.display())));
            }
        }
    }
    assert_eq!(
        found,
        Vec::<String>::new(),
        "read through the house, or move the file into the package"
    );
    assert!(leaves_the_package("include_str!(\"../../a.toml\")", 1));
    assert!(!leaves_the_package("include_str!(\"../a.toml\")", 1));
}

#[test]
fn every_file_of_tests_is_in_the_one_program_that_runs_them() {
    for krate in std::fs::read_dir(root().join("crates")).expect("crates") {
        let tests = krate.expect("a crate").path().join("tests");
        let Ok(all) = std::fs::read_to_string(tests.join("all.rs")) else {
            continue;
        };
        let manifest = tests.with_file_name("Cargo.toml");
        let manifest = std::fs::read_to_string(manifest).expect("a manifest");
        for file in std::fs::read_dir(&tests).expect("tests") {
            let path = file.expect("a file").path();
            let name = path
                .file_stem()
                .and_then(|name| name.to_str())
                .expect("a name");
            let is_file = path.extension().is_some_and(|ending| ending == "rs") && name != "all";
            let is_test = is_file || path.join("main.rs").is_file();
            let is_run = all.contains(&format!("\nmod {name};\n"))
                || manifest.contains(&format!("name = \"{name}\""));
            assert!(
                !is_test || is_run,
                "{}: not in all.rs, so nobody runs it",
                path.display()
            );
        }
    }
}
