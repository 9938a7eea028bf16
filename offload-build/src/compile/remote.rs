//! Remote actions: keys without paths and times of this machine, commands with relative names.

mod front_end;
pub(super) mod parts;
pub(super) mod roots;
mod uploaded;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use offload_protocol::remote::{Action, Input, Program, Source, Stored, Variable};
use offload_protocol::variable;

use self::uploaded::Uploaded;
use crate::cache::{Key, KeyBuilder};
use crate::compile::Session;
use crate::compile::steps::action::{Arg, Made, OUTPUT_NAMES, Step, Work, args_key};
use crate::compile::steps::chain::{Chain, Then};
use crate::remote::{Remote, ToolsFrom, file_hash, program, script};
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

    /// The same of a chain.
    pub(super) fn shared_chain_key(&self, chain: &Chain<'_>) -> Option<Key> {
        let first = self.shared_step_key(&chain.first)?;
        let key = self.shared_key(chain.then.name, chain.then.tool)?.part(&first.bytes());
        Some(args_key(key, &chain.then.args).finish())
    }

    /// The beginning of a key: the action's name, and the tool by its content.
    pub(super) fn shared_key(&self, name: &str, tool: &Tool) -> Option<KeyBuilder> {
        let tool = self.remote()?.tool_hash(self.context(), tool)?;
        Some(KeyBuilder::new("shared").part(name.as_bytes()).part(&tool.0))
    }

    /// The result that another machine has stored.
    pub(super) fn stored(&self, key: Key) -> Option<Made> {
        let Stored { milliseconds, diagnostics, content } = self.remote()?.get(self.context(), key)?;
        self.context().tally.saved(Duration::from_millis(milliseconds));
        Some(Made { content, printed: diagnostics })
    }

    /// Stores a result for other machines.
    pub(super) fn store(&self, key: Key, made: &Made, took: Duration) {
        let Some(remote) = self.remote() else { return };
        let milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let diagnostics = made.printed.clone();
        let stored = Stored { milliseconds, diagnostics, content: made.content.clone() };
        remote.put(self.context(), key, &stored);
    }

    /// What another machine is asked to do; `None` where `work` is done here.
    pub(super) fn remote_action(&self, work: &dyn Work) -> Option<Action> {
        let goes = self.remote()?.settings.execute && work.is_worth_sending(self);
        goes.then(|| work.remote_action(self)).flatten()
    }

    pub(super) fn step_action(&self, step: &Step<'_>) -> Option<Action> {
        let tool = self.remote_tool(step.tool)?;
        let arguments = std::iter::once(tool.path.clone()).chain(step.remote_args("out")?).collect();
        self.action(arguments, vec![tool], step.remote_inputs()?)
    }

    /// Both commands of a chain, by a shell. Compilers that travel may come to workers that have none: then each step of
    /// the chain is an action.
    pub(super) fn chain_action(&self, chain: &Chain<'_>) -> Option<Action> {
        let tools = vec![self.remote_tool(chain.first.tool)?, self.remote_tool(chain.then.tool)?];
        let commands = [chain.first.remote_args(BETWEEN)?, chain.then.remote_args(BETWEEN)?];
        let commands = tools.iter().zip(commands);
        let commands = commands.map(|(tool, args)| std::iter::once(tool.path.clone()).chain(args).collect());
        let arguments = script::in_turn(&commands.collect::<Vec<_>>());
        self.action(arguments, tools, chain.first.remote_inputs()?)
    }

    /// Whether compilers travel with what they compile.
    pub(super) fn sends_tools(&self) -> bool {
        self.remote().is_some_and(|remote| remote.settings.tools == ToolsFrom::Upload)
    }

    /// Where workers have `tool`.
    pub(super) fn remote_tool(&self, tool: &Tool) -> Option<RemoteTool> {
        if let Some(Uploaded { program, library_directories, inputs }) =
            self.sends_tools().then(|| self.uploaded(tool)).flatten()
        {
            return Some(RemoteTool { path: program, library_directories, inputs, installed: None });
        }
        let program = program(self.context(), tool)?;
        Some(RemoteTool {
            path: program.path.clone(),
            library_directories: program.library_directories.clone(),
            inputs: Vec::new(),
            installed: Some(program),
        })
    }

    /// A command that uses `tools`, in the directory of the inputs.
    pub(super) fn action(
        &self,
        arguments: Vec<String>,
        tools: Vec<RemoteTool>,
        mut inputs: Vec<Input>,
    ) -> Option<Action> {
        let mut variables = vec![
            Variable { name: variable::LC_ALL.into(), value: "C".into() },
            Variable { name: variable::PATH.into(), value: "/usr/bin:/bin".into() },
        ];
        let mut directories = BTreeSet::new();
        let mut programs = Vec::new();
        for tool in tools {
            directories.extend(tool.library_directories);
            inputs.extend(tool.inputs);
            programs.extend(tool.installed);
        }
        if !directories.is_empty() {
            let directories: Vec<String> = directories.into_iter().collect();
            variables.push(Variable { name: variable::LD_LIBRARY_PATH.into(), value: directories.join(":") });
        }
        Some(Action {
            arguments,
            variables,
            directory: String::new(),
            inputs,
            outputs: OUTPUT_NAMES.map(str::to_string).into(),
            programs,
            seconds: self.context().tool_limit.seconds(),
        })
    }
}

/// A tool as workers find it.
pub(super) struct RemoteTool {
    pub(super) path: String,
    library_directories: Vec<String>,
    /// Its own files, if they travel.
    inputs: Vec<Input>,
    /// What workers have to have of it, if it does not travel.
    installed: Option<Program>,
}

impl Step<'_> {
    fn remote_inputs(&self) -> Option<Vec<Input>> {
        let mut inputs = Vec::new();
        for ((blob, _), path) in self.inputs.iter().zip(self.input_names()) {
            inputs.push(Input { path, source: Source::Bytes(blob.read().ok()?) });
        }
        for (index, file) in self.files.iter().enumerate() {
            inputs.push(Input { path: file_name(index), source: Source::File(file.to_str()?.to_string()) });
        }
        Some(inputs)
    }

    fn remote_args(&self, output: &str) -> Option<Vec<String>> {
        remote_args(&portable(&self.args, &self.files), &self.input_names(), output)
    }
}

impl Then<'_> {
    fn remote_args(&self, input: &str) -> Option<Vec<String>> {
        remote_args(&self.args, &[input.to_string()], "out")
    }
}

fn remote_args(args: &[Arg], inputs: &[String], output: &str) -> Option<Vec<String>> {
    args.iter()
        .map(|arg| match arg {
            Arg::Text(text) => text.to_str().map(str::to_string),
            Arg::Input(index) => inputs.get(*index).cloned(),
            Arg::Output => Some(output.to_string()),
            Arg::Depfile | Arg::InputFile(_) => None,
        })
        .collect()
}

/// What the first command of a chain writes, and the second one reads.
const BETWEEN: &str = "between";

/// The name of a file that the arguments name, among the inputs.
fn file_name(index: usize) -> String {
    format!("file{index}")
}

/// `args` with those that name one of `files` changed to the names among the inputs.
fn portable(args: &[Arg], files: &[PathBuf]) -> Vec<Arg> {
    let mut portable = Vec::new();
    for arg in args {
        portable.push(match file_index(arg, files) {
            Some(index) => Arg::Text(file_name(index).into()),
            None => arg.clone(),
        });
    }
    portable
}

fn file_index(arg: &Arg, files: &[PathBuf]) -> Option<usize> {
    let Arg::Text(text) = arg else { return None };
    files.iter().position(|file| file.as_os_str() == text)
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
