//! One request: each file, how far it is, what it waits for, and when it is likely to be there.

use super::table::{broad, line, numbers, table, words};
use super::{Address, Live, age, by_state, document, escaped, in_time, link, out_of_use, word};
use crate::access::Who;
use crate::forecast::Outlook;
use crate::problem::Problem;
use crate::requests::{expected, held_by, set_held};
use crate::service::Service;
use crate::visible::visible;
use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::{Html, Redirect};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::sync::Arc;
use tapewise_archive::catalogue::{CopyState, FileId, OutOfUse, RequestState, Stage, StagedFile};

/// Files on the page.
const FILES: usize = 200;

/// `GET /request/ID`.
pub(crate) async fn show(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    Path(id): Path<String>,
) -> Result<Html<String>, Problem> {
    let page = service.ask(move |service| {
        let stage = visible(service, &who, &id)?;
        let outlook = service.outlook()?;
        let now_ns = (service.now_ns)();
        let open = stage.open();
        let is_open = !open.is_empty();
        let mut body = format!(
            "<p>Asked for by {} {} ago, {}: {}.</p>\n",
            escaped(&stage.user),
            age(now_ns, stage.created_ns),
            tapewise_model::units::count(stage.files.len(), "file"),
            by_state(|state| stage
                .files
                .iter()
                .filter(|file| file.state == state)
                .count())
        );
        if let Some(turn) = expected(&open, &outlook) {
            let in_time = in_time(now_ns, turn);
            body += &format!("<p>All of it is likely to be there in {in_time}.</p>\n");
        } else if let Some(why) = outlook
            .unknown
            .as_ref()
            .filter(|_| is_open && outlook.unattended.is_none())
        {
            body += &format!("<p class=\"quiet\">{}.</p>\n", escaped(why));
        }
        if let Some(why) = held_by(&stage.user, &open, &outlook) {
            body += &format!("<p>It waits: {}.</p>\n", escaped(&why));
        }
        body += &hold(&stage, is_open, who.operates().is_ok());
        // What is still open first, then what failed.
        let mut files: Vec<&StagedFile> = stage.files.iter().collect();
        files.sort_by_key(|file| (file.done_ns.is_some(), file.reason.is_none()));
        let out_of_use = service.archive.catalogue.out_of_use()?;
        let rows = files
            .iter()
            .take(FILES)
            .map(|file| row(service, file, &outlook, &out_of_use));
        let rows: Vec<Vec<String>> = rows.collect::<Result<_, Problem>>()?;
        let columns = [
            words("File"),
            words("State"),
            numbers("Place"),
            line("Likely in"),
            broad("Reason"),
        ];
        body += &table("Files of the request", &columns, rows);
        if files.len() > FILES {
            body += &format!("<p class=\"quiet\">And {} more.</p>\n", files.len() - FILES);
        }
        let live = if is_open { Live::Yes } else { Live::Never };
        let title = format!("Request {id}");
        Ok(document(&service.site, Address::Below(&title), live, &body))
    });
    Ok(Html(page.await?))
}

/// Whether the request is held back, and a button for operators that changes it.
fn hold(stage: &Stage, is_open: bool, operates: bool) -> String {
    if !is_open {
        return String::new();
    }
    let (said, to, words) = if stage.is_held {
        let said = "<p>It is held back: its files wait in the queue.</p>\n";
        (said, "release", "Let it go on")
    } else {
        ("", "hold", "Hold it back")
    };
    let mut body = said.to_owned();
    if operates {
        body += &format!(
            "<form method=\"post\"><p><button name=\"do\" value=\"{to}\">{words}</button></p></form>\n"
        );
    }
    body
}

/// `POST /request/ID`: what the page's form sends.
pub(crate) async fn act(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Redirect, Problem> {
    let is_held = match &body[..] {
        b"do=hold" => true,
        b"do=release" => false,
        _ => return Err(Problem::bad("This form is not the one of the page.")),
    };
    // The same address again.
    let page = utf8_percent_encode(&id, NON_ALPHANUMERIC).to_string();
    set_held(service, &who, id, is_held).await?;
    Ok(Redirect::to(&page))
}

fn row(
    service: &Service,
    file: &StagedFile,
    outlook: &Outlook,
    out: &[OutOfUse],
) -> Result<Vec<String>, Problem> {
    let turn = outlook.turn(file.request);
    let why = match (file.state, &file.reason, file.file) {
        (RequestState::Failed, Some(why), _) => {
            format!("<span class=\"bad\">{}</span>", escaped(why))
        }
        (RequestState::Queued | RequestState::Started, _, Some(id)) => {
            let room = if outlook.lacks_room(file.request) {
                ", and room in the cache"
            } else {
                ""
            };
            waits_for(service, id, out)? + room
        }
        _ => String::new(),
    };
    let place = turn.map_or(String::new(), |turn| turn.position.to_string());
    let likely = turn.map_or(String::new(), |turn| in_time((service.now_ns)(), turn));
    Ok(vec![
        format!("<code>{}</code>", escaped(&file.spelling)),
        word(file.state).to_owned(),
        place,
        likely,
        why,
    ])
}

/// The cartridges that have a whole copy.
fn waits_for(service: &Service, file: FileId, out: &[OutOfUse]) -> Result<String, Problem> {
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
            let out = out_of_use(out, &label).map(|what| format!(" ({what})"));
            let label = link("cartridge", &label, &label) + &out.unwrap_or_default();
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
