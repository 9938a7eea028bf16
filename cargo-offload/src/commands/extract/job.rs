//! Parallel extraction of files, which are published in order.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::OnceLock;

use offload_containers::ccob::Ccob;
use serde::Serialize;

use super::inflated::{Bytes, Inflated, Key};
use crate::error::ExitStatus;
use crate::error::Result;
use crate::files::publish::{Staged, publish, stage};
use crate::files::read_at::FilePart;
use crate::print::output::Output;
use crate::print::text::{counted, escaped, human_size};
use crate::read::input::{Contents, Input};
use crate::read::records::{ImageRecord, StoredImage};
use crate::threads::each_beside;

/// Maximum number of open files: systems allow some hundreds.
const TOGETHER: usize = 64;

#[derive(Debug, Serialize)]
struct Extracted<'a> {
    reason: &'static str,
    module: &'a str,
    target: &'a str,
    file: String,
    size: u64,
    /// Checksum that the bytes were compared with; `None` if the file has none, and for bytes as stored.
    checksum: Option<String>,
}

#[derive(Debug, Serialize)]
struct FailedMessage {
    reason: &'static str,
    problem: String,
}

#[derive(Debug, Serialize)]
struct Summary {
    reason: &'static str,
    files: u64,
    size: u64,
    problems: u64,
    /// Files of which nothing was compared.
    not_compared: u64,
}

/// A file to be written, and what it is of.
pub(super) struct ExtractedFile<'a> {
    pub(super) image: &'a ImageRecord,
    pub(super) name: String,
}

/// Extraction of files to a directory, with its results.
pub(super) struct Job<'a> {
    output: &'a Output,
    input: &'a Input,
    directory: PathBuf,
    summary: Summary,
    waiting: Vec<PendingFile<'a>>,
    /// The compressed bundle that was met last; `None` if it is decoded in memory.
    bundle: Option<(Key, Option<Rc<Inflated>>)>,
}

/// A file that will be a part of another one.
struct PendingFile<'a> {
    file: &'a ExtractedFile<'a>,
    from: Bytes,
    part: FilePart,
    checksum: Option<String>,
    /// Bundle whose checksum must match before the file is published.
    bundle: Option<Rc<Inflated>>,
}

