//! Remote front ends for C++, CUDA and HIP. A local run of the preprocessor lists the files that clang reads, in a small
//! part of the time that templates take; they are the input root of the action.
//!
//! Files keep their names there, as debug information has the name and a digest of each.

use std::path::{Component, Path};

use offload_format::Hash128;
use offload_protocol::remote::{Action, Input, Source};

use crate::compile::Session;
use crate::compile::front_end::own_headers;
use crate::compile::front_end::reading::{FrontEnd, MadeFrontEnd, ReadFile};
use crate::compile::remote::roots::{CLANG, Roots};
use crate::compile::steps::action::{Arg, Made, made_elsewhere};
use crate::compile::steps::check;
use crate::remote::script;
use offload_cache::Origin;

/// Languages of `-x`. For C and OpenCL C a front end takes about as long as its preprocessor.
const LANGUAGES: [&str; 3] = ["c++", "cuda", "hip"];
/// The file with what is standard input here.
const INPUT: &str = "{input}";
/// The dependency file, which is not read.
const DEPFILE: &str = "{deps}";
/// What is another one on each machine that has the file.
const TIME_OF_FILE: &str = "__TIMESTAMP__";

impl Session<'_> {
    /// What another machine makes of `front_end`; `None` where it has to be made here.
    pub(super) fn clang_elsewhere(&self, front_end: &FrontEnd<'_>) -> Option<MadeFrontEnd> {
        let roots = Roots::for_session(self);
        // A local run does not need the list of files beforehand.
        let is_for_others = is_cpp(&front_end.args) && !has_own_names(&front_end.args, &roots.prefix_maps());
        if !is_for_others || self.context().jobs.idle().is_some() {
            return None;
        }
        let dependencies = self.run_settled(&listing(front_end)).ok()?.dependencies;
        let action = self.front_end_action(front_end, &dependencies.files, &roots)?;
        let executed = self.remote()?.execute_or_token(self.context(), action).ok()?;
        let Made { content, printed } = executed.and_then(made_elsewhere)?;
        check::ir_text(&content).ok()?;
        self.count(Origin::Executed);
        Some(MadeFrontEnd { made: Made { content, printed: printed.trim_start().to_string() }, dependencies })
    }

    fn front_end_action(&self, front_end: &FrontEnd<'_>, read: &[ReadFile], roots: &Roots) -> Option<Action> {
        let mut inputs = read.iter().map(|file| self.sent(file, roots)).collect::<Option<Vec<_>>>()?;
        for (path, _) in own_headers::texts_of(self, &front_end.text_args()) {
            let source = Source::File(path.to_str()?.to_string());
            inputs.push(Input { path: roots.portable(&path)?, source });
        }
        let tool = self.remote_tool(front_end.tool)?;
        let args = arguments(&roots.args(&front_end.args))?;
        let words: Vec<String> =
            [tool.path.clone(), "-resource-dir".into(), CLANG.into()].into_iter().chain(args).collect();
        let words = match &front_end.input {
            None => words,
            // Workers that get their compilers may have no shell.
            Some(_) if self.sends_tools() => return None,
            Some(text) => {
                let source = Source::Bytes(text.clone().into_bytes());
                inputs.push(Input { path: INPUT.to_string(), source });
                script::reading(&words, INPUT)
            }
        };
        self.action(words, vec![tool], inputs)
    }

    /// A file as it was read.
    fn sent(&self, ReadFile { path, hash }: &ReadFile, roots: &Roots) -> Option<Input> {
        let content = std::fs::read(self.root().join(path)).ok()?;
        let is_as_read = Hash128::digest(&content).to_string() == *hash;
        let has_time = String::from_utf8_lossy(&content).contains(TIME_OF_FILE);
        if !is_as_read || has_time {
            return None;
        }
        Some(Input { path: place(Path::new(&roots.portable(path)?))?, source: Source::Bytes(content) })
    }
}

fn is_cpp(args: &[Arg]) -> bool {
    args.windows(2).any(|pair| match pair {
        [Arg::Text(flag), Arg::Text(language)] => {
            flag == "-x" && LANGUAGES.iter().any(|name| language == name)
        }
        _ => false,
    })
}

/// Whether a flag of the user's gives directories other names, which it would not know at their places elsewhere.
fn has_own_names(args: &[Arg], ours: &[Arg]) -> bool {
    args.iter().any(|arg| is_prefix_map(arg) && !ours.contains(arg))
}

fn is_prefix_map(arg: &Arg) -> bool {
    matches!(arg, Arg::Text(text) if text.to_string_lossy().contains("-prefix-map="))
}

/// The run that tells which files are read.
fn listing<'a>(front_end: &FrontEnd<'a>) -> FrontEnd<'a> {
    let mut args = front_end.args.clone();
    args.retain(|arg| !matches!(arg, Arg::Text(text) if text == "-emit-llvm"));
    for arg in &mut args {
        if matches!(arg, Arg::Text(text) if text == "-S") {
            *arg = Arg::Text("-E".into());
        }
    }
    FrontEnd { name: "includes", tool: front_end.tool, args, input: front_end.input.clone() }
}

fn arguments(args: &[Arg]) -> Option<Vec<String>> {
    args.iter()
        .map(|arg| match arg {
            Arg::Text(text) => text.to_str().map(str::to_string),
            Arg::Output => Some("out".to_string()),
            Arg::Depfile => Some(DEPFILE.to_string()),
            Arg::Input(_) | Arg::InputFile(_) => None,
        })
        .collect()
}

/// Where a file lies among the inputs; `None` if it is not below their directory.
fn place(path: &Path) -> Option<String> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.to_str()?),
            Component::CurDir => {}
            Component::ParentDir => drop(names.pop()?),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(names.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[&str]) -> Vec<Arg> {
        words.iter().map(|word| Arg::Text(word.into())).collect()
    }

    #[test]
    fn languages_with_templates_travel() {
        for (language, travels) in [("c++", true), ("cuda", true), ("hip", true), ("c", false), ("cl", false)]
        {
            assert_eq!(is_cpp(&texts(&["-O2", "-x", language, "a"])), travels, "{language}");
        }
        assert!(!is_cpp(&texts(&["c++", "-x"])));
    }

    #[test]
    fn maps_of_the_user_stay() {
        let ours = texts(&["-ffile-prefix-map=/a=/{clang}"]);
        assert!(!has_own_names(&texts(&["-O2", "-ffile-prefix-map=/a=/{clang}"]), &ours));
        assert!(has_own_names(&texts(&["-fdebug-prefix-map=/usr=u"]), &ours));
    }

    #[test]
    fn files_lie_below_the_inputs() {
        for (path, found) in [
            ("kernels/a.cpp", Some("kernels/a.cpp")),
            ("./kernels/../common/./t.h", Some("common/t.h")),
            ("{headers}/own-4/assert.h", Some("{headers}/own-4/assert.h")),
            ("../shared/t.h", None),
            ("kernels/../../t.h", None),
            ("/usr/include/math.h", None),
        ] {
            assert_eq!(place(Path::new(path)).as_deref(), found, "{path}");
        }
    }

    #[test]
    fn every_file_of_a_command_has_a_name() {
        let mut args = texts(&["-MF"]);
        args.extend([Arg::Depfile, Arg::Text("-o".into()), Arg::Output]);
        assert_eq!(arguments(&args).unwrap(), ["-MF", DEPFILE, "-o", "out"]);
        args.push(Arg::InputFile(".cu"));
        assert_eq!(arguments(&args), None);
    }
}
