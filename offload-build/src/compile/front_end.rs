//! Front ends: their flags for each language, and cached execution under the dependencies that only the dependency
//! file of a run lists.

pub(super) mod dependencies;
pub(super) mod opencl_features;
pub(super) mod own_headers;
mod preprocessed;
pub(super) mod reading;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use offload_clang::inline_ptx::Constraints;
use offload_clang::lookups::{SearchPath, directories};
use offload_format::Hash128;
use offload_ir::Machine;

use self::preprocessed::Rewrites;
use self::reading::{
    AMDGCN, Dependencies, FrontEnd, HOST, MadeFrontEnd, ReadFile, TYPES, recorded, result_key, with_newest,
};
use crate::cache::{Blob, Key, KeyBuilder};
use crate::compile::advice::gaps;
use crate::compile::advice::headers::{self, Devices};
use crate::compile::advice::host_code;
use crate::compile::advice::ptx;
use crate::compile::advice::templates;
use crate::compile::session::{FrontEndResult, Session};
use crate::compile::steps::action::{Arg, Made, args_key, output_of, printed_key, texts};
use crate::error::{Error, Result};
use crate::fs;
use crate::module::{Language, Sources};
use crate::options::{SpecForm, spec};
use crate::tool::{Invocation, Output};
use offload_cache::Origin;

/// What a run just now has given.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) content: Vec<u8>,
    pub(super) dependencies: Dependencies,
    pub(super) printed: String,
}

