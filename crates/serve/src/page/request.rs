//! One request: each file, how far it is, and what it waits for.

use super::{Live, age, document, escaped, link, table, word};
use crate::access::Who;
use crate::problem::Problem;
use crate::service::Service;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Html;
use std::sync::Arc;
use tapewise_archive::catalogue::{CopyState, FileId, RequestState, StagedFile};

/// Files on the page.
const FILES: usize = 200;

/// `GET /request/ID`.
pub(crate) async fn show(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    Path(id): Path<String>,
) -> Result<Html<String>, Problem> {
    let page = service.ask(move |service| {
        let catalogue = &service.archive.catalogue;
        let owner = catalogue.stage_owner(&id)?;
        let owner = owner.filter(|owner| *owner == who.name || who.watches().is_ok());
        let owner = owner.ok_or_else(Problem::no_stage)?;
        let stage = catalogue.stage(&owner, &id)?;
        let stage = stage.ok_or_else(Problem::no_stage)?;
        let is_open = stage.files.iter().any(|file| file.done_ns.is_none());
        let mut body = format!(
            "<p>Asked for by {} {} ago, {} files.</p>\n",
            escaped(&owner),
            age((service.now_ns)(), stage.created_ns),
            stage.files.len()
        );
        // What is still open first, then what failed.
        let mut files: Vec<&StagedFile> = stage.files.iter().collect();
        files.sort_by_key(|file| (file.done_ns.is_some(), file.reason.is_none()));
        let rows = files.iter().take(FILES).map(|file| row(service, file));
        let rows: Vec<String> = rows.collect::<Result<_, Problem>>()?;
        let head =
            "<tr><th>File</th><th>State</th><th>What it waits for, or why it failed</th></tr>";
        body += &table("Files of the request", head, rows.into_iter());
        if files.len() > FILES {
            body += &format!("<p class=\"quiet\">And {} more.</p>\n", files.len() - FILES);
        }
        let live = if is_open { Live::Yes } else { Live::Never };
        let title = format!("Request {id}");
        Ok(document(&service.site, Some(&title), live, &body))
    });
    Ok(Html(page.await?))
}

fn row(service: &Service, file: &StagedFile) -> Result<String, Problem> {
    let why = match (file.state, &file.reason, file.file) {
        (RequestState::Failed, Some(why), _) => {
            format!("<span class=\"bad\">{}</span>", escaped(why))
        }
        (RequestState::Queued | RequestState::Started, _, Some(file)) => waits_for(service, file)?,
        _ => String::new(),
    };
    Ok(format!(
        "<tr><td><code>{}</code></td><td>{}</td><td>{why}</td></tr>",
        escaped(&file.spelling),
        word(file.state)
    ))
}

/// The cartridges that have a whole copy.
fn waits_for(service: &Service, file: FileId) -> Result<String, Problem> {
    let catalogue = &service.archive.catalogue;
    let entry = catalogue.file(file)?;
    let mut cartridges = Vec::new();
    for copy in entry
        .copies
        .iter()
        .filter(|copy| copy.state == CopyState::Whole)
    {
        let mut labels = Vec::new();
        for (volume, _) in &copy.segments {
            let label = catalogue.volume(*volume)?.label;
            let label = link("cartridge", &label, &label);
            if labels.last() != Some(&label) {
                labels.push(label);
            }
        }
        cartridges.push(labels.join(" and "));
    }
    if cartridges.is_empty() {
        return Ok("<span class=\"bad\">no copy of it is whole</span>".to_owned());
    }
    Ok(format!("cartridge {}", cartridges.join(" or ")))
}
