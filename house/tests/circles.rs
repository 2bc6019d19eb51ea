//! No circles of modules: where two files use each other, neither can be read, tested or moved alone. What counts is what
//! `use` says, and paths within the code; a name that a module hands on counts as that of the file which defines it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use syn::visit::{Visit, visit_item_mod, visit_path};
use syn::{Attribute, Item, ItemMod, UseTree, Visibility};
use tapewise_house::root;

/// Siblings that are one idea in two files, and may know each other.
const ONE_IDEA: &[(&str, &[&str])] = &[("papers", &["gniewek", "gniewek/bench"])];

/// A module by its names from the crate on; the crate itself has none.
type Module = Vec<String>;

/// A name that a module takes from another, and whether it hands it on.
struct Import {
    path: Vec<String>,
    handed_on: bool,
}

/// The imports of every module of a crate, those of tests excepted.
fn modules(name: &str) -> BTreeMap<Module, Vec<Import>> {
    let folder = root().join("crates").join(name).join("src");
    let mut found = BTreeMap::new();
    collect(&folder, &mut Vec::new(), &mut found);
    found
}

fn collect(folder: &Path, at: &mut Module, found: &mut BTreeMap<Module, Vec<Import>>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().expect("a name").to_string_lossy();
        if stem == "tests" {
            continue;
        }
        at.push(stem.clone().into_owned());
        if path.is_dir() {
            collect(&path, at, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let source = std::fs::read_to_string(&path).expect("a source");
            let file = syn::parse_file(&source).expect("a source in Rust");
            let is_root = ["lib", "main"].contains(&&*stem);
            let module = if is_root { Vec::new() } else { at.clone() };
            found.insert(module, imports(&file));
        }
        at.pop();
    }
}

fn imports(file: &syn::File) -> Vec<Import> {
    let mut imports = Vec::new();
    for item in &file.items {
        let Item::Use(item) = item else { continue };
        if is_conditional(&item.attrs) {
            continue;
        }
        let handed_on = !matches!(item.vis, Visibility::Inherited);
        names(&item.tree, &mut Vec::new(), &mut |path| {
            imports.push(Import { path, handed_on })
        });
    }
    let mut written_out = WrittenOut(Vec::new());
    written_out.visit_file(file);
    imports.append(&mut written_out.0);
    imports
}

/// Such as tests, which may use whatever they like.
fn is_conditional(attributes: &[Attribute]) -> bool {
    let mut attributes = attributes.iter();
    attributes.any(|attribute| attribute.path().is_ident("cfg"))
}

/// Paths from the crate or from a module above that stand in the code instead of in a `use`.
struct WrittenOut(Vec<Import>);

impl<'ast> Visit<'ast> for WrittenOut {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path.segments.iter().map(|part| part.ident.to_string());
        let path_of_names: Vec<String> = names.collect();
        if ["crate", "super"].contains(&path_of_names[0].as_str()) {
            self.0.push(Import {
                path: path_of_names,
                handed_on: false,
            });
        }
        visit_path(self, path);
    }

    /// Who may use a name is not what it uses.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_conditional(&module.attrs) {
            visit_item_mod(self, module);
        }
    }
}

/// Gives the path of every name that a `use` takes.
fn names(tree: &UseTree, before: &mut Vec<String>, give: &mut impl FnMut(Vec<String>)) {
    let with = |last: String| [before.as_slice(), &[last]].concat();
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            names(&path.tree, before, give);
            before.pop();
        }
        UseTree::Name(name) => give(with(name.ident.to_string())),
        UseTree::Rename(name) => give(with(name.ident.to_string())),
        UseTree::Glob(_) => give(with("*".to_owned())),
        UseTree::Group(group) => group
            .items
            .iter()
            .for_each(|tree| names(tree, before, give)),
    }
}

/// The module that a path leads to from another one, and the first name behind it; none outside of the crate.
fn resolve<V>(
    modules: &BTreeMap<Module, V>,
    from: &Module,
    path: &[String],
) -> Option<(Module, Option<String>)> {
    let (mut base, mut rest) = (from.clone(), path);
    match rest.first()?.as_str() {
        "crate" => (base, rest) = (Vec::new(), &rest[1..]),
        "self" => rest = &rest[1..],
        "super" => {
            while let Some(("super", after)) = rest.split_first().map(|(a, b)| (a.as_str(), b)) {
                base.pop()?;
                rest = after;
            }
        }
        child => {
            let inner = [base.as_slice(), &[child.to_owned()]].concat();
            modules.get(&inner)?;
        }
    }
    let whole = [base.as_slice(), rest].concat();
    (0..=whole.len())
        .rev()
        .map(|length| (whole[..length].to_vec(), whole.get(length).cloned()))
        .find(|(module, _)| modules.contains_key(module))
}

