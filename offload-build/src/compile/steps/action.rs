//! Cached execution of one tool whose inputs are all known.
//!
//! A front end ([`crate::compile::front_end`]) reads headers that are known only afterwards, from its dependency file. A step turns
//! inputs that are known into an output, and a chain ([`super::chain`]) is two of them. All run where their result cannot
//! contain a path of this machine.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use offload_jobs::Token;
use offload_protocol::remote;

use crate::cache::{Blob, Key, KeyBuilder};
use crate::compile::Session;
use crate::error::{Error, Result};
use crate::fs;
use crate::tool::{Invocation, Tool};
use offload_cache::Origin;

/// An argument of a command; files have no name until it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Arg {
    Text(OsString),
    /// The input with this index.
    Input(usize),
    Output,
    /// Where a front end writes its dependency file.
    Depfile,
    /// A front end's `input` as a file with this ending, for compilers that do not read standard input.
    InputFile(&'static str),
}

/// Text arguments. Their type tells nothing of where they are from, so that every chain of them is compiled once.
pub(crate) fn texts<T: Into<OsString>>(args: impl IntoIterator<Item = T>) -> std::vec::IntoIter<Arg> {
    let mut texts = Vec::new();
    for arg in args {
        texts.push(Arg::Text(arg.into()));
    }
    texts.into_iter()
}

/// What llvm-link is given: its output is text, which is rewritten afterwards.
pub(crate) fn link_args(inputs: usize) -> Vec<Arg> {
    texts(["-S", "-o"]).chain([Arg::Output]).chain((0..inputs).map(Arg::Input)).collect()
}

/// A run whose inputs are all known.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    pub(crate) name: &'static str,
    pub(crate) tool: &'a Tool,
    pub(crate) args: Vec<Arg>,
    /// Inputs with the ending of their file names.
    pub(crate) inputs: Vec<(&'a Blob, &'static str)>,
    /// Other files that the arguments name, whose change matters.
    pub(crate) files: Vec<PathBuf>,
}

/// What turns inputs that are known into one output.
pub(crate) trait Work {
    /// The tool that writes the output.
    fn tool(&self) -> &Tool;
    /// Names the output in the cache of this machine.
    fn key(&self, session: &Session<'_>) -> Result<Key>;
    /// Names it on every machine; `None` where no other one is asked.
    fn shared_key(&self, session: &Session<'_>) -> Option<Key>;
    /// Whether it takes longer than its inputs take to travel.
    fn is_worth_sending(&self, session: &Session<'_>) -> bool;
    /// What another machine is asked to do; `None` if it has to be done here.
    fn remote_action(&self, session: &Session<'_>) -> Option<remote::Action>;
    /// Makes the output here.
    fn run(&self, session: &Session<'_>, token: Token<'_>) -> Result<Made>;
}

/// What an action made just now, wherever it ran.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) content: Vec<u8>,
    pub(crate) printed: String,
}

impl Session<'_> {
    /// The output of `work`, which `check` has accepted; a bad one is never stored.
    pub(crate) fn step(&self, work: &impl Work, check: impl Fn(&[u8]) -> Result<()>) -> Result<Blob> {
        let (blob, printed) = self.step_with_output(work, check)?;
        self.env().warn(&warnings(&printed));
        Ok(blob)
    }

    /// As [`Session::step`], with everything that the tool printed, also when it ran in an earlier build.
    pub(crate) fn step_with_output(
        &self,
        work: &impl Work,
        check: impl Fn(&[u8]) -> Result<()>,
    ) -> Result<(Blob, String)> {
        self.known_or(work, || self.make(work, &check))
    }

    /// What the cache of this machine has of `work`, or what `make` makes of it.
    fn known_or(&self, work: &dyn Work, make: impl FnOnce() -> Result<Made>) -> Result<(Blob, String)> {
        let key = work.key(self)?;
        let cache = self.cache();
        let _lock = cache.lock(key);
        if let (Some(blob), Some(printed)) = (cache.get(key), cache.get_text(printed_key(key))) {
            self.count(Origin::Local);
            return Ok((blob, printed));
        }
        let Made { content, printed } = make()?;
        cache.put(printed_key(key), printed.as_bytes())?;
        Ok((cache.put(key, &content)?, printed))
    }

    /// What `check` accepts: stored by another machine, made by one, or made here.
    fn make(&self, work: &dyn Work, check: &dyn Fn(&[u8]) -> Result<()>) -> Result<Made> {
        let shared = work.shared_key(self);
        if let Some(made) =
            shared.and_then(|key| self.stored(key)).filter(|made| check(&made.content).is_ok())
        {
            self.count(Origin::Stored);
            return Ok(made);
        }
        let begun = Instant::now();
        let made = match self.executed_or_token(work, check) {
            Ok(made) => made,
            Err(token) => self.make_here(work, token, check)?,
        };
        if let Some(key) = shared {
            self.store(key, &made, begun.elapsed());
        }
        Ok(made)
    }

    /// What another machine has made, or the right to make it here.
    fn executed_or_token(
        &self,
        work: &dyn Work,
        check: &dyn Fn(&[u8]) -> Result<()>,
    ) -> std::result::Result<Made, Token<'_>> {
        let jobs = &self.context().jobs;
        // What an action takes is read from files: that is for nothing where it runs here.
        if let Some(token) = jobs.idle() {
            return Err(token);
        }
        let Some((remote, action)) = self.remote().zip(self.remote_action(work)) else {
            return Err(jobs.token());
        };
        let executed = remote.execute_or_token(self.context(), action)?;
        let made = executed.and_then(made_elsewhere).filter(|made| check(&made.content).is_ok());
        // What was refused is made here, which also tells what is wrong.
        let made = made.ok_or_else(|| jobs.token())?;
        self.count(Origin::Executed);
        Ok(made)
    }

    fn make_here(
        &self,
        work: &dyn Work,
        token: Token<'_>,
        check: &dyn Fn(&[u8]) -> Result<()>,
    ) -> Result<Made> {
        let made = work.run(self, token)?;
        check(&made.content).map_err(|error| error.with_output_of(&work.tool().path))?;
        Ok(made)
    }

    /// As [`Session::step_said`], but without other machines.
    pub(crate) fn step_here(
        &self,
        work: &dyn Work,
        token: Token<'_>,
        check: &dyn Fn(&[u8]) -> Result<()>,
    ) -> Result<(Blob, String)> {
        self.known_or(work, || self.make_here(work, token, check))
    }
}

impl Work for Step<'_> {
    fn tool(&self) -> &Tool {
        self.tool
    }

