//! What commands show: a file, or each file with images in an archive.

use std::path::Path;

use serde::Serialize;

use crate::error::{Error, ExitStatus, Result};
use crate::print::output::Output;
use crate::print::text::escaped;
use crate::read::files::{self, Visited};
use crate::read::input::{Contents, Input, Search};
use crate::read::missing;
use crate::read::records::{ImageRecord, Kernels, Selection};

/// What was named, and where in it images are searched for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'s> {
    pub(crate) path: &'s Path,
    pub(crate) search: Search,
}

/// A file with images.
#[derive(Debug)]
pub(crate) struct Opened<'o> {
    /// What people know it as, where it is not the file that was named.
    pub(crate) member: Option<&'o str>,
    pub(crate) input: &'o Input,
    pub(crate) contents: &'o Contents<'o>,
}

/// What is called with each file.
pub(crate) type VisitOpened<'v> = dyn FnMut(&Opened<'_>) -> Result<ExitStatus> + 'v;

#[derive(Debug, Serialize)]
struct FileMessage<'a> {
    reason: &'static str,
    file: &'a str,
}

/// Calls `visit` with the file that `source` names, or with each file with images in it. What cannot be read is told.
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
            Visited::File(file) => member(output, Source { path: file, search }, name, visit),
            Visited::Unread(why) => Err(Error::check(format!("`{name}` was not looked into: {why}"))),
            Visited::Wrong(error) => Err(error),
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
        Error::check(format!("`{}` carries no device images", path.display())).hint(
            "none of the files in it does: a crate brings its kernels along only if the program mentions it",
        )
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
    pub(crate) fn tell_name(&self, output: &Output) -> Result<()> {
        match self.member {
            Some(file) => {
                output.message(&FileMessage { reason: "file", file }, &format!("{}:", escaped(file)))
            }
            None => Ok(()),
        }
    }

    /// The same, where several files were named and this one lies in `path`.
    pub(crate) fn tell_any_name(&self, output: &Output, path: &Path) -> Result<()> {
        let name = path.display().to_string();
        Opened { member: self.member.or(Some(&name)), ..*self }.tell_name(output)
    }

    /// Its images that `selection` means. In one of several files there may be none.
    pub(crate) fn images(&self, selection: &Selection, kernels: Kernels) -> Result<Vec<ImageRecord>> {
        let Some(member) = self.member else { return selection.of(self.contents, kernels) };
        let mut images = selection.any_of(self.contents, kernels)?;
        for image in images.iter_mut().filter(|image| image.file.is_empty()) {
            image.file = member.to_string();
        }
        Ok(images)
    }
}

/// That `selection` meant no image of several files.
pub(crate) fn none_selected(path: &Path) -> Error {
    Error::usage(format!("no image in `{}` fits what was asked for", path.display()))
        .hint("`cargo offload inspect` lists what a file has")
}