impl<'a> Job<'a> {
    pub(super) fn new(output: &'a Output, input: &'a Input, directory: PathBuf) -> Job<'a> {
        let summary = Summary { reason: "summary", files: 0, size: 0, problems: 0, not_compared: 0 };
        Job { output, input, directory, summary, waiting: Vec::new(), bundle: None }
    }

    /// Writes what `image` is decoded to.
    pub(super) fn decode(&mut self, file: &'a ExtractedFile<'a>, image: &StoredImage<'_>) -> Result<()> {
        if let Some(part) = image.part()
            && let Some(bundle) = self.inflated(&part.bundle)?
        {
            return match bundle.problem() {
                Some(problem) => self.failed(failure_text(file, &problem)),
                None => {
                    let from = bundle.bytes().clone();
                    let part = FilePart { offset: part.offset, size: part.size };
                    let checksum = image.checksum();
                    self.wait(PendingFile { file, from, part, checksum, bundle: Some(bundle) })
                }
            };
        }
        match image.decode() {
            Ok(bytes) => self.write(file, &bytes, image.checksum()),
            Err(error) => self.failed(error.to_string()),
        }
    }

    /// Writes `bytes`, which were compared with `checksum`; those that lie in the input take no memory.
    pub(super) fn write(
        &mut self,
        file: &'a ExtractedFile<'a>,
        bytes: &[u8],
        checksum: Option<String>,
    ) -> Result<()> {
        if let Some(part) = self.input.place(bytes) {
            return self.wait(PendingFile {
                file,
                from: Bytes::File(self.input.file().clone()),
                part,
                checksum,
                bundle: None,
            });
        }
        self.flush()?;
        publish(&self.directory.join(&file.name), bytes)?;
        self.written(file, bytes.len() as u64, checksum)
    }

    /// Tells what is wrong, behind what was written before.
    pub(super) fn failed(&mut self, problem: String) -> Result<()> {
        self.flush()?;
        self.print_failure(problem)
    }

    pub(super) fn finish(mut self, contents: &Contents<'_>) -> Result<ExitStatus> {
        self.flush()?;
        for problem in contents.problems() {
            self.print_failure(problem)?;
        }
        let Summary { files, size, problems, not_compared, .. } = self.summary;
        let written = counted(files, "file");
        let failed = counted(problems, "problem");
        let mut text = format!("{written}, {}, {failed}", human_size(size));
        if not_compared > 0 {
            text += &format!("; {} without a checksum to compare", counted(not_compared, "file"));
        }
        self.output.done(&self.summary, &text)?;
        Ok(if problems == 0 { ExitStatus::Success } else { ExitStatus::CheckFailed })
    }

    /// The bundle in a file; `None` if it has to be decoded in memory.
    fn inflated(&mut self, bundle: &Ccob<'_>) -> Result<Option<Rc<Inflated>>> {
        let key = Key::from_bundle(bundle);
        if let Some((last, inflated)) = &self.bundle
            && *last == key
        {
            return Ok(inflated.clone());
        }
        // The one before leaves the disk first.
        self.flush()?;
        self.bundle = None;
        let inflated = Inflated::start(bundle, self.input, &self.directory).map(Rc::new);
        self.bundle = Some((key, inflated.clone()));
        Ok(inflated)
    }

    fn wait(&mut self, waiting: PendingFile<'a>) -> Result<()> {
        self.waiting.push(waiting);
        if self.waiting.len() < TOGETHER { Ok(()) } else { self.flush() }
    }

    /// Writes all that waits. What is behind a file that cannot be written does not appear.
    fn flush(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.is_empty() {
            return Ok(());
        }
        let mut staged = self.stage(&waiting).into_iter();
        for PendingFile { file, bundle, part, checksum, .. } in &waiting {
            let staged = staged.next().and_then(OnceLock::into_inner);
            if let Some(problem) = bundle.as_ref().and_then(|bundle| bundle.verified().err()) {
                self.print_failure(failure_text(file, &problem))?;
                continue;
            }
            if let Some(staged) = staged {
                staged?.appear()?;
                self.written(file, part.size, checksum.clone())?;
            }
        }
        Ok(())
    }

    fn stage(&self, waiting: &[PendingFile<'_>]) -> Vec<OnceLock<Result<Staged>>> {
        let hashing = waiting.iter().filter_map(|it| it.bundle.as_ref()).any(|bundle| bundle.is_hashing());
        let copies: Vec<_> = waiting
            .iter()
            .map(|it| (self.directory.join(&it.file.name), &it.from, it.part, OnceLock::new()))
            .collect();
        each_beside(usize::from(hashing), copies.len(), &|at| {
            if let Some((path, from, part, staged)) = copies.get(at) {
                let _ = staged.set(stage(path, |to| from.copy(*part, to)));
            }
        });
        copies.into_iter().map(|(.., staged)| staged).collect()
    }

    fn written(&mut self, of: &ExtractedFile<'_>, size: u64, checksum: Option<String>) -> Result<()> {
        let not_compared = u64::from(checksum.is_none());
        self.summary.not_compared = self.summary.not_compared.saturating_add(not_compared);
        self.summary.files = self.summary.files.saturating_add(1);
        self.summary.size = self.summary.size.saturating_add(size);
        let module = of.image.module.as_str();
        let target = of.image.target.as_str();
        let file = self.directory.join(&of.name).display().to_string();
        let note = if checksum.is_some() { "" } else { ", not compared" };
        let text = format!("{file} ({size} bytes{note})");
        self.output.done(&Extracted { reason: "extracted", module, target, file, size, checksum }, &text)
    }

    fn print_failure(&mut self, problem: String) -> Result<()> {
        self.summary.problems = self.summary.problems.saturating_add(1);
        let text = format!("error: {problem}");
        self.output.message(&FailedMessage { reason: "failed", problem }, &text)
    }
}

fn failure_text(file: &ExtractedFile<'_>, problem: &str) -> String {
    format!("image {} of {}: {problem}", escaped(&file.image.target), escaped(&file.image.module))
}
