//! Recalls that failed, and what an operator does about them.

use super::table::{numbers, table, words};
use super::{Address, Live, age, document, escaped};
use crate::access::Who;
use crate::failed::{Failed, Remedy, failures};
use crate::problem::Problem;
use crate::service::Service;
use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{Html, Redirect};
use std::sync::Arc;
use tapewise_archive::catalogue::RequestId;
use tapewise_archive::deliver::shown;

/// `GET /failed`.
pub(crate) async fn show(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
) -> Result<Html<String>, Problem> {
    who.watches()?;
    let page = service.ask(move |service| {
        let (all, failures) = failures(service)?;
        let body = body(all, &failures, who.operates().is_ok(), (service.now_ns)());
        // It would take what is being chosen.
        let address = Address::Beside("Recalls that failed");
        Ok(document(&service.site, address, Live::Never, &body))
    });
    Ok(Html(page.await?))
}

fn body(all: u64, failures: &[Failed], operates: bool, now_ns: i64) -> String {
    if failures.is_empty() {
        return "<p>None. A recall that fails stays here until somebody deals with it.</p>\n"
            .to_owned();
    }
    let row = |failed: &Failed| {
        let request = &failed.request;
        let number = request.id.0;
        let path = escaped(&failed.path);
        let choice = operates.then(|| {
            format!(
                "<input type=\"checkbox\" name=\"recall\" value=\"{number}\" aria-label=\"recall {number}, {path}\">"
            )
        });
        let to = request.place.as_deref();
        let why = escaped(request.reason.as_deref().unwrap_or_default());
        let cells = [
            format!("<code>{path}</code>"),
            format!("<span class=\"bad\">{why}</span>"),
            escaped(&request.terms.user),
            to.map_or("the cache".to_owned(), |to| escaped(&shown(to))),
            failed.attempts.to_string(),
            age(now_ns, request.done_ns.unwrap_or(request.created_ns)).to_string(),
        ];
        choice.into_iter().chain(cells).collect()
    };
    let mut columns = vec![
        words("File"),
        words("Why"),
        words("Of"),
        words("To"),
        numbers("Attempts"),
        numbers("Failed ago"),
    ];
    if operates {
        columns.insert(0, words("Choose"));
    }
    let mut list = table("Recalls that failed", &columns, failures.iter().map(row));
    if all > failures.len() as u64 {
        list += &format!(
            "<p class=\"quiet\">And {} earlier ones.</p>\n",
            all - failures.len() as u64
        );
    }
    if !operates {
        return list;
    }
    format!(
        "<p>Try again once the cause is gone: whoever asked for a file gets it then. Clients of the tape API still see \
         their request as failed, and find the file on disk when they ask again.</p>\n\
         <form method=\"post\" action=\"failed\">\n{list}\
         <p><button name=\"do\" value=\"retry\">Try the chosen ones again</button>\n\
         <button name=\"do\" value=\"dismiss\">Take the chosen ones off the list</button></p></form>\n"
    )
}

/// `POST /failed`: what the page's form sends.
pub(crate) async fn act(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    body: Bytes,
) -> Result<Redirect, Problem> {
    who.operates()?;
    let body = String::from_utf8_lossy(&body);
    let fields = || body.split('&').filter_map(|field| field.split_once('='));
    let recalls = fields().filter(|(name, _)| *name == "recall");
    let recalls: Option<Vec<RequestId>> = recalls
        .map(|(_, number)| number.parse().ok().map(RequestId))
        .collect();
    let remedy = match fields().find(|(name, _)| *name == "do") {
        Some((_, "retry")) => Some(Remedy::Retry),
        Some((_, "dismiss")) => Some(Remedy::Dismiss),
        _ => None,
    };
    let (Some(recalls), Some(remedy)) = (recalls, remedy) else {
        return Err(Problem::bad("This form is not the one of the page."));
    };
    let apply = service.ask(move |service| remedy.apply(service, &recalls));
    apply.await?;
    Ok(Redirect::to("failed"))
}