/// Which modules each module uses.
fn edges(modules: &BTreeMap<Module, Vec<Import>>) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut handed_on = BTreeMap::new();
    for (module, imports) in modules {
        for import in imports.iter().filter(|import| import.handed_on) {
            if let Some((target, Some(name))) = resolve(modules, module, &import.path) {
                handed_on.insert((module.clone(), name), target);
            }
        }
    }
    let defined_in = |mut target: Module, name: Option<String>| {
        // More often than modules are deep nothing is handed on.
        for _ in 0..8 {
            let key = (target.clone(), name.clone().unwrap_or_default());
            match handed_on.get(&key) {
                Some(next) => target.clone_from(next),
                None => break,
            }
        }
        target
    };
    let used = |(module, imports): (&Module, &Vec<Import>)| {
        let own = imports.iter().filter(|import| !import.handed_on);
        let targets = own.filter_map(|import| resolve(modules, module, &import.path));
        let targets = targets.map(|(target, name)| defined_in(target, name));
        (
            module.clone(),
            targets.filter(|target| target != module).collect(),
        )
    };
    modules.iter().map(used).collect()
}

/// Modules that lead back to themselves, those of one circle together.
fn circles(edges: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<Vec<String>> {
    let reached = |from: &Module| {
        let mut seen: BTreeSet<&Module> = BTreeSet::new();
        let mut open: Vec<&Module> = edges[from].iter().collect();
        while let Some(next) = open.pop() {
            if seen.insert(next) {
                open.extend(&edges[next]);
            }
        }
        seen
    };
    let reached: BTreeMap<&Module, BTreeSet<&Module>> = edges
        .keys()
        .map(|module| (module, reached(module)))
        .collect();
    let circle = |module: &&Module| {
        let back = |other: &&&Module| reached[**other].contains(*module);
        let circle = reached[*module].iter().filter(back);
        circle
            .map(|module| module.join("/"))
            .collect::<Vec<String>>()
    };
    let members = edges.keys().collect::<Vec<&Module>>();
    let circles = members.iter().map(circle);
    circles.filter(|circle| !circle.is_empty()).collect()
}

#[test]
fn no_modules_use_each_other() {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root().join("crates")).expect("crates") {
        let name = entry.expect("an entry").file_name();
        let name = name.to_string_lossy();
        let mut modules = modules(&name);
        if name == "cli" {
            // Verbs are one idea with their parts; what lies below them is not.
            modules.retain(|module, _| module.first().is_none_or(|first| first != "commands"));
        }
        let circles = circles(&edges(&modules));
        let known = |circle: &Vec<String>| {
            ONE_IDEA
                .iter()
                .any(|(of, one)| *of == name && one == circle)
        };
        let circles = circles.into_iter().filter(|circle| !known(circle));
        found.extend(circles.map(|circle| format!("{name}: {}", circle.join(", "))));
    }
    assert!(
        found.is_empty(),
        "put what both need into a file below them:\n{}",
        found.join("\n")
    );
}

#[test]
fn a_circle_is_found_through_a_name_that_is_handed_on() {
    let module = |name: &str| -> Module { name.split('/').map(str::to_owned).collect() };
    let imports_of = |source: &str| imports(&syn::parse_file(source).expect("Rust"));
    let modules = BTreeMap::from([
        (
            module("a"),
            imports_of("pub use inner::Thing;\nuse std::fmt;"),
        ),
        (module("a/inner"), imports_of("use crate::b::Other;")),
        (module("b"), imports_of("use crate::a::{Thing, Else};")),
    ]);
    let found = circles(&edges(&modules));
    assert_eq!(
        found,
        BTreeSet::from([vec!["a/inner".to_owned(), "b".to_owned()]])
    );
    let one_way = BTreeMap::from([
        (module("a"), imports_of("use super::b::Other;")),
        (
            module("b"),
            imports_of("#[cfg(test)]\nuse crate::a::Thing;"),
        ),
    ]);
    assert!(circles(&edges(&one_way)).is_empty());
    let written_out = BTreeMap::from([
        (module("a"), imports_of("use super::b::Other;")),
        (module("b"), imports_of("fn f() -> u8 { super::a::g() }")),
    ]);
    assert_eq!(circles(&edges(&written_out)).len(), 1);
}
