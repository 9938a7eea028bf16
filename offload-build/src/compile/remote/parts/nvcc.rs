//! nvcc's commands one by one. nvcc prints its commands where it is asked to (`--dryrun`,
//! <https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc/>). Where they are not understood, nvcc does all of it here.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::cache::Blob;
use crate::compile::Session;
use crate::compile::front_end::reading::{FrontEnd, MadeFrontEnd, NVCC_PREPROCESSOR};
use crate::compile::steps::action::{Arg, Made, Step};
use crate::compile::steps::chain::{Chain, Then};
use crate::compile::steps::check;
use crate::fs;
use crate::tool::{Invocation, Tool};

/// What the unit is called everywhere.
const UNIT: &str = "in.cu";

/// The commands of one run of nvcc.
#[derive(Debug, PartialEq, Eq)]
struct Commands {
    preprocessor: Vec<String>,
    code_generator: Vec<String>,
    /// Not for PTX.
    assembler: Option<Vec<String>>,
}

impl Session<'_> {
    /// What a run of nvcc makes, of which another machine may do the most; `None` where nvcc does all of it here, also to
    /// tell what is wrong.
    pub(super) fn nvcc_in_parts(&self, action: &FrontEnd<'_>) -> Option<MadeFrontEnd> {
        if action.names_places() || self.sends_tools() {
            return None;
        }
        let scratch = fs::scratch(self.cache().dir()).ok()?;
        let unit = scratch.path().join(UNIT);
        fs::publish(&unit, |_| Ok(())).ok()?;
        let commands = Commands::parse(&self.dry_run(action, scratch.path())?, unit.to_str()?)?;
        let tools = Tools::of(self, action.tool, &commands)?;

        let args = preprocessor_args(&commands.preprocessor, unit.to_str()?);
        let input = action.input.clone();
        let preprocessor = FrontEnd { name: NVCC_PREPROCESSOR, tool: &tools.preprocessor, args, input };
        let run = self.run_settled(&preprocessor).ok()?;
        let content = with_one_name(&String::from_utf8(run.content).ok()?)?;
        // It is large, and nobody asks for it again.
        let preprocessed = self.cache().put_outside(scratch.path(), content.as_bytes()).ok()?;

        let (blob, printed) =
            self.code(&commands, &tools, &Paths { unit: &unit, preprocessed: &preprocessed })?;
        let made = Made { content: blob.read().ok()?, printed: [run.printed, printed].join("\n") };
        Some(MadeFrontEnd { made, dependencies: run.dependencies })
    }

    /// What nvcc says of its commands.
    fn dry_run(&self, action: &FrontEnd<'_>, scratch: &Path) -> Option<String> {
        let place = |arg: &Arg| match arg {
            Arg::Text(text) => text.clone(),
            Arg::Input(_) | Arg::Output => scratch.join("out").into(),
            Arg::Depfile => scratch.join("deps").into(),
            Arg::InputFile(_) => scratch.join(UNIT).into(),
        };
        let args = std::iter::once(OsString::from("--dryrun")).chain(action.args.iter().map(place));
        let (program, directory) = (&*action.tool.path, self.root());
        let invocation = Invocation { program, args: args.collect(), directory, input: None };
        Some(self.context().run(&invocation).ok()?.stderr)
    }

    /// The output of the code generator, or of the assembler behind it.
    fn code(&self, commands: &Commands, tools: &Tools, paths: &Paths<'_>) -> Option<(Blob, String)> {
        let mut files = Vec::new();
        let words = &commands.code_generator;
        let args = code_generator_args(words, paths.unit.to_str()?, &mut files)?;
        let inputs = vec![(paths.preprocessed, ".ii")];
        let step = Step { name: "nvcc codegen", tool: &tools.code_generator, args, inputs, files };
        let is_ptx = |bytes: &[u8]| check::ptx(bytes, &[], &[]);
        let (Some(words), Some(tool)) = (&commands.assembler, &tools.assembler) else {
            return self.step_with_output(&step, is_ptx).ok();
        };
        let args = assembler_args(words)?;
        let then = Then { name: "nvcc ptxas", tool, args, ending: ".ptx" };
        self.step_with_output(&Chain { first: step, check: is_ptx, then }, check::elf).ok()
    }
}

