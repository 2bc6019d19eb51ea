//! One cartridge: the tape with all that waits on it, and the head.

use super::table::{numbers, table, words};
use super::{Address, Live, age, document, escaped, out_of_use};
use crate::access::Who;
use crate::forecast::MOST_READ;
use crate::problem::Problem;
use crate::service::Service;
use axum::Extension;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Html;
use std::fmt::Write as _;
use std::sync::Arc;
use tapewise_archive::catalogue::{VolumeQueue, Waiting};
use tapewise_model::units::{bytes, count};

/// The picture's size in its own units; it is scaled to the page.
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 300.0;

/// The frame of the tape in the picture: left, top, width and height.
const FRAME: [f64; 4] = [10.0, 15.0, WIDTH - 20.0, HEIGHT - 45.0];

/// The head's circle, and how far from the frame all middles of marks stay: the circle with its line fits in between.
const HEAD: f64 = 7.0;
const INSET: f64 = HEAD + 2.0;

/// The mark of a file.
const MARK: [f64; 2] = [3.0, 7.0];

/// A longer queue of the cartridge is not drawn: it would have to be read as a whole.
const MOST_DRAWN: u64 = 50_000;

/// Files in the table below the picture.
const LISTED: usize = 100;

/// A place on the tape: wrap and longitudinal position.
type Place = (u16, u32);

/// `GET /cartridge/LABEL`.
pub(crate) async fn show(
    State(service): State<Arc<Service>>,
    Extension(who): Extension<Arc<Who>>,
    Path(label): Path<String>,
) -> Result<Html<String>, Problem> {
    who.watches()?;
    let page = service.ask(move |service| {
        let title = format!("Cartridge {label}");
        let body = body(service, &label)?;
        Ok(document(
            &service.site,
            Address::Below(&title),
            Live::Yes,
            &body,
        ))
    });
    Ok(Html(page.await?))
}

fn body(service: &Service, label: &str) -> Result<String, Problem> {
    let catalogue = &service.archive.catalogue;
    let waits = service.waits()?;
    let wait = waits.iter().find(|wait| wait.label == label);
    let drives = service.work.drives();
    let device = drives
        .devices
        .iter()
        .find(|(_, device)| device.cartridge.as_deref() == Some(label));
    if wait.is_none() && device.is_none() && catalogue.find_volume(label)?.is_none() {
        let detail = format!("The archive has no cartridge {label}.");
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            "No such cartridge",
            detail,
        ));
    }
    let head = device.and_then(|(_, device)| device.spot?.wrap.zip(device.spot?.lpos));
    let place = match device {
        Some((name, device)) => format!("In drive {}. Last: {}.", escaped(name), device.last),
        None => "In no drive.".to_owned(),
    };
    let mut body = format!("<p role=\"status\">{place}</p>\n");
    if let Some(what) = out_of_use(&catalogue.out_of_use()?, label) {
        let _ = writeln!(body, "<p>It is {what}.</p>");
    }
    let Some(wait) = wait else {
        return Ok(body + "<p>Nothing waits for it in the queue.</p>\n");
    };
    let _ = writeln!(
        body,
        "<p>{} in the queue, {}. The oldest was asked for {} ago.</p>",
        wait.recalls,
        bytes(wait.bytes),
        age((service.now_ns)(), wait.oldest_ns)
    );
    // Each recall of the queue is asked whether it is one of this cartridge.
    if wait.recalls > MOST_DRAWN || catalogue.open_recalls()?.queued > MOST_READ {
        return Ok(body + "<p class=\"quiet\">The queue is too long to be drawn.</p>\n");
    }
    match catalogue.recalls_of(label)? {
        Some(queue) => Ok(body + &queued(service, queue, head)?),
        None => Ok(body),
    }
}

/// What waits for a cartridge: the tape, and the first files by block.
fn queued(
    service: &Service,
    mut queue: VolumeQueue,
    head: Option<Place>,
) -> Result<String, Problem> {
    let mut body = picture(&queue, head);
    queue.waiting.sort_by_key(|waiting| {
        let first = waiting.segments.first();
        first.map(|segment| (segment.partition, segment.first_block))
    });
    let rows = queue.waiting.iter().take(LISTED);
    let rows = rows.map(|waiting| row(service, waiting));
    let rows: Vec<Vec<String>> = rows.collect::<Result<_, Problem>>()?;
    let columns = [
        words("File"),
        numbers("From block"),
        numbers("Wrap"),
        numbers("Data"),
        numbers("Waits"),
    ];
    body += "<h2>Files that wait, by block</h2>\n";
    body += &table("Files that wait", &columns, rows);
    if queue.waiting.len() > LISTED {
        let _ = writeln!(
            body,
            "<p class=\"quiet\">And {} more.</p>",
            queue.waiting.len() - LISTED
        );
    }
    Ok(body)
}

fn row(service: &Service, waiting: &Waiting) -> Result<Vec<String>, Problem> {
    let entry = service.archive.catalogue.file(waiting.file)?;
    let first = waiting.segments.first();
    let block = first.map_or(String::new(), |segment| segment.first_block.to_string());
    let wrap = first.and_then(|segment| segment.start);
    let path = escaped(&String::from_utf8_lossy(&entry.file.path));
    Ok(vec![
        format!("<code>{path}</code>"),
        block,
        wrap.map_or(String::new(), |at| at.wrap.to_string()),
        bytes(entry.file.bytes),
        age((service.now_ns)(), waiting.created_ns).to_string(),
    ])
}