impl Session<'_> {
    /// The output of a front end; the build script depends on every file that it read.
    pub(super) fn front_end(&self, action: &FrontEnd<'_>) -> Result<Blob> {
        let done = self.front_end_result(action)?;
        if !self.is_of_other_package() {
            self.env().warn(&done.printed);
        }
        Ok(done.output)
    }

    /// As [`Session::front_end`], with everything that the compiler printed, also when it ran in an earlier build.
    pub(super) fn front_end_with_output(&self, action: &FrontEnd<'_>) -> Result<(Blob, String)> {
        self.front_end_result(action).map(|done| (done.output, done.printed))
    }

    /// As [`Session::front_end`], with all that is known of the run.
    pub(super) fn front_end_result(&self, action: &FrontEnd<'_>) -> Result<FrontEndResult> {
        let mut key = KeyBuilder::new(action.name).part(action.tool.identity()?.as_bytes());
        key = args_key(key, &action.args).part(action.input.as_deref().unwrap_or_default().as_bytes());
        let key = key.finish();
        // Files of one name in two packages are two.
        let here = KeyBuilder::new("in")
            .part(&key.bytes())
            .part(self.root().as_os_str().as_encoded_bytes())
            .finish();
        let _lock = self.cache().lock(key);
        if let Some(done) = self.shared.front_ends.get(&here) {
            return Ok(done);
        }
        let done = self.known_or_run(key, action)?;
        self.shared.front_ends.put(here, &done);
        Ok(done)
    }

    fn known_or_run(&self, key: Key, action: &FrontEnd<'_>) -> Result<FrontEndResult> {
        let known = self.cache().dependencies(key).unwrap_or_default();
        if let Some(found) = self.known_result(key, action, &known) {
            self.count(Origin::Local);
            return Ok(found);
        }
        let MadeFrontEnd { made, dependencies } = self.make_front_end(action)?;
        let result = self.remember(key, &known, &made, &dependencies)?;
        self.cache().put(printed_key(result), made.printed.as_bytes())?;
        let read = dependencies.paths();
        Ok(FrontEndResult { output: self.cache().put(result, &made.content)?, printed: made.printed, read })
    }

    /// The result that another machine has stored, or one made here.
    fn make_front_end(&self, action: &FrontEnd<'_>) -> Result<MadeFrontEnd> {
        let shared = self.shared_front_end(action);
        if let Some(found) = shared.as_ref().and_then(|shared| self.stored_front_end(action, shared)) {
            self.count(Origin::Stored);
            return Ok(found);
        }
        let begun = Instant::now();
        let found = match self.execute_front_end(action) {
            Some(found) => found,
            None => {
                let Run { content, dependencies, printed } = self.run_settled(action)?;
                self.count(Origin::Here);
                MadeFrontEnd { made: Made { content, printed }, dependencies }
            }
        };
        if let Some(shared) = shared {
            self.store_front_end(&shared, &found, begun.elapsed());
        }
        Ok(found)
    }

    /// The result for recorded dependencies that are all as they were.
    fn known_result(&self, key: Key, action: &FrontEnd<'_>, known: &str) -> Option<FrontEndResult> {
        recorded(known).find_map(|text| {
            let dependencies = Dependencies::parse(text, |name| Some(PathBuf::from(name)))?;
            let dependencies = self.unchanged(action, dependencies)?;
            let result = result_key(key, text);
            let output = self.cache().get(result)?;
            let printed = self.cache().get_text(printed_key(result))?;
            self.depend(&dependencies);
            Some(FrontEndResult { output, printed, read: dependencies.paths() })
        })
    }

    /// Runs a front end, again if a file that it read was written meanwhile: what is recorded would be the content
    /// after the edit, and the output that of before.
    pub(super) fn run_settled(&self, action: &FrontEnd<'_>) -> Result<Run> {
        /// Limits the wait for a file that is written continuously.
        const ATTEMPTS: usize = 4;
        /// Clocks of file systems lag behind by a tick of the kernel.
        const TICK: Duration = Duration::from_millis(10);
        let mut attempt = 1;
        loop {
            let since = SystemTime::now() - TICK;
            let run = self.run_front_end(action)?;
            let written = run.dependencies.files.iter().any(|file| self.was_written(&file.path, since));
            if !written || attempt == ATTEMPTS {
                return Ok(run);
            }
            attempt += 1;
        }
    }

    /// Whether a file was written between `since` and now. A time in the future says nothing.
    fn was_written(&self, path: &Path, since: SystemTime) -> bool {
        let time = std::fs::metadata(self.root().join(path)).and_then(|data| data.modified());
        time.is_ok_and(|time| (since..=SystemTime::now()).contains(&time))
    }

    fn run_front_end(&self, action: &FrontEnd<'_>) -> Result<Run> {
        let scratch = fs::scratch(self.cache().dir())?;
        let output = scratch.path().join("out");
        let deps = scratch.path().join("deps");
        let file = action.args.iter().find_map(|arg| input_file(arg, scratch.path()));
        let input = action.input.as_deref();
        if let (Some(path), Some(text)) = (&file, input) {
            fs::publish(path, |out| out.write_all(text.as_bytes()))?;
        }
        let paths = ScratchPaths { scratch: scratch.path(), output: &output, deps: &deps };
        let invocation = Invocation {
            program: &action.tool.path,
            args: paths.args(action, &action.args),
            // Sources are named relative to here, so that no absolute path gets into the output.
            directory: self.root(),
            input: input.filter(|_| file.is_none()),
        };
        let texts = action.text_args();
        let printed = self.context().run_and_read(&invocation, |text| SearchPath::split(text, &texts));
        let printed = printed.or_else(|error| self.run_rewritten(action, &invocation, &paths, error));
        let (search, printed) = printed.map_err(|error| {
            let is_elsewhere = [AMDGCN, HOST].contains(&action.name);
            let devices = if is_elsewhere { Devices::Others } else { Devices::Nvidia };
            let error = headers::explained(self, devices, error);
            let error = templates::explained(&self.sources.module, error);
            gaps::explained(host_code::explained(if is_elsewhere { ptx::explained(error) } else { error }))
        })?;
        let content = self.without_inline_ptx(action, output_of(action.tool, &output)?);
        let mut read = Vec::new();
        for path in prerequisites(&fs::read_text(&deps)?) {
            if path == Path::new("-") || path.starts_with(scratch.path()) || own_headers::has(self, &path) {
                continue;
            }
            read.push(ReadFile { hash: self.content_hash(&path).unwrap_or_default(), path });
        }
        let dependencies = self.with_lookups(action, read, search);
        Ok(Run { content, dependencies, printed: printed.stderr })
    }

    /// The IR that a front end made, without inline PTX where the machine is not NVIDIA's.
    fn without_inline_ptx(&self, action: &FrontEnd<'_>, content: Vec<u8>) -> Vec<u8> {
        let is_nvidias = preprocessed::constraints(&action.args) == Constraints::Nvidia;
        let machine = match action.name {
            AMDGCN => Machine::Amd,
            HOST => Machine::Host,
            TYPES if !is_nvidias => Machine::Amd,
            _ => return content,
        };
        match std::str::from_utf8(&content) {
            Ok(text) => offload_ir::with_inline_ptx(text, machine).into_bytes(),
            Err(_) => content,
        }
    }

    /// The same with what nvcc compiles and clang refuses as clang takes it, after `error`, which is returned where nothing
    /// of that helps.
    fn run_rewritten(
        &self,
        action: &FrontEnd<'_>,
        invocation: &Invocation<'_>,
        paths: &ScratchPaths<'_>,
        mut error: Error,
    ) -> Result<(SearchPath, Output)> {
        let mut rewrites = Rewrites::default();
        while rewrites.add_for(&error) {
            match self.run_preprocessed(action, invocation, paths, rewrites) {
                Ok(Some(done)) => return Ok(done),
                Ok(None) => return Err(error),
                Err(next) => error = next,
            }
        }
        Err(error)
    }

    /// The same in two runs, the second of preprocessed text with `rewrites`; `None` if the action or the text is of another
    /// kind.
    fn run_preprocessed(
        &self,
        action: &FrontEnd<'_>,
        invocation: &Invocation<'_>,
        paths: &ScratchPaths<'_>,
        rewrites: Rewrites,
    ) -> Result<Option<(SearchPath, Output)>> {
        let Some(again) = preprocessed::for_preprocessed(&action.args) else { return Ok(None) };
        let Invocation { program, directory, input, .. } = *invocation;
        let args = paths.args(action, &preprocessed::preprocessing(&action.args));
        let preprocess = Invocation { program, args, directory, input };
        let texts = action.text_args();
        let (search, first) =
            self.context().run_and_read(&preprocess, |text| SearchPath::split(text, &texts))?;
        let text = String::from_utf8(output_of(action.tool, paths.output)?)
            .map_err(|error| Error::new(format!("preprocessed text is no UTF-8: {error}")))?;
        let constraints = preprocessed::constraints(&action.args);
        let Some(text) = rewrites.apply(&text, constraints) else { return Ok(None) };
        // What was read is known already.
        let deps = paths.scratch.join("deps of preprocessed text");
        let paths = ScratchPaths { deps: &deps, ..*paths };
        let args = paths.args(action, &again);
        let compile = Invocation { program, args, directory, input: Some(&text) };
        let (_, second) = self.context().run_and_read(&compile, |text| SearchPath::split(text, &texts))?;
        let stderr = [first.stderr, second.stderr].concat();
        Ok(Some((search, Output { stderr, ..second })))
    }

    /// Records what a front end depends on, newest first, and returns the key of its result.
    fn remember(&self, key: Key, known: &str, made: &Made, dependencies: &Dependencies) -> Result<Key> {
        self.depend(dependencies);
        let Some(text) = dependencies.to_text(|path| path.to_str().map(str::to_string)) else {
            // Of this build alone.
            return Ok(result_key(key, &Hash128::digest(&made.content).to_string()));
        };
        self.cache().put_dependencies(key, &with_newest(&text, known))?;
        Ok(result_key(key, &text))
    }

    pub(super) fn content_hash(&self, path: &Path) -> Option<String> {
        let content = std::fs::read(self.root().join(path)).ok()?;
        Some(Hash128::digest(&content).to_string())
    }

    /// Cargo runs the build script again when a file changes, or one comes into being in the package's own directories.
    fn depend(&self, dependencies: &Dependencies) {
        for file in &dependencies.files {
            self.env().depends_on_source(&self.root().join(&file.path));
        }
        let Some(lookups) = &dependencies.lookups else { return };
        let flags: Vec<&OsStr> = self.sources.flags.iter().map(OsString::as_os_str).collect();
        let own = directories(&flags, &["-I", "-iquote", "-isystem"]);
        for path in &lookups.absent {
            // Compilers' own directories change when these do.
            if path.is_relative() || own.iter().any(|directory| path.starts_with(directory)) {
                self.env().source_appears(&self.root().join(path));
            }
        }
    }
}