/// What the code generator is given.
struct Paths<'a> {
    unit: &'a Path,
    preprocessed: &'a Blob,
}

/// The programs of the commands.
#[derive(Debug)]
struct Tools {
    preprocessor: Tool,
    code_generator: Tool,
    assembler: Option<Tool>,
}

impl Tools {
    fn of(session: &Session<'_>, nvcc: &Tool, commands: &Commands) -> Option<Tools> {
        let own = nvcc.path.canonicalize().ok()?.parent()?.to_path_buf();
        let tool = |directories: Vec<PathBuf>, words: &[String]| {
            let name = words.first()?;
            let mut paths = directories.iter().map(|directory| directory.join(name));
            let path = paths.find(|path| path.is_file())?.canonicalize().ok()?;
            Some(Tool { path, version: nvcc.version.clone() })
        };
        let assembler = match &commands.assembler {
            Some(words) => Some(tool(vec![own.clone()], words)?),
            None => None,
        };
        Some(Tools {
            preprocessor: tool(session.env().search_path(), &commands.preprocessor)?,
            code_generator: tool(vec![own], &commands.code_generator)?,
            assembler,
        })
    }
}

impl Commands {
    /// What a dry run for `unit` has printed; `None` if it is another kind of run than those that are known.
    fn parse(printed: &str, unit: &str) -> Option<Commands> {
        let (mut variables, mut lists) = (BTreeMap::new(), Vec::new());
        for line in printed.lines().filter_map(|line| line.strip_prefix("#$ ")) {
            match line.split_once('=') {
                Some((name, value)) if is_name(name) => {
                    variables.insert(name.to_string(), value.to_string());
                }
                _ if line.starts_with("-- ") || line.starts_with("rm ") => {}
                _ => lists.push(words(line, &variables)?),
            }
        }
        let (preprocessors, others): (Vec<_>, Vec<_>) =
            lists.into_iter().partition(|words| words.iter().any(|word| word == "-E"));
        let is_for_device =
            |words: &Vec<String>| words.iter().any(|word| word.starts_with("-D__CUDA_ARCH__="));
        let mut device = preprocessors.into_iter().filter(is_for_device);
        let (preprocessor, None) = (device.next()?, device.next()) else { return None };
        let mut others = others.into_iter();
        let (code_generator, assembler, None) = (others.next()?, others.next(), others.next()) else {
            return None;
        };
        let takes = |words: &[String], input: &str| words.iter().any(|word| word == input);
        let (text, code) = (output(&preprocessor)?, output(&code_generator)?);
        let is_known = takes(&preprocessor, unit)
            && is_called(&code_generator, "cicc")
            && takes(&code_generator, text)
            && assembler.iter().all(|words| is_called(words, "ptxas") && takes(words, code));
        is_known.then_some(Commands { preprocessor, code_generator, assembler })
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

fn is_called(words: &[String], name: &str) -> bool {
    words.first().is_some_and(|word| Path::new(word).file_name().is_some_and(|file| file == name))
}

/// What a command writes.
fn output(words: &[String]) -> Option<&str> {
    let at = words.iter().position(|word| word == "-o")?;
    words.get(at.checked_add(1)?).map(String::as_str)
}

/// The words of a line as a shell divides them, which may be quoted and name variables; `None` for what else a shell knows.
fn words(line: &str, variables: &BTreeMap<String, String>) -> Option<Vec<String>> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), None::<String>, false);
    let mut chars = line.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            ' ' if !is_quoted => words.extend(word.take()),
            '$' => {
                let mut name = String::new();
                while let Some(char) = chars.next_if(|char| is_name(&char.to_string())) {
                    name.push(char);
                }
                word.get_or_insert_default().push_str(variables.get(&name)?);
            }
            '\\' | '\'' | '`' | '<' | '>' | '|' | '&' | ';' => return None,
            char => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    (!is_quoted).then_some(words)
}

