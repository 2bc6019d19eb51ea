//! The first page: what happens now, drives, cartridges that are waited for, requests, and the last day.

use super::table::{broad, numbers, table, words};
use super::{Address, Live, by_state, document, escaped, in_time, link, plant};
use crate::access::Who;
use crate::drives::Drives;
use crate::forecast::Outlook;
use crate::problem::Problem;
use crate::requests::{expected, held_by};
use crate::service::{Load, Service};
use crate::work::Doing;
use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::response::Html;
use std::sync::Arc;
use tapewise_archive::catalogue::{OpenRecalls, OutOfUse, StageInBrief, VolumeWait};
use tapewise_archive::mover::OwnerShare;
use tapewise_model::Micros;
use tapewise_model::units::bytes;

/// Requests on the page, and files of one that failed.
const REQUESTS: usize = 30;
const FAILURES: usize = 5;

/// What the page shows.
struct Shown {
    load: Load,
    waits: Arc<Vec<VolumeWait>>,
    out_of_use: Vec<OutOfUse>,
    stages: Vec<StageInBrief>,
    outlook: Arc<Outlook>,
    doing: Doing,
    drives: Drives,
    /// Whether the reader sees more than the own requests.
    sees_all: bool,
    now_ns: i64,
}

/// `GET /`; `/?live=no` does not load itself again.
pub(crate) async fn show(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    RawQuery(query): RawQuery,
) -> Result<Html<String>, Problem> {
    let page = service.ask(move |service| {
        let sees_all = who.watches().is_ok();
        let live = match query.as_deref() {
            Some("live=no") => Live::Stopped,
            _ => Live::Yes,
        };
        let catalogue = &service.archive.catalogue;
        let user = (!sees_all).then_some(who.name.as_str());
        let load = service.load()?;
        let shown = Shown {
            doing: service.doing(&load.open)?,
            load,
            waits: service.waits()?,
            out_of_use: catalogue.out_of_use()?,
            stages: catalogue.stages(user, REQUESTS, FAILURES)?,
            outlook: service.outlook()?,
            drives: service.work.drives(),
            sees_all,
            now_ns: (service.now_ns)(),
        };
        Ok(document(&service.site, Address::First, live, &shown.body()))
    });
    Ok(Html(page.await?))
}

impl Shown {
    fn body(&self) -> String {
        let mut body = self.now();
        if self.sees_all {
            body += &plant::drives(&self.drives, self.now_ns);
            body += &self.out_of_use();
            body += &self.cartridges();
            body += &self.shares();
        }
        body += if self.sees_all {
            "<h2>Requests</h2>\n"
        } else {
            "<h2>Your requests</h2>\n"
        };
        if self.stages.is_empty() {
            body += "<p class=\"quiet\">None yet. Clients find the tape API through \
                <code>/.well-known/wlcg-tape-rest-api</code>.</p>\n";
        } else {
            let rows = self.stages.iter().map(|stage| self.request(stage));
            let columns = [
                words("Request"),
                words("Of"),
                numbers("Age"),
                numbers("Files"),
                broad("How far"),
            ];
            body += &table("Requests", &columns, rows);
        }
        if self.sees_all {
            body += &plant::last_day(&self.drives, self.now_ns);
        }
        body
    }

    /// What happens now, in words.
    fn now(&self) -> String {
        let Load {
            open,
            holds,
            failures,
        } = &self.load;
        let OpenRecalls {
            queued,
            held,
            started,
            oldest_ns,
        } = open;
        let doing = match &self.doing {
            Doing::Idle if queued + held == 0 => "Nothing waits.".to_owned(),
            Doing::Idle if *queued == 0 => "All that waits is held back.".to_owned(),
            Doing::Idle => "Recalls begin in a moment.".to_owned(),
            Doing::Recalling => "Drives are reading.".to_owned(),
            Doing::Writing => "Drives are writing what lies in the cache.".to_owned(),
            Doing::Waiting(why) if self.outlook.unattended.is_some() => {
                format!(
                    "<span class=\"bad\">Nothing is read now:</span> {}",
                    escaped(why)
                )
            }
            // The reason may name what others asked for.
            Doing::Waiting(_) if !self.sees_all => {
                "<span class=\"bad\">Something cannot be read or written now, and is tried again.</span>".to_owned()
            }
            Doing::Waiting(why) => format!(
                "<span class=\"bad\">Something cannot be read or written now, and is tried again:</span> {}",
                escaped(why)
            ),
        };
        let oldest = oldest_ns.map_or(String::new(), |ns| {
            format!(" The oldest was asked for {} ago.", self.age(ns))
        });
        let held = match held {
            0 => String::new(),
            held => format!(" {held} more are held back."),
        };
        let failures = match failures {
            0 => String::new(),
            _ if !self.sees_all => String::new(),
            1 => "<p><a href=\"failed\">1 recall failed</a>, and nobody has dealt with it.</p>\n"
                .to_owned(),
            count => format!(
                "<p><a href=\"failed\">{count} recalls failed</a>, and nobody has dealt with them.</p>\n"
            ),
        };
        format!(
            "<div class=\"now\"><p role=\"status\">{doing}</p>\n<p>{queued} in the queue, {started} claimed by \
             drives.{held}{oldest}</p>\n{failures}<p class=\"quiet\">The cache holds {}; {} are kept for requests.</p></div>\n",
            bytes(holds.bytes),
            bytes(holds.pinned_bytes)
        )
    }

