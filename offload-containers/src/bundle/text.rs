//! The text form of bundles: markers in comments.
//!
//! ```text
//! ; __CLANG_OFFLOAD_BUNDLE____START__ hip-amdgcn-amd-amdhsa--gfx906
//! ...
//! ; __CLANG_OFFLOAD_BUNDLE____END__ hip-amdgcn-amd-amdhsa--gfx906
//! ```

use super::{BundleEntry, BundleImage, check_ids};
use offload_format::{Error, ErrorKind, Limits};

const START: &str = " __CLANG_OFFLOAD_BUNDLE____START__ ";
const END: &str = " __CLANG_OFFLOAD_BUNDLE____END__ ";

/// The comment syntax of a text bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Comment {
    /// `//`: preprocessed C and C++.
    Slashes,
    /// `#`: assembly and dependency files.
    Hash,
    /// `;`: LLVM IR.
    Semicolon,
}

impl Comment {
    const ALL: [Comment; 3] = [Comment::Slashes, Comment::Hash, Comment::Semicolon];

    fn text(self) -> &'static str {
        match self {
            Comment::Slashes => "//",
            Comment::Hash => "#",
            Comment::Semicolon => ";",
        }
    }
}

/// A bundle in text form.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextBundle<'a> {
    /// The syntax of its comments.
    pub comment: Comment,
    /// Its entries; their offsets are 0.
    pub entries: Vec<BundleEntry<'a>>,
}

/// Reads a bundle in text form: the entries, whose images are the text between the markers.
///
/// # Errors
/// [`ErrorKind::Magic`] if `input` does not begin with a marker; [`ErrorKind::Text`] for a marker that is missing or
/// names another entry, and for text between entries; [`ErrorKind::TooMany`] over [`Limits::entries`].
pub fn parse_text<'a>(input: &'a [u8], limits: &Limits) -> Result<TextBundle<'a>, Error> {
    let first = input.trim_ascii_start();
    let comment = Comment::ALL.into_iter().find(|comment| {
        let rest = first.strip_prefix(comment.text().as_bytes());
        rest.is_some_and(|rest| rest.starts_with(START.as_bytes()))
    });
    let comment = comment.ok_or(ErrorKind::Magic { what: "an offload bundle in text form" })?;
    let text = std::str::from_utf8(input).map_err(|_| malformed("the offload bundle", 0))?;
    let mut entries = Vec::new();
    let mut rest = text;
    while !rest.trim_start().is_empty() {
        let at = (text.len().saturating_sub(rest.len())) as u64;
        let (entry, behind) =
            entry(rest, comment).ok_or_else(|| malformed("an entry of the offload bundle", at))?;
        limits.records("the offload bundle", (entries.len() as u64).saturating_add(1))?;
        entries.push(entry);
        rest = behind;
    }
    Ok(TextBundle { comment, entries })
}

/// The first entry and the text behind it. Each marker is a line.
fn entry(text: &str, comment: Comment) -> Option<(BundleEntry<'_>, &str)> {
    let text = text.trim_start().strip_prefix(comment.text())?.strip_prefix(START)?;
    let (id, text) = text.split_once('\n')?;
    let (image, behind) = text.split_once(&format!("\n{}{END}", comment.text()))?;
    let (named, behind) = behind.split_once('\n').unwrap_or((behind, ""));
    (named == id).then_some((BundleEntry { id, offset: 0, image: image.as_bytes() }, behind))
}

fn malformed(what: &'static str, offset: u64) -> Error {
    ErrorKind::Text { what, offset }.into()
}

/// Writes a bundle in text form, as clang does.
///
/// # Errors
/// [`ErrorKind::Text`] for an id that [`write`](super::write) refuses, and for an image that contains a marker.
pub fn write_text(images: &[BundleImage<'_>], comment: Comment) -> Result<Vec<u8>, Error> {
    check_ids(images)?;
    let mut out = Vec::new();
    let word = comment.text();
    for (number, image) in (0..).zip(images) {
        let text = std::str::from_utf8(image.bytes).ok();
        let plain =
            text.filter(|text| !text.contains(START.trim_ascii()) && !text.contains(END.trim_ascii()));
        let text = plain.ok_or_else(|| malformed("the image of a bundle's entry, number", number))?;
        let id = image.id;
        out.extend_from_slice(format!("\n{word}{START}{id}\n{text}\n{word}{END}{id}\n").as_bytes());
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = "host-x86_64-unknown-linux-gnu-";
    const HIP: &str = "hip-amdgcn-amd-amdhsa--gfx906";

    #[test]
    fn what_is_written_is_read() {
        let images = [
            BundleImage { id: HOST, bytes: b"" },
            BundleImage { id: HIP, bytes: b"; a comment\n\ndefine void @f()\n" },
        ];
        for comment in Comment::ALL {
            let file = write_text(&images, comment).unwrap();
            let bundle = parse_text(&file, &Limits::default()).unwrap();
            let read: Vec<_> =
                bundle.entries.iter().map(|entry| BundleImage { id: entry.id, bytes: entry.image }).collect();
            assert_eq!((bundle.comment, read.as_slice()), (comment, &images[..]));
        }
    }

    #[test]
    fn a_missing_or_foreign_end_is_an_error() {
        let file = write_text(&[BundleImage { id: HIP, bytes: b"text" }], Comment::Hash).unwrap();
        let text = String::from_utf8(file).unwrap();
        for bad in [
            text.replace("END__ hip-", "END__ hop-"),
            text.replace("# __CLANG_OFFLOAD_BUNDLE____END__", "; __CLANG_OFFLOAD_BUNDLE____END__"),
            format!("{text}text between entries"),
        ] {
            let error = parse_text(bad.as_bytes(), &Limits::default()).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Text { .. }), "{error}");
        }
        let error = parse_text(b"int x;", &Limits::default()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Magic { .. }));
    }

    #[test]
    fn an_image_with_a_marker_is_not_written() {
        let bytes = b"\n# __CLANG_OFFLOAD_BUNDLE____END__ x";
        assert!(write_text(&[BundleImage { id: HIP, bytes }], Comment::Hash).is_err());
    }
}
