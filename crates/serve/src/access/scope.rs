//! What the scopes of a WLCG token allow: `storage.stage:/d storage.read:/d/e`.

use crate::area::Area;

/// What somebody wants to do with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Stage it, cancel, release.
    Stage,
    /// Ask where it is, or how far it is.
    Locate,
    /// Read its contents.
    Read,
}

/// A deed that is allowed below a directory.
pub type Grant = (Deed, Area);

/// What each scope of the profile allows here. `storage.stage` allowed reading until version 1.1 of the profile; since 1.2
/// it does not, whatever version a token names.
const SCOPES: [(&str, &[Deed]); 5] = [
    ("storage.read", &[Deed::Read, Deed::Locate]),
    ("storage.create", &[Deed::Locate]),
    ("storage.modify", &[Deed::Locate]),
    ("storage.stage", &[Deed::Stage, Deed::Locate]),
    ("storage.poll", &[Deed::Locate]),
];

/// The grants of a token whose paths begin at `root`. Scopes for something else than storage are passed over.
///
/// # Errors
/// Words for the client, where a scope of storage has no path, or one that nobody can mean.
pub fn grants(scopes: &str, root: &Area) -> Result<Vec<Grant>, String> {
    let mut grants = Vec::new();
    for scope in scopes.split(' ') {
        let (name, path) = scope.split_once(':').unwrap_or((scope, ""));
        let Some((_, deeds)) = SCOPES.iter().find(|(known, _)| *known == name) else {
            continue;
        };
        let area = Area::of_escaped(path).ok_or_else(|| {
            format!("the scope {name} needs a path from the root without \"..\", such as {name}:/d")
        })?;
        let area = root.join(&area);
        grants.extend(deeds.iter().map(|&deed| (deed, area.clone())));
    }
    Ok(grants)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(scopes: &str, deed: Deed, path: &str) -> bool {
        let grants = grants(scopes, &Area::default()).expect("scopes");
        let mut grants = grants.iter();
        grants.any(|(allowed, area)| *allowed == deed && area.covers(path.as_bytes()))
    }

    #[test]
    fn each_scope_allows_what_the_profile_says_and_no_more() {
        let cases = [
            ("storage.stage:/d", [true, true, false]),
            ("storage.poll:/d", [false, true, false]),
            ("storage.read:/d", [false, true, true]),
            ("storage.modify:/d", [false, true, false]),
            ("storage.create:/d", [false, true, false]),
            ("compute.read openid storage.stagex:/d", [false; 3]),
            ("", [false; 3]),
        ];
        for (scopes, expected) in cases {
            let deeds = [Deed::Stage, Deed::Locate, Deed::Read];
            let found = deeds.map(|deed| allowed(scopes, deed, "d/1"));
            assert_eq!(found, expected, "{scopes}");
        }
        let two = "storage.stage:/d storage.read:/e";
        assert!(allowed(two, Deed::Stage, "d") && allowed(two, Deed::Read, "e/1"));
        assert!(!allowed(two, Deed::Read, "d") && !allowed(two, Deed::Stage, "e/1"));
    }

    #[test]
    fn a_scope_of_storage_without_a_good_path_spoils_the_token() {
        for wrong in [
            "storage.stage",
            "storage.stage:",
            "storage.read:d",
            "storage.stage:/d storage.read:/d/../e",
            "storage.stage:/d%2Fe",
        ] {
            let said = grants(wrong, &Area::default()).expect_err(wrong);
            assert!(said.contains("needs a path"), "{said}");
        }
    }
}
