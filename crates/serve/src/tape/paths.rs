//! The paths that a client names, and the files that it means by them.

use crate::body::{Body, Object};
use std::collections::HashMap;
use tapewise_archive::catalogue::{Catalogue, CatalogueError, Placed};
use utoipa::ToSchema;

/// A list of paths.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PathsBody {
    pub(super) paths: Vec<String>,
}

impl Body for PathsBody {
    const EXAMPLE: &'static str = r#"{"paths": ["/d/file"]}"#;

    fn of(object: Object) -> Result<PathsBody, String> {
        let paths = object.only(&["paths"])?.texts("paths")?;
        Ok(PathsBody { paths })
    }
}

/// Where the files of some paths are. All of them are asked for at once: each question is a journey to the server.
pub(super) struct Places(HashMap<Vec<u8>, Placed>);

impl Places {
    pub(super) fn of<'a>(
        catalogue: &dyn Catalogue,
        paths: impl Iterator<Item = &'a Vec<u8>>,
    ) -> Result<Places, CatalogueError> {
        let paths: Vec<&[u8]> = paths.map(Vec::as_slice).collect();
        let placed = catalogue.placed(&paths)?.into_iter();
        Ok(Places(placed.map(|one| (one.path.clone(), one)).collect()))
    }

    /// The file that a client means by a spelling.
    pub(super) fn file(&self, meanings: &[Vec<u8>]) -> Option<&Placed> {
        meanings.iter().find_map(|path| self.0.get(path))
    }
}