/// The files of a run.
#[derive(Clone, Copy, Debug)]
struct ScratchPaths<'p> {
    scratch: &'p Path,
    output: &'p Path,
    deps: &'p Path,
}

impl ScratchPaths<'_> {
    /// `args` as the compiler of `action` takes them, which prints its search path as well.
    fn args(&self, action: &FrontEnd<'_>, args: &[Arg]) -> Vec<OsString> {
        let mut all: Vec<OsString> = action.search_path_flags().iter().map(OsString::from).collect();
        all.extend(args.iter().map(|arg| match arg {
            Arg::Text(text) => text.clone(),
            Arg::Input(_) | Arg::Output => self.output.into(),
            Arg::Depfile => self.deps.into(),
            Arg::InputFile(_) => input_file(arg, self.scratch).unwrap_or_default().into(),
        }));
        all
    }
}

/// The file in `scratch` that an argument stands for.
fn input_file(arg: &Arg, scratch: &Path) -> Option<PathBuf> {
    match arg {
        Arg::InputFile(ending) => Some(scratch.join(format!("in{ending}"))),
        _ => None,
    }
}

/// The prerequisites of the first rule of a dependency file in make's syntax, as `clang -MD` writes it; on Windows with its line
/// ends.
fn prerequisites(text: &str) -> Vec<PathBuf> {
    let text = text.replace("\r\n", "\n");
    let mut paths = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match (char, chars.peek()) {
            ('\\', Some('\n')) => {
                chars.next();
                finish_word(&mut word, &mut paths);
            }
            ('\\', Some(next @ (' ' | '#'))) => {
                word.push(*next);
                chars.next();
            }
            ('$', Some('$')) => {
                word.push('$');
                chars.next();
            }
            (c, _) if c.is_whitespace() => finish_word(&mut word, &mut paths),
            (c, _) => word.push(c),
        }
    }
    finish_word(&mut word, &mut paths);
    paths
}

