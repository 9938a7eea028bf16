//! Running one tool once for each state of its inputs.
//!
//! Two kinds of actions: a front end reads headers that are known only afterwards, from its dependency file; a step
//! turns inputs that are known into an output. Both run where their result cannot contain a path of this machine.

mod front_end;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub(super) use self::front_end::FrontEnd;
use super::Session;
use crate::cache::{Blob, Key, KeyBuilder};
use crate::error::{Error, Result};
use crate::fs;
use crate::tool::{Invocation, Tool};

/// An argument of a command; files have no name until it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Arg {
    Text(OsString),
    /// The input with this index.
    Input(usize),
    Output,
    /// Where a front end writes its dependency file.
    Depfile,
    /// A front end's `input` as a file with this ending, for compilers that do not read standard input.
    InputFile(&'static str),
}

/// Text arguments.
pub(super) fn texts<T: Into<OsString>>(args: impl IntoIterator<Item = T>) -> impl Iterator<Item = Arg> {
    args.into_iter().map(|arg| Arg::Text(arg.into()))
}

/// A run whose inputs are all known.
#[derive(Debug)]
pub(super) struct Step<'a> {
    pub(super) name: &'static str,
    pub(super) tool: &'a Tool,
    pub(super) args: Vec<Arg>,
    /// Inputs with the ending of their file names.
    pub(super) inputs: Vec<(&'a Blob, &'static str)>,
    /// Other files that the arguments name, whose change matters.
    pub(super) files: Vec<PathBuf>,
}

impl Session<'_> {
    /// The output of a step, which `check` has accepted; a bad one is never stored.
    pub(super) fn step(&self, step: &Step<'_>, check: impl FnOnce(&[u8]) -> Result<()>) -> Result<Blob> {
        let (blob, said) = self.step_said(step, check)?;
        self.env().warn(&warnings(&said));
        Ok(blob)
    }

    /// As [`Session::step`], with everything that the tool printed, also when it ran in an earlier build.
    pub(super) fn step_said(
        &self,
        step: &Step<'_>,
        check: impl FnOnce(&[u8]) -> Result<()>,
    ) -> Result<(Blob, String)> {
        let key = self.step_key(step)?;
        let cache = self.cache();
        let _lock = cache.lock(key);
        if let (Some(blob), Some(said)) = (cache.get(key), cache.get_text(said_key(key))) {
            return Ok((blob, said));
        }
        let (content, said) = self.run_step(step)?;
        check(&content).map_err(|error| {
            let tool = step.tool.path.display();
            error.context(format!("`{tool}` exited with success, but its output is not usable"))
        })?;
        cache.put(said_key(key), said.as_bytes())?;
        Ok((cache.put(key, &content)?, said))
    }

    fn step_key(&self, step: &Step<'_>) -> Result<Key> {
        let mut key = KeyBuilder::new(step.name).part(step.tool.identity()?.as_bytes());
        key = args_key(key, &step.args);
        for (blob, _) in &step.inputs {
            key = key.part(&blob.hash.0);
        }
        for file in &step.files {
            key = key.part(crate::tool::file_stamp(file)?.as_bytes());
            self.env().depends_on(file);
        }
        Ok(key.finish())
    }

    fn run_step(&self, step: &Step<'_>) -> Result<(Vec<u8>, String)> {
        let scratch = fs::scratch(self.cache().dir())?;
        let names: Vec<String> =
            step.inputs.iter().enumerate().map(|(index, (_, ending))| format!("in{index}{ending}")).collect();
        for ((blob, _), name) in step.inputs.iter().zip(&names) {
            let content = blob.read()?;
            fs::publish(&scratch.path().join(name), |out| out.write_all(&content))?;
        }
        let place = |arg: &Arg| match arg {
            Arg::Text(text) => text.clone(),
            Arg::Input(index) => names.get(*index).cloned().unwrap_or_default().into(),
            Arg::Output | Arg::Depfile | Arg::InputFile(_) => "out".into(),
        };
        let invocation = Invocation {
            program: &step.tool.path,
            args: step.args.iter().map(place).collect(),
            directory: scratch.path(),
            input: None,
        };
        let printed = self.context().run(&invocation)?;
        let content = output_of(step.tool, &produced(scratch.path())?)?;
        Ok((content, [printed.stdout, printed.stderr].join("\n")))
    }
}

/// The lines that warn, between others that say that all went well.
pub(super) fn warnings(said: &str) -> String {
    // libclc has triples of its own; no flag keeps clang from saying so.
    let known = |line: &&str| !line.contains("Linking two modules of different target triples");
    let lines = said.lines().filter(|line| line.contains("warning:")).filter(known);
    lines.collect::<Vec<_>>().join("\n")
}

/// The output file: `out`, `out.bin` from newer releases of ocloc.
fn produced(scratch: &Path) -> Result<PathBuf> {
    let named = |path: &PathBuf| path.file_name().is_some_and(|name| name == "out" || name == "out.bin");
    let found = fs::list(scratch)?.into_iter().find(named);
    Ok(found.unwrap_or_else(|| scratch.join("out")))
}

/// A tool's exit code 0 proves nothing: the output has to be there.
fn output_of(tool: &Tool, path: &Path) -> Result<Vec<u8>> {
    match std::fs::read(path) {
        Ok(content) if !content.is_empty() => Ok(content),
        Ok(_) => {
            Err(Error::new(format!("`{}` exited with success, but its output is empty", tool.path.display())))
        }
        Err(_) => {
            Err(Error::new(format!("`{}` exited with success, but wrote no output", tool.path.display())))
        }
    }
}

fn args_key(mut key: KeyBuilder, args: &[Arg]) -> KeyBuilder {
    for arg in args {
        key = match arg {
            Arg::Text(text) => key.part(b"text").part(text.as_encoded_bytes()),
            Arg::Input(index) => key.part(b"input").part(&index.to_le_bytes()),
            Arg::Output => key.part(b"output"),
            Arg::Depfile => key.part(b"deps"),
            Arg::InputFile(ending) => key.part(b"input file").part(ending.as_bytes()),
        };
    }
    key
}

/// Where the words of the action with the result `key` are kept.
fn said_key(key: Key) -> Key {
    KeyBuilder::new("what the tool printed").part(&key.bytes()).finish()
}
