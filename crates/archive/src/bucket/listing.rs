//! Lists of objects, without the keys that name no place here.
//!
//! S3 takes any text as a key: `p//x`, `p/../x`, and `p/` with contents. object_store refuses the whole page of a list
//! that has one of them. They are taken out of the page before it sees that, and noted.

use bytes::Bytes;
use object_store::path::Path as Key;
use quick_xml::escape::unescape;
use std::sync::{Arc, Mutex, PoisonError};

/// Keys that were taken out of lists.
#[derive(Clone, Debug, Default)]
pub(super) struct OddKeys(Arc<Mutex<Vec<String>>>);

impl OddKeys {
    /// Those that were noted since the last time.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A page of a list without them. What is no such page stays as it is.
    pub fn taken_out(&self, page: Bytes) -> Bytes {
        let Ok(text) = std::str::from_utf8(&page) else {
            return page;
        };
        let (mut kept, mut odd) = (String::with_capacity(text.len()), Vec::new());
        // In XML a bracket within a text is escaped, so these are elements.
        for part in text.split_inclusive(END) {
            let object = part.ends_with(END).then(|| part.find("<Contents>"));
            match object
                .flatten()
                .and_then(|at| Some((at, odd_key(&part[at..])?)))
            {
                Some((at, key)) => {
                    kept += &part[..at];
                    odd.push(key);
                }
                None => kept += part,
            }
        }
        if odd.is_empty() {
            return page;
        }
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.append(&mut odd);
        kept.into()
    }
}

const END: &str = "</Contents>";

/// The key of an object that can be asked for by no path.
fn odd_key(object: &str) -> Option<String> {
    let element = |name: &str| {
        let (_, rest) = object.split_once(&format!("<{name}>"))?;
        Some(rest.split_once("</")?.0)
    };
    let key = unescape(element("Key")?).ok()?;
    // Without contents it stands for a directory.
    let is_odd = key.starts_with('/')
        || Key::parse(&key).is_err()
        || key.ends_with('/') && element("Size") != Some("0");
    is_odd.then(|| key.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_keys_are_taken_out_of_a_page_and_noted() {
        let object = |key: &str, size: u64| {
            format!("<Contents><Key>{key}</Key><Size>{size}</Size></Contents>")
        };
        let page = |objects: &[String]| format!("<List><A/>{}<B>p/</B></List>", objects.concat());
        let good = ["p/a", "p/b &amp; c", "p/d...", "p/%2E./x"].map(|key| object(key, 5));
        let odd = ["p//&lt;", "p/./x", "p/../x", "/p", "p/f/", "p/&#7;"].map(|key| object(key, 5));
        let directory = object("p/d/", 0);
        let mixed = good
            .iter()
            .zip(&odd)
            .flat_map(|(good, odd)| [good.clone(), odd.clone()]);
        let mixed = mixed.chain(odd[good.len()..].iter().cloned());
        let mixed: Vec<String> = mixed.chain([directory.clone()]).collect();
        let keys = OddKeys::default();
        let kept = keys.taken_out(page(&mixed).into());
        let expected = [&good[..], &[directory]].concat();
        assert_eq!(kept, page(&expected));
        assert_eq!(
            keys.take(),
            ["p//<", "p/./x", "p/../x", "/p", "p/f/", "p/\u{7}"]
        );
        assert_eq!(keys.taken_out(kept.clone()), kept);
        assert_eq!(keys.take(), Vec::<String>::new());
    }
}