    /// Hosts, drives and cartridges that somebody has taken out of use.
    fn out_of_use(&self) -> String {
        if self.out_of_use.is_empty() {
            return String::new();
        }
        let row = |what: &OutOfUse| {
            vec![
                format!("{} {}", what.resource.name(), escaped(&what.name)),
                what.outage.name().to_owned(),
                self.age(what.since_ns).to_string(),
                escaped(&what.why),
            ]
        };
        let columns = [words("What"), words("How"), numbers("For"), broad("Why")];
        let rows = self.out_of_use.iter().map(row);
        "<h2>Out of use</h2>\n".to_owned() + &table("Out of use", &columns, rows)
    }

    fn cartridges(&self) -> String {
        let mut body = "<h2>Cartridges that are waited for</h2>\n".to_owned();
        if self.waits.is_empty() {
            return body + "<p class=\"quiet\">None.</p>\n";
        }
        let rows = self.waits.iter().map(|wait| self.cartridge(wait));
        let columns = [
            words("Cartridge"),
            numbers("Files"),
            numbers("Data"),
            numbers("Oldest waits"),
            words("Where"),
        ];
        body += &table("Cartridges that are waited for", &columns, rows);
        body
    }

    /// Who has how many drives, if several have to share them or a limit holds something back.
    fn shares(&self) -> String {
        let shares = &self.outlook.shares;
        if shares.len() < 2 && shares.iter().all(|share| share.held.is_empty()) {
            return String::new();
        }
        let row = |share: &OwnerShare| {
            let held = share.held.iter();
            let held = held
                .map(|(why, recalls)| format!("<p>{recalls}: {}</p>", escaped(&why.to_string())));
            vec![
                escaped(&share.owner.to_string()),
                share.drives.to_string(),
                format!("{:.1}", share.due),
                share.waiting.to_string(),
                held.collect(),
            ]
        };
        let columns = [
            words("Of"),
            numbers("Drives"),
            numbers("Due"),
            numbers("Files wait"),
            broad("Held back"),
        ];
        let rows = shares.iter().take(REQUESTS).map(row);
        "<h2>Shares of the drives</h2>\n".to_owned()
            + &table("Shares of the drives", &columns, rows)
    }

    fn cartridge(&self, wait: &VolumeWait) -> Vec<String> {
        let mut devices = self.drives.devices.iter();
        let drive = devices.find(|(_, device)| device.cartridge.as_deref() == Some(&wait.label));
        let mut place = drive.map_or("in no drive".to_owned(), |(name, _)| {
            format!("in drive {}", escaped(name))
        });
        if let Some(what) = super::out_of_use(&self.out_of_use, &wait.label) {
            place += &format!(", {what}");
        }
        vec![
            link("cartridge", &wait.label, &wait.label),
            wait.recalls.to_string(),
            bytes(wait.bytes),
            self.age(wait.oldest_ns).to_string(),
            place,
        ]
    }

    fn request(&self, stage: &StageInBrief) -> Vec<String> {
        let of = |state| stage.files.get(&state).copied().unwrap_or(0);
        let all: usize = stage.files.values().sum();
        let ended = all - stage.open.len();
        let mut far = format!(
            "<progress value=\"{ended}\" max=\"{all}\" aria-label=\"{ended} of {all} files ended\"></progress>\
             <p>{}</p>",
            by_state(of)
        );
        if stage.is_held && ended < all {
            far += "<p>held back</p>";
        }
        if let Some(why) = held_by(&stage.user, &stage.open, &self.outlook) {
            far += &format!("<p>waits: {}</p>", escaped(&why));
        }
        if let Some(turn) = expected(&stage.open, &self.outlook) {
            far += &format!("<p>likely there in {}</p>", in_time(self.now_ns, turn));
        }
        let failed = stage.failed.iter().map(|(path, why)| {
            format!(
                "<p><code>{}</code>: <span class=\"bad\">{}</span></p>",
                escaped(path),
                escaped(why)
            )
        });
        far.extend(failed);
        vec![
            link("request", &stage.id, &short(&stage.id)),
            escaped(&stage.user),
            self.age(stage.created_ns).to_string(),
            all.to_string(),
            far,
        ]
    }

    /// How long ago a time is.
    fn age(&self, ns: i64) -> Micros {
        super::age(self.now_ns, ns)
    }
}

/// As much of an id as tells it from others on the page.
fn short(id: &str) -> String {
    id.chars().take(8).collect()
}
