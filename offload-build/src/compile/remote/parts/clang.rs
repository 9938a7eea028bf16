//! Remote parsing of CUDA C++ with the toolkit's headers: the preprocessor inlines all includes locally, and a worker
//! parses the result, which takes clang most of the time.
//!
//! icecream does the same (`-frewrite-includes`,
//! <https://clang.llvm.org/docs/ClangCommandLineReference.html#preprocessor-options>). Macros stay as they are, and so do
//! lines and columns in warnings.

use crate::compile::Session;
use crate::compile::front_end::reading::{FrontEnd, MadeFrontEnd, TYPES};
use crate::compile::remote::roots::PREFIX_MAP;
use crate::compile::steps::action::{Arg, Made, Step};
use crate::compile::steps::check;
use crate::compile::targets::nvptx::toolkit::WRAPPER;
use crate::fs;

/// The ending of the file that has all lines.
const ENDING: &str = ".cu";
/// What the step calls this file.
const NAME: &str = "in0.cu";
/// What the lines of an include do not say, once they stand in another file.
const OF_FILES: [&str; 4] = ["__BASE_FILE__", "__INCLUDE_LEVEL__", "__TIMESTAMP__", "#embed"];

impl Session<'_> {
    /// The same IR as clang makes in one run; `None` where it may be another.
    pub(super) fn clang_in_parts(&self, action: &FrontEnd<'_>, split: Split<'_>) -> Option<MadeFrontEnd> {
        let Split { preprocessor, args, source } = split;
        let run = self.run_settled(&preprocessor).ok()?;
        let text = str::from_utf8(&run.content).ok()?;
        if OF_FILES.iter().any(|word| text.contains(word)) {
            return None;
        }
        let scratch = fs::scratch(self.cache().dir()).ok()?;
        // It is large, and is not needed again.
        let text = self.cache().put_outside(scratch.path(), &run.content).ok()?;
        let inputs = vec![(&text, ENDING)];
        let step = Step { name: "front end of one file", tool: action.tool, args, inputs, files: vec![] };
        let (ir, printed) = self.step_with_output(&step, check::ir_text).ok()?;
        let content = with_name(&ir.read_text().ok()?, &source, action.name)?.into_bytes();
        let printed = printed.trim_start().to_string();
        Some(MadeFrontEnd { made: Made { content, printed }, dependencies: run.dependencies })
    }
}

/// One run of clang as two.
#[derive(Debug)]
pub(super) struct Split<'a> {
    preprocessor: FrontEnd<'a>,
    /// Of the second run.
    args: Vec<Arg>,
    /// The file as the first run names it.
    source: String,
}

impl<'a> Split<'a> {
    pub(super) fn new(action: &FrontEnd<'a>) -> Option<Split<'a>> {
        let Some((Arg::Text(source), rest)) = action.args.split_last() else { return None };
        let source = source.to_str().filter(|_| action.input.is_none())?.to_string();
        if !rest.iter().any(|arg| is_text(arg, WRAPPER)) {
            return None;
        }
        let args = without_files(rest, action.name)?.into_iter().chain([Arg::Input(0)]).collect();
        let preprocessor = FrontEnd {
            name: "includes",
            tool: action.tool,
            args: action
                .args
                .iter()
                .map(|arg| match arg {
                    arg if is_text(arg, "-S") => Arg::Text("-E".into()),
                    arg if is_text(arg, "-emit-llvm") => Arg::Text("-frewrite-includes".into()),
                    arg => arg.clone(),
                })
                .collect(),
            input: None,
        };
        Some(Split { preprocessor, args, source })
    }
}

fn is_text(arg: &Arg, text: &str) -> bool {
    matches!(arg, Arg::Text(word) if word == text)
}

/// What becomes of an argument in the second run.
enum FlagUse {
    Kept,
    /// It is of the first run alone.
    Dropped,
    /// So is the next one.
    DroppedWithNext,
    /// It may name a file, or ask for debug information, which has a hash of each file.
    Unknown,
}

impl FlagUse {
    fn classify(text: &str, name: &str) -> FlagUse {
        match text {
            "-include" | "-isystem" | "-iquote" | "-idirafter" | "-I" | "-MT" | "-MF" => {
                FlagUse::DroppedWithNext
            }
            "-MD" => FlagUse::Dropped,
            _ if text.starts_with("-I") || text.starts_with("-isystem") => FlagUse::Dropped,
            _ if text.starts_with("-D") || text.starts_with("-U") => FlagUse::Kept,
            _ if text.starts_with(PREFIX_MAP) => FlagUse::Kept,
            _ if text.starts_with("-g") && name != TYPES => FlagUse::Unknown,
            _ if text.starts_with("-i") || text.starts_with('@') || text.contains('/') => FlagUse::Unknown,
            _ => FlagUse::Kept,
        }
    }
}

/// The arguments without those that name headers and their directories, or ask for a dependency file; `None` if others name
/// files.
fn without_files(args: &[Arg], name: &str) -> Option<Vec<Arg>> {
    let mut kept = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let word = match arg {
            Arg::Text(text) => FlagUse::classify(text.to_str()?, name),
            Arg::Output => FlagUse::Kept,
            _ => FlagUse::Unknown,
        };
        match word {
            FlagUse::Kept => kept.push(arg.clone()),
            FlagUse::Dropped => {}
            FlagUse::DroppedWithNext => drop(args.next()?),
            FlagUse::Unknown => return None,
        }
    }
    Some(kept)
}