fn finish_word(word: &mut String, paths: &mut Vec<PathBuf>) {
    let done = std::mem::take(word);
    // Words up to the first `:` are the rule's target.
    if done.ends_with(':') {
        paths.clear();
    } else if !done.is_empty() {
        paths.push(done.into());
    }
}

/// The language, specialisation constants, the user's flags and the headers of imported libraries: for every target the
/// same but for the form of the constants.
pub(super) fn flags(sources: &Sources, language: Language, form: SpecForm) -> impl Iterator<Item = Arg> {
    let std = cl_std(sources);
    let fixed: Vec<String> = match language {
        Language::OpenClC => {
            let version = opencl_features::version(sources, &std);
            [vec!["-x".into(), "cl".into(), std, "-cl-kernel-arg-info".into()], Vec::from_iter(version)]
                .concat()
        }
        Language::OpenClCpp => {
            let flags = ["-x", "clcpp", "-cl-std=clc++2021", "-cl-kernel-arg-info"].map(str::to_string);
            flags.into_iter().chain(opencl_features::version(sources, "-cl-std=clc++2021")).collect()
        }
        // GNU's: gpuintrin.h has `asm`. Without a C library: there is none on a GPU, and headers of this machine's would be found otherwise.
        Language::C => ["-x", "c", "-std=gnu17", "-ffreestanding", "-nostdlibinc"].map(str::to_string).into(),
        Language::Cpp => {
            let rest = ["-ffreestanding", "-nostdlibinc", "-fno-exceptions", "-fno-rtti"];
            ["-x", "c++", "-std=gnu++20"].iter().chain(&rest).map(|flag| flag.to_string()).collect()
        }
        Language::Cuda => {
            let rest = ["--cuda-device-only", "-nocudalib", "-std=c++17", "-Wno-unknown-cuda-version"];
            ["-x", "cuda"].iter().chain(&rest).map(|flag| flag.to_string()).collect()
        }
        Language::Hip => {
            let rest =
                ["--cuda-device-only", "-nogpuinc", "-nogpulib", "--no-gpu-bundle-output", "-std=c++17"];
            // Clang would make calls of AMD's own library of printf.
            let rest = rest.iter().chain(&["-fno-builtin-printf"]);
            let flags = ["-x", "hip"].iter().chain(rest).map(|flag| flag.to_string());
            flags.chain(cuda_arch_macro(sources)).collect()
        }
        _ => vec!["-x".into(), "ir".into()],
    };
    let boolean = if language == Language::C { "_Bool" } else { "bool" };
    texts(fixed)
        .chain(texts(spec::definitions(&sources.spec, form, boolean)))
        .chain(texts(sources.flags.clone()))
        .chain(texts(sources.import_flags()))
}