/// Wraps from below to above, the tape from left to right: a mark where each file begins, and the head.
fn picture(queue: &VolumeQueue, head: Option<Place>) -> String {
    let starts = queue.waiting.iter().filter_map(|waiting| {
        let start = waiting.segments.first()?.start?;
        Some((start.wrap, start.lpos))
    });
    let starts: Vec<Place> = starts.collect();
    if starts.is_empty() {
        return "<p class=\"quiet\">Where these files lie on the tape was not recorded when they were written, so \
            the tape is not drawn.</p>\n"
            .to_owned();
    }
    let all = || starts.iter().chain(&head);
    let wraps = f64::from(all().map(|(wrap, _)| *wrap).max().unwrap_or(0)) + 1.0;
    let length = f64::from(all().map(|(_, lpos)| *lpos).max().unwrap_or(0)).max(1.0);
    let [left, top, width, height] = FRAME;
    let along = |from: f64, space: f64, share: f64| from + INSET + (space - 2.0 * INSET) * share;
    let x = |lpos: u32| along(left, width, f64::from(lpos) / length);
    let y = |wrap: u16| along(top, height, 1.0 - (f64::from(wrap) + 0.5) / wraps);
    let mut svg = format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"The tape\"><svg class=\"tape\" viewBox=\"0 0 \
         {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{} on {wraps} wraps; the table below has the same\">\n",
        count(starts.len(), "file")
    );
    // A string takes what is written to it.
    let _ = writeln!(
        svg,
        "<rect class=\"edge\" x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"/>"
    );
    let [broad, high] = MARK;
    for (wrap, lpos) in starts {
        let _ = writeln!(
            svg,
            "<rect class=\"bar\" x=\"{:.1}\" y=\"{:.1}\" width=\"{broad}\" height=\"{high}\"/>",
            x(lpos) - broad / 2.0,
            y(wrap) - high / 2.0
        );
    }
    if let Some((wrap, lpos)) = head {
        let _ = writeln!(
            svg,
            "<circle class=\"head\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{HEAD}\"><title>the head</title></circle>",
            x(lpos),
            y(wrap)
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"10\" y=\"{0}\">position 0</text><text x=\"{1}\" y=\"{0}\" text-anchor=\"end\">position {length}</text>",
        HEIGHT - 8.0,
        WIDTH - 10.0
    );
    let legend = match head {
        Some((wrap, lpos)) => format!("The circle is the head: wrap {wrap}, position {lpos}. "),
        None => String::new(),
    };
    svg + &format!(
        "</svg></div>\n<p class=\"quiet\">{legend}Marks are files that wait; wrap 0 is at the bottom. The picture goes as \
         far as the highest wrap and position in it.</p>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewise_archive::catalogue::{FileId, RequestId, VolumeId};
    use tapewise_archive::record::Segment;
    use tapewise_formats::WrapLpos;

    /// A file that begins at each of these places waits.
    fn queue(places: &[Place]) -> VolumeQueue {
        let waiting = (1..).zip(places).map(|(id, &(wrap, lpos))| Waiting {
            request: RequestId(id),
            file: FileId(id),
            number: 1,
            owner: Default::default(),
            place: None,
            priority: 0,
            deadline_ns: None,
            created_ns: 0,
            file_bytes: 1,
            zstd_bytes: None,
            segments: vec![Segment {
                partition: 0,
                first_block: 0,
                last_block: 0,
                byte_offset: 0,
                bytes: 1,
                file_offset: 0,
                start: Some(WrapLpos { wrap, lpos }),
                end: None,
            }],
        });
        VolumeQueue {
            volume: VolumeId(1),
            label: "T00001L8".to_owned(),
            waiting: waiting.collect(),
        }
    }

    /// Numbers of an element's attributes.
    fn numbers_of<const N: usize>(line: &str, names: [&str; N]) -> [f64; N] {
        names.map(|name| {
            let (_, rest) = line.split_once(&format!(" {name}=\"")).expect(name);
            let (number, _) = rest.split_once('"').expect("an end");
            number.parse().expect("a number")
        })
    }

    #[test]
    fn every_mark_is_within_the_frame_wherever_the_head_is() {
        let [left, top, width, height] = FRAME;
        let heads = [
            (0, 0),
            (0, 900_000),
            (207, 0),
            (207, 900_000),
            (999, 5_000_000),
        ];
        for head in heads {
            for wrap in [0, 206] {
                let svg = picture(&queue(&[(wrap, 0), (wrap, 800_000)]), Some(head));
                let circle = svg.lines().find(|line| line.starts_with("<circle"));
                let [x, y, r] = numbers_of(circle.expect("a head"), ["cx", "cy", "r"]);
                // Its line is as broad as the style sheet has it.
                let r = r + 1.5;
                let is_in = x - r >= left && x + r <= left + width;
                assert!(
                    is_in && y - r >= top && y + r <= top + height,
                    "{head:?}: {x}, {y}"
                );
                for mark in svg.lines().filter(|line| line.contains("\"bar\"")) {
                    let [x, y, w, h] = numbers_of(mark, ["x", "y", "width", "height"]);
                    assert!(x >= left && x + w <= left + width, "{mark}");
                    assert!(y >= top && y + h <= top + height, "{mark}");
                }
            }
        }
    }
}
