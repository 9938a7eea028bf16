//! The report as a page for a browser: one file that loads nothing else.

use std::path::Path;

use serde::Serialize;

use super::row::Row;
use crate::commands::size::{Share, shares};
use crate::error::{Error, Result};
use crate::family;
use crate::ledger::ImageRecord;

/// The page around the data; what it shows is made by its script.
const PAGE: &str = include_str!("page.html");
/// Where the data goes.
const SLOT: &str = "OFFLOAD_DATA";

#[derive(Debug, Serialize)]
struct Data<'a> {
    file: String,
    kernels: &'a [Row],
    images: Vec<Area<'a>>,
}

/// A rectangle of the map.
#[derive(Debug, Serialize)]
struct Area<'a> {
    module: String,
    target: &'a str,
    part: &'a str,
    family: &'static str,
    stored: u64,
    raw: u64,
}

/// The page for `rows` of the file `path`. Of its name the last part is told: the rest is of this machine.
pub(super) fn page<'a>(path: &Path, images: &'a [ImageRecord], rows: &'a [Row]) -> Result<String> {
    let area = |(image, share): (&'a ImageRecord, Share)| Area {
        module: image.module_name(),
        target: &image.target,
        part: if image.part.is_empty() { &image.name } else { &image.part },
        family: family::of(&image.target),
        stored: share.stored,
        raw: image.raw_size,
    };
    let areas = images.iter().zip(shares(images)).map(area).collect();
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let data = Data { file, kernels: rows, images: areas };
    let json = serde_json::to_string(&data)
        .map_err(|error| Error::usage(format!("cannot make the page: {error}")))?;
    Ok(PAGE.replace(SLOT, &inert(&json)))
}

/// JSON that nothing in a page takes for the end of its script or for a comment
/// (<https://html.spec.whatwg.org/multipage/scripting.html#restrictions-for-contents-of-script-elements>).
fn inert(json: &str) -> String {
    let sign = |c: char| match c {
        '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => format!("\\u{:04x}", c as u32),
        c => c.to_string(),
    };
    json.chars().map(sign).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_end_the_script() {
        let json = serde_json::to_string("</script><!-- & \u{2028}").unwrap();
        let inert = inert(&json);
        assert!(!inert.contains(['<', '>', '&', '\u{2028}']), "{inert}");
        assert_eq!(serde_json::from_str::<String>(&inert).unwrap(), "</script><!-- & \u{2028}");
    }

    #[test]
    fn the_page_loads_nothing() {
        assert_eq!(PAGE.matches(SLOT).count(), 1);
        for word in ["http:", "https:", "src=", "@import", "url(", "fetch(", "innerHTML"] {
            assert!(!PAGE.contains(word), "{word}");
        }
    }
}