/// Words with a place for the output and for what `input` names.
fn placed(words: &[String], input: &str, place: &Arg) -> Vec<Arg> {
    let mut before = "";
    let mut args = Vec::new();
    for word in words.iter().skip(1) {
        args.push(match word {
            _ if before == "-o" => Arg::Output,
            word if word == input => place.clone(),
            word => Arg::Text(word.into()),
        });
        before = word;
    }
    args
}

fn preprocessor_args(words: &[String], unit: &str) -> Vec<Arg> {
    let files = ["-MD", "-MT", "out", "-MF"].map(|word| Arg::Text(word.into()));
    placed(words, unit, &Arg::InputFile(".cu")).into_iter().chain(files).chain([Arg::Depfile]).collect()
}

/// The arguments with names that are the same in every run; `files` gets the libraries that they name.
fn code_generator_args(words: &[String], unit: &str, files: &mut Vec<PathBuf>) -> Option<Vec<Arg>> {
    let text = words.iter().rev().find(|word| word.ends_with(".ii"))?;
    let plain = |arg: Arg| match &arg {
        Arg::Text(word) => {
            let word = word.to_str()?.replace(unit, UNIT);
            // `/tmp/tmpxft_00006b0f_00000000-4_k.module_id`
            let word = match word.split_once("tmpxft_") {
                Some((_, rest)) => format!("part-{}", rest.split_once('-')?.1),
                None => word,
            };
            if Path::new(&word).is_absolute() {
                // One that is no file would be another directory on each machine.
                files.extend(Path::new(&word).is_file().then(|| PathBuf::from(&word)));
                files.last().filter(|file| file.as_path() == Path::new(&word))?;
            }
            Some(Arg::Text(word.into()))
        }
        _ => Some(arg),
    };
    placed(words, text, &Arg::Input(0)).into_iter().map(plain).collect()
}

fn assembler_args(words: &[String]) -> Option<Vec<Arg>> {
    let ptx = words.iter().rev().find(|word| word.ends_with(".ptx"))?;
    Some(placed(words, ptx, &Arg::Input(0)))
}

