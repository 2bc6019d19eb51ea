//! Recalls that failed, and what an operator does about them.

use super::{Live, age, document, escaped, table};
use crate::access::Who;
use crate::failed::{Remedy, failures};
use crate::problem::Problem;
use crate::service::Service;
use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{Html, Redirect};
use std::sync::Arc;
use tapewise_archive::catalogue::{Request, RequestId};
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
        let title = Some("Recalls that failed");
        Ok(document(&service.site, title, Live::Never, &body))
    });
    Ok(Html(page.await?))
}

fn body(all: u64, failures: &[(Request, String)], operates: bool, now_ns: i64) -> String {
    if failures.is_empty() {
        return "<p>None. A recall that fails stays here until somebody deals with it.</p>\n"
            .to_owned();
    }
    let row = |(request, path): &(Request, String)| {
        let number = request.id.0;
        let path = escaped(path);
        let choice = if operates {
            format!(
                "<td><input type=\"checkbox\" name=\"recall\" value=\"{number}\" aria-label=\"recall {number}, {path}\"></td>"
            )
        } else {
            String::new()
        };
        let to = request.place.as_deref();
        format!(
            "<tr>{choice}<td><code>{path}</code></td><td class=\"bad\">{}</td><td>{}</td><td>{}</td>\
             <td class=\"n\">{}</td></tr>",
            escaped(request.reason.as_deref().unwrap_or_default()),
            escaped(&request.terms.user),
            to.map_or("the cache".to_owned(), |to| escaped(&shown(to))),
            age(now_ns, request.done_ns.unwrap_or(request.created_ns))
        )
    };
    let choice = if operates { "<th>Choose</th>" } else { "" };
    let head = format!(
        "<tr>{choice}<th>File</th><th>Why</th><th>Of</th><th>To</th><th class=\"n\">Failed ago</th></tr>"
    );
    let mut list = table("Recalls that failed", &head, failures.iter().map(row));
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
         <form method=\"post\" action=\"/failed\">\n{list}\
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
    Ok(Redirect::to("/failed"))
}