/// `__CUDA_ARCH__` of CUDA C++ for other targets than NVIDIA's.
pub(super) fn cuda_arch(sources: &Sources) -> u32 {
    /// From this on CUDA has bfloat16 and all atomic functions.
    const DEFAULT: u32 = 800;
    sources.options.cuda_arch.unwrap_or(DEFAULT)
}

/// The same as a flag, for CUDA C++ that clang reads as another language.
fn cuda_arch_macro(sources: &Sources) -> Option<String> {
    let is_cuda = sources.files.iter().any(|file| file.language == Language::Cuda);
    is_cuda.then(|| format!("-D__CUDA_ARCH__={}", cuda_arch(sources)))
}

/// The version of OpenCL C, as a flag.
pub(super) fn cl_std(sources: &Sources) -> String {
    format!("-cl-std={}", sources.options.std.unwrap_or_default().flag())
}

/// The line that includes `file`.
pub(super) fn include_line(file: &Path) -> Result<String> {
    Ok(format!("#include \"{}\"\n", quotable(file)?))
}

/// A path as it may stand between the quotes of an `#include`.
fn quotable(file: &Path) -> Result<&str> {
    let text = file.to_str().filter(|text| !text.contains(['"', '\n', '\\']));
    text.ok_or_else(|| Error::new(format!("the path `{}` cannot be written in an #include", file.display())))
}

/// Unoptimised IR as text, ready for the optimiser, with a dependency file.
pub(super) fn front_end_output() -> impl Iterator<Item = Arg> {
    let fixed = ["-O2", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "-MD", "-MT", "out", "-MF"];
    texts(fixed).chain([Arg::Depfile, Arg::Text("-o".into()), Arg::Output])
}

/// As [`front_end_output`]: for HIP clang's driver takes no `-MF`, its inner compiler does.
pub(super) fn front_end_output_of_hip() -> impl Iterator<Item = Arg> {
    let fixed =
        ["-O2", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "-Xclang", "-MT", "-Xclang", "out"];
    let deps = ["-Xclang", "-dependency-file", "-Xclang"];
    texts(fixed).chain(texts(deps)).chain([Arg::Depfile, Arg::Text("-o".into()), Arg::Output])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn make_escapes() {
        let text = "out.ll: a.cl \\\n  dir\\ with/b\\#.h c$$d.h\n";
        let expected: Vec<PathBuf> = ["a.cl", "dir with/b#.h", "c$d.h"].map(PathBuf::from).into();
        assert_eq!(prerequisites(text), expected);
        assert_eq!(prerequisites(&text.replace('\n', "\r\n")), expected);
    }
}