/// `preprocessed` with one name for the unit, whose path is another one in every run: the first line has it.
fn with_one_name(preprocessed: &str) -> Option<String> {
    let (_, rest) = preprocessed.lines().next()?.split_once('"')?;
    let (path, _) = rest.split_once('"')?;
    Some(preprocessed.replace(&format!("\"{path}\""), &format!("\"{UNIT}\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As nvcc of CUDA 13.0 prints it, without most options.
    const SAID: &str = "\
#$ _NVVM_BRANCH_=nvvm
#$ _SPACE_= 
#$ TOP=/cuda/bin/..
#$ CICC_PATH=/cuda/bin/../nvvm/bin
#$ INCLUDES=\"-I/cuda/bin/..//include\"  
#$ gcc -D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=900 -E -x c++ -D__NVCC__ -I\".\" \"-isystem\" \"/cuda/include/c cl\"    -include \"cuda_runtime.h\" -m64 \"/s/in.cu\" -o \"/tmp/tmpxft_00006b0f_00000000-7_in.cpp1.ii\" 
#$ gcc -D__CUDA_ARCH_LIST__=900 -E -x c++ -D__NVCC__ \"/s/in.cu\" -o \"/tmp/tmpxft_00006b0f_00000000-5_in.cpp4.ii\" 
#$ -- Filter Dependencies -- > deps
#$ \"$CICC_PATH/cicc\" --c++17 --orig_src_file_name \"/s/in.cu\" --include_file_name \"tmpxft_00006b0f_00000000-3_in.fatbin.c\" --module_id_file_name \"/tmp/tmpxft_00006b0f_00000000-4_in.module_id\"  \"/tmp/tmpxft_00006b0f_00000000-7_in.cpp1.ii\" -o \"/tmp/tmpxft_00006b0f_00000000-6_in.ptx\"
#$ ptxas -arch=sm_90 -m64 -v  \"/tmp/tmpxft_00006b0f_00000000-6_in.ptx\"  -o \"/s/out\" 
";

    fn shown(args: &[Arg]) -> String {
        let word = |arg: &Arg| match arg {
            Arg::Text(text) => text.to_str().unwrap().to_string(),
            other => format!("{other:?}"),
        };
        args.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn commands_have_one_name_for_each_file() {
        let commands = Commands::parse(SAID, "/s/in.cu").unwrap();
        assert_eq!(
            shown(&preprocessor_args(&commands.preprocessor, "/s/in.cu")),
            "-D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=900 -E -x c++ -D__NVCC__ -I. -isystem /cuda/include/c cl \
             -include cuda_runtime.h -m64 InputFile(\".cu\") -o Output -MD -MT out -MF Depfile"
        );
        assert_eq!(commands.code_generator[0], "/cuda/bin/../nvvm/bin/cicc");
        assert_eq!(
            shown(&code_generator_args(&commands.code_generator, "/s/in.cu", &mut Vec::new()).unwrap()),
            "--c++17 --orig_src_file_name in.cu --include_file_name part-3_in.fatbin.c \
             --module_id_file_name part-4_in.module_id Input(0) -o Output"
        );
        let assembler = assembler_args(commands.assembler.as_ref().unwrap()).unwrap();
        assert_eq!(shown(&assembler), "-arch=sm_90 -m64 -v Input(0) -o Output");
    }

    #[test]
    fn ptx_needs_no_assembler() {
        let ptx = SAID.lines().filter(|line| !line.contains("ptxas")).collect::<Vec<_>>().join("\n");
        assert_eq!(Commands::parse(&ptx, "/s/in.cu").unwrap().assembler, None);
    }

    #[test]
    fn other_runs_are_left_to_nvcc() {
        let is_left = |from: &str, to: &str| {
            let printed = SAID.replace(from, to);
            assert_ne!(printed, SAID);
            assert_eq!(Commands::parse(&printed, "/s/in.cu"), None, "{to}");
        };
        // For two architectures, with a linker behind, or of another compiler.
        is_left("gcc -D__CUDA_ARCH_LIST__", "gcc -D__CUDA_ARCH__=800 -D__CUDA_ARCH_LIST__");
        is_left("#$ ptxas", "#$ nvlink a b\n#$ ptxas");
        is_left("/cicc", "/other");
        // With words that need a shell, or a variable that nobody has told.
        is_left("--c++17", "--c++17 $(x)");
        is_left("--c++17", "--c++17 'x'");
        is_left("--c++17", "--c++17 \"x");
        // In which one does not take what the other has made.
        is_left("00000000-6_in.ptx\"  -o", "00000000-8_in.ptx\"  -o");
        is_left("-m64 \"/s/in.cu\"", "-m64 \"/s/other.cu\"");
    }

    #[test]
    fn libraries_travel_and_unknown_directories_do_not() {
        let library = std::env::current_exe().unwrap();
        let of = |word: &str| {
            let words = ["cicc", "--nvvmir-library", word, "a.ii", "-o", "b"].map(str::to_string);
            let mut files = Vec::new();
            Some((code_generator_args(&words, "/s/in.cu", &mut files)?, files))
        };
        let (args, files) = of(library.to_str().unwrap()).unwrap();
        assert_eq!(shown(&args), format!("--nvvmir-library {} Input(0) -o Output", library.display()));
        assert_eq!(files, [library]);
        assert_eq!(of("/nowhere/at/all"), None);
    }

    #[test]
    fn the_unit_has_one_name() {
        let text =
            "# 0 \"/s/x1/in.cu\"\n# 1 \"k.cu\"\nint a; const char *b = \"x\";\n# 2 \"/s/x1/in.cu\" 2\n";
        assert_eq!(with_one_name(text).unwrap(), text.replace("/s/x1/in.cu", "in.cu"));
        assert_eq!(with_one_name("int a;"), None);
    }
}