/// `ir` with the name `source` of its file. Where only types are wanted, debug information has the name too.
fn with_name(ir: &str, source: &str, name: &str) -> Option<String> {
    if name == TYPES {
        return Some(ir.replace(NAME, source));
    }
    let ir = ir.replacen(&format!("; ModuleID = '{NAME}'"), &format!("; ModuleID = '{source}'"), 1);
    let placeholder = format!("source_filename = \"{NAME}\"");
    let ir = ir.replacen(&placeholder, &format!("source_filename = \"{source}\""), 1);
    (!ir.contains(NAME)).then_some(ir)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[&str]) -> Vec<Arg> {
        words.iter().map(|word| Arg::Text(word.into())).collect()
    }

    #[test]
    fn headers_and_dependencies_are_of_the_first_run_alone() {
        let words = [
            "-x",
            "cuda",
            "-include",
            WRAPPER,
            "-isystem",
            "/cuda/include",
            "-I.",
            "-I",
            "b",
            "-DA=a/b",
            "-ffile-prefix-map=/c=/{clang}",
        ];
        let mut args = texts(&words);
        args.extend(texts(&[
            "-Xclang",
            "-disable-llvm-passes",
            "-S",
            "-emit-llvm",
            "-MD",
            "-MT",
            "out",
            "-MF",
        ]));
        args.extend([Arg::Depfile, Arg::Text("-o".into()), Arg::Output]);
        let mut kept = texts(&[
            "-x",
            "cuda",
            "-DA=a/b",
            "-ffile-prefix-map=/c=/{clang}",
            "-Xclang",
            "-disable-llvm-passes",
            "-S",
            "-emit-llvm",
            "-o",
        ]);
        kept.push(Arg::Output);
        assert_eq!(without_files(&args, "nvptx"), Some(kept));
    }

    #[test]
    fn runs_that_name_files_or_have_debug_information_are_not_split() {
        for word in ["-imacros", "-include-pch", "@args", "-fplugin=/a.so", "-g", "-gline-tables-only"] {
            assert_eq!(without_files(&texts(&["-x", "cuda", word]), "nvptx"), None, "{word}");
        }
        assert!(without_files(&texts(&["-x", "cuda", "-g"]), TYPES).is_some());
    }

    #[test]
    fn the_file_has_the_name_of_a_single_run() {
        let ir = "; ModuleID = 'in0.cu'\nsource_filename = \"in0.cu\"\n";
        let named = "; ModuleID = 'k/a.cu'\nsource_filename = \"k/a.cu\"\n";
        assert_eq!(with_name(ir, "k/a.cu", "nvptx").as_deref(), Some(named));
        assert_eq!(with_name(&format!("{ir}@x = c\"in0.cu\"\n"), "k/a.cu", "nvptx"), None);
        let types = format!("{ir}!1 = !DIFile(filename: \"in0.cu\")\n");
        assert!(with_name(&types, "k/a.cu", TYPES).is_some_and(|ir| !ir.contains(NAME)));
    }
}