    fn key(&self, session: &Session<'_>) -> Result<Key> {
        let mut key = KeyBuilder::new(self.name).part(self.tool.identity()?.as_bytes());
        key = args_key(key, &self.args);
        for (blob, _) in &self.inputs {
            key = key.part(&blob.hash.0);
        }
        for file in &self.files {
            key = key.part(crate::tool::file_stamp(file)?.as_bytes());
            session.env().depends_on(file);
        }
        Ok(key.finish())
    }

    fn shared_key(&self, session: &Session<'_>) -> Option<Key> {
        session.shared_step_key(self)
    }

    fn is_worth_sending(&self, _: &Session<'_>) -> bool {
        // Links of IR take less time than their inputs take to travel.
        !self.name.starts_with("link")
    }

    fn remote_action(&self, session: &Session<'_>) -> Option<remote::Action> {
        session.step_action(self)
    }

    fn run(&self, session: &Session<'_>, token: Token<'_>) -> Result<Made> {
        let scratch = fs::scratch(session.cache().dir())?;
        let names = self.input_names();
        for ((blob, _), name) in self.inputs.iter().zip(&names) {
            let content = blob.read()?;
            fs::publish(&scratch.path().join(name), |out| out.write_all(&content))?;
        }
        let invocation = Invocation {
            program: &self.tool.path,
            args: self
                .args
                .iter()
                .map(|arg| match arg {
                    Arg::Text(text) => text.clone(),
                    Arg::Input(index) => names.get(*index).cloned().unwrap_or_default().into(),
                    Arg::Output | Arg::Depfile | Arg::InputFile(_) => "out".into(),
                })
                .collect(),
            directory: scratch.path(),
            input: None,
        };
        let printed = session.context().run_with(&token, &invocation)?;
        // A check may start a tool of its own.
        drop(token);
        session.count(Origin::Here);
        let content = output_of(self.tool, &produced(scratch.path())?)?;
        Ok(Made { content, printed: [printed.stdout, printed.stderr].join("\n") })
    }
}

impl Step<'_> {
    /// The names of the inputs' files, where the step runs.
    pub(crate) fn input_names(&self) -> Vec<String> {
        let inputs = self.inputs.iter().enumerate();
        inputs.map(|(index, (_, ending))| format!("in{index}{ending}")).collect()
    }
}

