//! `extract`: images to files, decoded or as they are stored.

mod name;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use self::name::Names;
use crate::artifact;
use crate::carrier::Source;
use crate::cli;
use crate::error::{Error, Result};
use crate::exit::ExitStatus;
use crate::ledger::{self, ImageRecord, Kernels, Origin, Wanted};
use crate::output::{Output, human_size};
use crate::publish::publish_with;
use crate::subject::{Carried, Subject, broken};

#[derive(Debug, Serialize)]
struct Extracted<'a> {
    reason: &'static str,
    module: &'a str,
    target: &'a str,
    file: String,
    size: u64,
}

#[derive(Debug, Serialize)]
struct Failed {
    reason: &'static str,
    problem: String,
}

#[derive(Debug, Serialize)]
struct Summary {
    reason: &'static str,
    files: u64,
    size: u64,
    problems: u64,
}

pub(super) fn run(output: &Output, args: &cli::Extract) -> Result<ExitStatus> {
    let path = artifact::path(output, args.path.as_deref(), &args.cargo)?;
    let subject = Subject::open(&path)?;
    let carried = subject.carried()?;
    let images = Wanted::parse(&args.select)?.of(&carried, Kernels::Recorded)?;
    let files = if args.stored { stored_files(&carried, &images)? } else { decoded_files(&images) };
    let directory = args.output.clone().unwrap_or_else(|| default_directory(&path));
    let summary = Summary { reason: "summary", files: 0, size: 0, problems: 0 };
    let mut job = Job { output, subject: &subject, directory, summary };
    job.prepare(&files, args)?;
    if args.stored { job.write_stored(&carried, &files) } else { job.write_decoded(&carried, &files) }?;
    job.finish(&carried)
}

/// A file to be written, and what it is of.
struct File<'a> {
    image: &'a ImageRecord,
    name: String,
}

fn decoded_files(images: &[ImageRecord]) -> Vec<File<'_>> {
    let mut names = Names::default();
    images.iter().map(|image| File { image, name: names.of_image(image) }).collect()
}

/// One file for each frame or container, however many images lie in it.
fn stored_files<'a>(carried: &Carried<'_>, images: &'a [ImageRecord]) -> Result<Vec<File<'a>>> {
    let mut names = Names::default();
    let mut files: BTreeMap<(bool, usize, u64), File<'a>> = BTreeMap::new();
    let packs = carried.packs.sources();
    for image in images {
        let key = match image.origin {
            Origin::Container(number, _) => (true, number, 0),
            Origin::Pack(number, index) => {
                let Some(Source { pack, .. }) = packs.get(number) else { continue };
                let record = pack.image(index).map_err(broken)?;
                (false, number, pack.place(&record).map_err(broken)?.offset)
            }
        };
        files.entry(key).or_insert_with(|| File { image, name: names.of_frame(image) });
    }
    Ok(files.into_values().collect())
}

fn default_directory(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".images");
    PathBuf::from(name)
}

struct Job<'a> {
    output: &'a Output,
    subject: &'a Subject,
    directory: PathBuf,
    summary: Summary,
}

impl Job<'_> {
    /// Nothing is written if something is in the way.
    fn prepare(&self, files: &[File<'_>], args: &cli::Extract) -> Result<()> {
        let mut paths = files.iter().map(|file| self.directory.join(&file.name));
        let there = paths.find(|path| path.symlink_metadata().is_ok());
        match there {
            Some(path) if !args.force => Err(Error::usage(format!("`{}` exists", path.display()))
                .hint("name another directory with --output, or replace files with --force")),
            _ => {
                let failed = |error| Error::io("make the directory", &self.directory, &error);
                std::fs::create_dir_all(&self.directory).map_err(failed)
            }
        }
    }

    fn write_decoded(&mut self, carried: &Carried<'_>, files: &[File<'_>]) -> Result<()> {
        let by_origin: BTreeMap<Origin, &File<'_>> =
            files.iter().map(|file| (file.image.origin, file)).collect();
        let origins: Vec<Origin> = by_origin.keys().copied().collect();
        ledger::each(carried, &origins, &mut |origin, bytes| match (by_origin.get(&origin), bytes) {
            (Some(file), Ok(bytes)) => self.write(file, &bytes),
            (_, Err(error)) => self.failed(error.to_string()),
            (None, _) => Ok(()),
        })
    }

    fn write_stored(&mut self, carried: &Carried<'_>, files: &[File<'_>]) -> Result<()> {
        let packs = carried.packs.sources();
        for file in files {
            match file.image.origin {
                Origin::Pack(number, index) => {
                    let Some(source) = packs.get(number) else { continue };
                    let image = source.pack.image(index).map_err(broken)?;
                    match source.stored(&image) {
                        Ok(bytes) => self.write(file, &bytes)?,
                        Err(error) => self.failed(error.to_string())?,
                    }
                }
                Origin::Container(number, _) => {
                    let Some(container) = carried.containers.get(number) else { continue };
                    self.write(file, container.found.bytes)?;
                }
            }
        }
        Ok(())
    }

    fn write(&mut self, file: &File<'_>, bytes: &[u8]) -> Result<()> {
        let path = self.directory.join(&file.name);
        publish_with(&path, |file| self.subject.copy(bytes, file))?;
        let size = bytes.len() as u64;
        self.summary.files = self.summary.files.saturating_add(1);
        self.summary.size = self.summary.size.saturating_add(size);
        let (module, target) = (file.image.module.as_str(), file.image.target.as_str());
        let file = path.display().to_string();
        let text = format!("{file} ({size} bytes)");
        self.output.message(&Extracted { reason: "extracted", module, target, file, size }, &text)
    }

    fn failed(&mut self, problem: String) -> Result<()> {
        self.summary.problems = self.summary.problems.saturating_add(1);
        let text = format!("error: {problem}");
        self.output.message(&Failed { reason: "failed", problem }, &text)
    }

    fn finish(mut self, carried: &Carried<'_>) -> Result<ExitStatus> {
        for problem in carried.problems() {
            self.failed(problem)?;
        }
        let Summary { files, size, problems, .. } = self.summary;
        let plural = if files == 1 { "" } else { "s" };
        let text = format!("{files} file{plural}, {}, {problems} problems", human_size(size));
        self.output.message(&self.summary, &text)?;
        Ok(if problems == 0 { ExitStatus::Success } else { ExitStatus::CheckFailed })
    }
}
