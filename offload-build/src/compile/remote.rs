//! Actions as other machines know them: keys without paths and times of this machine, commands with relative names.

mod front_end;
mod roots;
mod uploaded;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use offload_format::remote::{Action, Executed, Input, Source, Stored, Variable};
use offload_format::variable;

use self::uploaded::Uploaded;
use super::Session;
use super::action::{Arg, Made, OUTPUT_NAMES, Step, args_key};
use crate::cache::{Key, KeyBuilder};
use crate::jobs::Place;
use crate::remote::{Remote, ToolsFrom, file_hash, program};
use crate::tally::Origin;
use crate::tool::Tool;

impl<'a> Session<'a> {
    /// Other machines, unless something of them was damaged.
    pub(super) fn remote(&self) -> Option<&'a Remote> {
        self.shared.remote.filter(|_| !self.cache().is_distrusted())
    }

    /// The key of a step's result on every machine; `None` where no other one is asked.
    pub(super) fn shared_step_key(&self, step: &Step<'_>) -> Option<Key> {
        let mut key = self.shared_key(step.name, step.tool)?;
        key = args_key(key, &portable(&step.args, &step.files));
        for (blob, _) in &step.inputs {
            key = key.part(&blob.hash.0);
        }
        for file in &step.files {
            key = key.part(&file_hash(self.context(), file).ok()?.0);
        }
        Some(key.finish())
    }

    /// The beginning of a key: the action's name, and the tool by its content.
    pub(super) fn shared_key(&self, name: &str, tool: &Tool) -> Option<KeyBuilder> {
        let tool = self.remote()?.tool_hash(self.context(), tool)?;
        Some(KeyBuilder::new("shared").part(name.as_bytes()).part(&tool.0))
    }

    /// The result that another machine has stored.
    pub(super) fn stored(&self, key: Key) -> Option<Made> {
        let Stored { milliseconds, said, content } = self.remote()?.get(self.context(), key)?;
        self.context().tally.saved(Duration::from_millis(milliseconds));
        Some(Made { content, said })
    }

    /// Stores a result for other machines.
    pub(super) fn store(&self, key: Key, made: &Made, took: Duration) {
        let Some(remote) = self.remote() else { return };
        let milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let stored = Stored { milliseconds, said: made.said.clone(), content: made.content.clone() };
        remote.put(self.context(), key, &stored);
    }

    /// Where `step` runs: here or elsewhere, whichever is free sooner.
    pub(super) fn place(&self, step: &Step<'_>) -> Place<'a> {
        let goes = self.remote().is_some_and(|remote| remote.settings.execute) && is_worth_it(step);
        let jobs = &self.context().jobs;
        if goes { jobs.place() } else { Place::Here(jobs.token()) }
    }

    /// What another machine makes of `step`; `None` if it has to run here, also to tell what is wrong with it.
    pub(super) fn execute_step(&self, step: &Step<'_>) -> Option<Made> {
        let action = self.step_action(step)?;
        let Executed { exit_code: 0, stdout, stderr, outputs, .. } =
            self.remote()?.execute(self.context(), action)?
        else {
            return None;
        };
        self.context().tally.count(Origin::Executed);
        let output = outputs.into_iter().find(|file| OUTPUT_NAMES.contains(&&*file.path))?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim_end().to_string();
        let said = [text(stdout), text(stderr)].join("\n");
        Some(Made { content: output.content, said }).filter(|made| !made.content.is_empty())
    }

    fn step_action(&self, step: &Step<'_>) -> Option<Action> {
        let names = step.input_names();
        let mut inputs = Vec::new();
        for ((blob, _), path) in step.inputs.iter().zip(&names) {
            inputs.push(Input { path: path.clone(), source: Source::Bytes(blob.read().ok()?) });
        }
        for (index, file) in step.files.iter().enumerate() {
            inputs.push(Input { path: file_name(index), source: Source::File(file.to_str()?.to_string()) });
        }
        let place = |arg: &Arg| match arg {
            Arg::Text(text) => text.to_str().map(str::to_string),
            Arg::Input(index) => names.get(*index).cloned(),
            Arg::Output => Some("out".to_string()),
            Arg::Depfile | Arg::InputFile(_) => None,
        };
        let arguments: Option<Vec<String>> = portable(&step.args, &step.files).iter().map(place).collect();
        self.action(step.tool, arguments?, inputs)
    }

    /// The command of `tool` with `arguments`, in the directory of the inputs.
    fn action(&self, tool: &Tool, arguments: Vec<String>, mut inputs: Vec<Input>) -> Option<Action> {
        let variable = |name: &str, value: &str| Variable { name: name.into(), value: value.into() };
        let mut variables = vec![variable(variable::LC_ALL, "C"), variable(variable::PATH, "/usr/bin:/bin")];
        let uploads = self.remote()?.settings.tools == ToolsFrom::Upload;
        let (path, directories, worker) = match uploads.then(|| self.uploaded(tool)).flatten() {
            Some(Uploaded { program, library_directories, inputs: files }) => {
                inputs.extend(files);
                (program, library_directories, None)
            }
            None => {
                let program = program(self.context(), tool)?;
                (program.path.clone(), program.library_directories.clone(), Some(program))
            }
        };
        if !directories.is_empty() {
            variables.push(variable(variable::LD_LIBRARY_PATH, &directories.join(":")));
        }
        Some(Action {
            arguments: std::iter::once(path).chain(arguments).collect(),
            variables,
            directory: String::new(),
            inputs,
            outputs: OUTPUT_NAMES.map(str::to_string).into(),
            worker,
            seconds: self.context().tool_limit.seconds(),
        })
    }
}

/// Links of IR take less time than their inputs take to travel.
fn is_worth_it(step: &Step<'_>) -> bool {
    !step.name.starts_with("link")
}

/// The name of a file that the arguments name, among the inputs.
fn file_name(index: usize) -> String {
    format!("file{index}")
}

/// `args` with those that name one of `files` changed to the names among the inputs.
fn portable(args: &[Arg], files: &[PathBuf]) -> Vec<Arg> {
    let name = |text: &OsString| files.iter().position(|file| file.as_os_str() == text).map(file_name);
    let change = |arg: &Arg| match arg {
        Arg::Text(text) => name(text).map_or_else(|| arg.clone(), |name| Arg::Text(name.into())),
        other => other.clone(),
    };
    args.iter().map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_names_of_their_own() {
        let args = ["-x", "/usr/lib/a.bc", "-I/usr/lib/a.bc"].map(|text| Arg::Text(text.into()));
        let texts = ["-x", "file1", "-I/usr/lib/a.bc"].map(|text| Arg::Text(text.into()));
        assert_eq!(portable(&args, &["/usr/lib/b.bc".into(), "/usr/lib/a.bc".into()]), texts);
    }
}
