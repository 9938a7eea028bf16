//! Input files of a command: a file, or each file with images in an archive.

use std::path::Path;

use serde::Serialize;

use crate::error::{Error, ExitStatus, Result};
use crate::print::output::Output;
use crate::print::text::escaped;
use crate::read::files::{self, VisitedFile};
use crate::read::input::{Contents, Input, Search};
use crate::read::missing;
use crate::read::records::{ImageRecord, Kernels, Selection};

/// Input file, and the extent of the search in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'s> {
    pub(crate) path: &'s Path,
    pub(crate) search: Search,
}

/// A file with images.
#[derive(Debug)]
pub(crate) struct Opened<'o> {
    /// Displayed name of an archive member.
    pub(crate) member: Option<&'o str>,
    pub(crate) input: &'o Input,
    pub(crate) contents: &'o Contents<'o>,
}

/// Callback for each file.
pub(crate) type VisitOpened<'v> = dyn FnMut(&Opened<'_>) -> Result<ExitStatus> + 'v;

#[derive(Debug, Serialize)]
struct FileMessage<'a> {
    reason: &'static str,
    file: &'a str,
}

/// Calls `visit` with the file that `source` names, or with each file with images in it. Unreadable files are reported.
///
/// # Errors
/// Those of `visit`; there are no images, or the file cannot be read.
pub(crate) fn each(output: &Output, source: Source<'_>, visit: &mut VisitOpened<'_>) -> Result<ExitStatus> {
    let Source { path, search } = source;
    if !files::is_archive(path)? {
        let input = Input::open(path, output.limits())?.searched(search);
        let contents = input.contents()?;
        return visit(&Opened { member: None, input: &input, contents: &contents });
    }
    let mut status: Option<ExitStatus> = None;
    files::each(path, output.limits(), &mut |name, visited| {
        let shown = match visited {
            VisitedFile::File(file) => member(output, Source { path: file, search }, name, visit),
            VisitedFile::Unread(why) => Err(Error::check(format!("`{name}` cannot be searched: {why}"))),
            VisitedFile::Wrong(error) => Err(error),
        };
        let of_member = match shown {
            Err(error) if error.status() == ExitStatus::CheckFailed => {
                missing::unreadable(output, &error.to_string())?;
                Some(ExitStatus::CheckFailed)
            }
            shown => shown?,
        };
        status = match (status, of_member) {
            (Some(before), Some(now)) => Some(before.worse(now)),
            (before, now) => before.or(now),
        };
        Ok(())
    })?;
    status.ok_or_else(|| {
        Error::check(format!("`{}` has no device images", path.display()))
            .hint("a crate's kernels are linked only if the program references the crate")
    })
}

/// Most files in an archive have no images.
fn member(
    output: &Output,
    source: Source<'_>,
    name: &str,
    visit: &mut VisitOpened<'_>,
) -> Result<Option<ExitStatus>> {
    let own_name = name.rsplit(": ").next().unwrap_or(name);
    let input = Input::open(source.path, output.limits())?.called(own_name).searched(source.search);
    match input.contents_if_any()? {
        Some(contents) => visit(&Opened { member: Some(name), input: &input, contents: &contents }).map(Some),
        None => Ok(None),
    }
}

impl Opened<'_> {
    /// Says which file follows, where there are several.
    pub(crate) fn print_name(&self, output: &Output) -> Result<()> {
        match self.member {
            Some(file) => {
                output.message(&FileMessage { reason: "file", file }, &format!("{}:", escaped(file)))
            }
            None => Ok(()),
        }
    }

    /// The same, where several files were named and this one lies in `path`.
    pub(crate) fn print_any_name(&self, output: &Output, path: &Path) -> Result<()> {
        let name = path.display().to_string();
        Opened { member: self.member.or(Some(&name)), ..*self }.print_name(output)
    }

    /// Its images that `selection` means. In one of several files there may be none.
    pub(crate) fn images(&self, selection: &Selection, kernels: Kernels) -> Result<Vec<ImageRecord>> {
        let Some(member) = self.member else { return selection.select(self.contents, kernels) };
        let mut images = selection.any_of(self.contents, kernels)?;
        for image in images.iter_mut().filter(|image| image.file.is_empty()) {
            image.file = member.to_string();
        }
        Ok(images)
    }
}

/// That `selection` meant no image of several files.
pub(crate) fn none_selected(path: &Path) -> Error {
    Error::usage(format!("no image in `{}` matches the selection", path.display()))
        .hint("`cargo offload inspect` lists the images of a file")
}
