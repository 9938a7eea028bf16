//! Running one tool once for each state of its inputs.
//!
//! Two kinds of actions: a front end reads headers that are known only afterwards, from its dependency file; a step
//! turns inputs that are known into an output. Both run where their result cannot contain a path of this machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use offload_format::Hash128;

use super::Session;
use crate::cache::{Blob, Key, KeyBuilder};
use crate::error::{Error, Result};
use crate::tool::{Invocation, Tool};
use crate::{depfile, fs};

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

/// A compiler run that reads the file in its arguments, or `input`, and what they include.
#[derive(Debug)]
pub(super) struct FrontEnd<'a> {
    pub(super) name: &'static str,
    pub(super) tool: &'a Tool,
    pub(super) args: Vec<Arg>,
    pub(super) input: Option<String>,
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

/// First line of a recorded set of dependencies, which may be empty.
const SET: &str = "read";

impl Session<'_> {
    /// The output of a front end; the build script depends on every file that it read.
    pub(super) fn front_end(&self, action: &FrontEnd<'_>) -> Result<Blob> {
        let (blob, said) = self.front_end_said(action)?;
        self.env.warn(&said);
        Ok(blob)
    }

    /// As [`Session::front_end`], with everything that the compiler printed, also when it ran in an earlier build.
    pub(super) fn front_end_said(&self, action: &FrontEnd<'_>) -> Result<(Blob, String)> {
        let mut key = KeyBuilder::new(action.name).part(action.tool.identity()?.as_bytes());
        key = args_key(key, &action.args).part(action.input.as_deref().unwrap_or_default().as_bytes());
        let key = key.finish();
        let _flight = self.flights.enter(key);
        let known = self.cache.dependencies(key).unwrap_or_default();
        if let Some(found) = self.known_result(key, &known) {
            return Ok(found);
        }
        let (content, read, said) = self.run_front_end(action)?;
        let result = self.remember(key, &known, &read)?;
        self.cache.put(said_key(result), said.as_bytes())?;
        Ok((self.cache.put(result, &content)?, said))
    }

    /// The result for a recorded set of dependencies that all still have their recorded content.
    fn known_result(&self, key: Key, known: &str) -> Option<(Blob, String)> {
        known.split("\n\n").find_map(|set| {
            let files: Vec<(&str, &str)> = set.lines().filter_map(|line| line.split_once(' ')).collect();
            let same = |(hash, path): &(&str, &str)| {
                self.content_hash(Path::new(path)).is_some_and(|now| now == **hash)
            };
            if !set.starts_with(SET) || !files.iter().all(same) {
                return None;
            }
            let result = result_key(key, set);
            let (blob, said) = (self.cache.get(result)?, self.cache.get(said_key(result))?.read_text().ok()?);
            files.iter().for_each(|(_, path)| self.depend(Path::new(path)));
            Some((blob, said))
        })
    }

    fn run_front_end(&self, action: &FrontEnd<'_>) -> Result<(Vec<u8>, Vec<PathBuf>, String)> {
        let scratch = fs::scratch(self.cache.dir())?;
        let (output, deps) = (scratch.path().join("out"), scratch.path().join("deps"));
        let written = |arg: &Arg| match arg {
            Arg::InputFile(ending) => Some(scratch.path().join(format!("in{ending}"))),
            _ => None,
        };
        let file = action.args.iter().find_map(written);
        let input = action.input.as_deref();
        if let (Some(path), Some(text)) = (&file, input) {
            fs::publish(path, |out| out.write_all(text.as_bytes()))?;
        }
        let place = |arg: &Arg| match arg {
            Arg::Text(text) => text.clone(),
            Arg::Input(_) | Arg::Output => output.clone().into(),
            Arg::Depfile => deps.clone().into(),
            Arg::InputFile(_) => written(arg).unwrap_or_default().into(),
        };
        let invocation = Invocation {
            program: &action.tool.path,
            args: action.args.iter().map(place).collect(),
            // Sources are named relative to here, so that no absolute path gets into the output.
            directory: &self.env.manifest_dir,
            input: input.filter(|_| file.is_none()),
        };
        let printed = self.runner.run(&invocation)?;
        let content = output_of(action.tool, &output)?;
        let ours = |path: &PathBuf| path == Path::new("-") || path.starts_with(scratch.path());
        let read = depfile::parse(&fs::read_text(&deps)?).into_iter().filter(|path| !ours(path));
        Ok((content, read.collect(), printed.stderr))
    }

    /// Records what a front end read, newest first, and returns the key of its result.
    fn remember(&self, key: Key, known: &str, read: &[PathBuf]) -> Result<Key> {
        /// Enough for the states a file goes back and forth between.
        const KEPT: usize = 16;
        let mut lines = vec![SET.to_string()];
        for path in read {
            self.depend(path);
            let hash = self.content_hash(path).unwrap_or_default();
            lines.push(format!("{hash} {}", path.display()));
        }
        let set = lines.join("\n");
        let others = known.split("\n\n").filter(|other| !other.is_empty() && *other != set);
        let sets: Vec<&str> = std::iter::once(set.as_str()).chain(others).take(KEPT).collect();
        self.cache.put_dependencies(key, &sets.join("\n\n"))?;
        Ok(result_key(key, &set))
    }

    fn content_hash(&self, path: &Path) -> Option<String> {
        let content = std::fs::read(self.env.manifest_dir.join(path)).ok()?;
        Some(Hash128::of(&content).to_string())
    }

    fn depend(&self, path: &Path) {
        self.env.depends_on(&self.env.manifest_dir.join(path));
    }

    /// The output of a step, which `check` has accepted; a bad one is never stored.
    pub(super) fn step(&self, step: &Step<'_>, check: impl FnOnce(&[u8]) -> Result<()>) -> Result<Blob> {
        let (blob, said) = self.step_said(step, check)?;
        self.env.warn(&warnings(&said));
        Ok(blob)
    }

    /// As [`Session::step`], with everything that the tool printed, also when it ran in an earlier build.
    pub(super) fn step_said(
        &self,
        step: &Step<'_>,
        check: impl FnOnce(&[u8]) -> Result<()>,
    ) -> Result<(Blob, String)> {
        let key = self.step_key(step)?;
        let _flight = self.flights.enter(key);
        if let (Some(blob), Some(said)) = (self.cache.get(key), self.cache.get_text(said_key(key))) {
            return Ok((blob, said));
        }
        let (content, said) = self.run_step(step)?;
        check(&content).map_err(|error| {
            let tool = step.tool.path.display();
            error.context(format!("`{tool}` exited with success, but its output is not usable"))
        })?;
        self.cache.put(said_key(key), said.as_bytes())?;
        Ok((self.cache.put(key, &content)?, said))
    }

    fn step_key(&self, step: &Step<'_>) -> Result<Key> {
        let mut key = KeyBuilder::new(step.name).part(step.tool.identity()?.as_bytes());
        key = args_key(key, &step.args);
        for (blob, _) in &step.inputs {
            key = key.part(&blob.hash.0);
        }
        for file in &step.files {
            key = key.part(crate::tool::file_stamp(file)?.as_bytes());
            self.env.depends_on(file);
        }
        Ok(key.finish())
    }

    fn run_step(&self, step: &Step<'_>) -> Result<(Vec<u8>, String)> {
        let scratch = fs::scratch(self.cache.dir())?;
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
        let printed = self.runner.run(&invocation)?;
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

fn result_key(action: Key, set: &str) -> Key {
    KeyBuilder::new("front end result").part(&action.bytes()).part(set.as_bytes()).finish()
}