/// The lines that warn, between others that say that all went well.
pub(crate) fn warnings(printed: &str) -> String {
    // libclc has triples of its own, and PoCL's library that of Linux; no flag keeps clang from saying so.
    let lines = printed
        .lines()
        .filter(|line| line.contains("warning:"))
        .filter(|line| !line.contains("Linking two modules of different "));
    lines.collect::<Vec<_>>().join("\n")
}

/// The output of an action that has ended well.
pub(crate) fn made_elsewhere(executed: remote::Executed) -> Option<Made> {
    let remote::Executed { exit_code: 0, stdout, stderr, outputs, .. } = executed else { return None };
    let output = outputs.into_iter().find(|file| OUTPUT_NAMES.contains(&&*file.path))?;
    let printed = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).trim_end().to_string());
    let printed = printed.join("\n");
    Some(Made { content: output.content, printed }).filter(|made| !made.content.is_empty())
}

/// What a step may call its output: ocloc of newer releases adds the ending.
pub(crate) const OUTPUT_NAMES: [&str; 2] = ["out", "out.bin"];

/// The output file.
fn produced(scratch: &Path) -> Result<PathBuf> {
    let found = fs::list(scratch)?
        .into_iter()
        .find(|path| path.file_name().is_some_and(|name| OUTPUT_NAMES.iter().any(|wanted| name == *wanted)));
    Ok(found.unwrap_or_else(|| scratch.join("out")))
}

/// A tool's exit code 0 proves nothing: the output has to be there.
pub(crate) fn output_of(tool: &Tool, path: &Path) -> Result<Vec<u8>> {
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

pub(crate) fn args_key(mut key: KeyBuilder, args: &[Arg]) -> KeyBuilder {
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
pub(crate) fn printed_key(key: Key) -> Key {
    KeyBuilder::new("what the tool printed").part(&key.bytes()).finish()
}

/// Refuses an image without one of the `wanted` kernels.
pub(crate) fn expect_kernels<'a>(found: impl Iterator<Item = &'a str>, wanted: &[&str]) -> Result<()> {
    let mut names = BTreeSet::new();
    names.extend(found);
    let found = names;
    match wanted.iter().find(|kernel| !found.contains(*kernel)) {
        None => Ok(()),
        Some(kernel) => {
            let found: Vec<_> = found.into_iter().collect();
            Err(Error::new(format!(
                "kernel `{kernel}` is missing from the image, which has [{}]",
                found.join(", ")
            )))
        }
    }
}

/// Of an image that calls `name`, which `library` would have.
pub(crate) fn unresolved(name: &str, library: &str) -> Error {
    let function = written(name);
    Error::undefined_function(&function, format!("the function `{function}` has no definition"))
        .with_hint(format!("it is declared but neither the module nor {library} defines it"))
}

/// The function as a kernel's source has it.
pub(crate) fn written(name: &str) -> String {
    let plain = demangled(name);
    match plain.as_str() {
        // What code generators and libraries make of it.
        "__printf_alloc" | "__ockl_printf_begin" | "vprintf" | "puts" | "putchar" => "printf".to_string(),
        "__assert_fail" | "__assertfail" | "__offload_assert_fail" => "assert".to_string(),
        plain => plain.strip_prefix("__clc_").unwrap_or(plain).to_string(),
    }
}

/// `_Z12read_imageff` to `read_imageff (_Z...)`: enough of the Itanium scheme for a function's name.
fn demangled(name: &str) -> String {
    let length = name
        .strip_prefix("_Z")
        .map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default());
    let plain = length.and_then(|digits| {
        let start = 2usize.checked_add(digits.len())?;
        name.get(start..start.checked_add(digits.parse().ok()?)?)
    });
    plain.map_or(name.to_string(), |plain| plain.strip_prefix("_cl_").unwrap_or(plain).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_kernels_are_named() {
        let error = expect_kernels(["a"].into_iter(), &["a", "b"]).unwrap_err().to_string();
        assert!(error.contains("`b`") && error.contains("[a]"), "{error}");
    }

    #[test]
    fn built_ins_have_readable_names() {
        assert_eq!(demangled("_Z11read_imagef14ocl_image2d_roDv2_f"), "read_imagef");
        assert_eq!(demangled("_Z10_cl_lengthDv8_f"), "length");
        assert_eq!(written("__printf_alloc"), "printf");
        assert_eq!(written("_Z19__clc_get_image_dim14ocl_image2d_ro"), "get_image_dim");
        assert_eq!(demangled("printf"), "printf");
        assert_eq!(demangled("_Z999x"), "_Z999x");
    }
}
