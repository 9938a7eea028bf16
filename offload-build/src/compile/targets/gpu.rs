//! The pipeline that LLVM's GPU code generators share, from source files to one module of machine code.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;

use offload_format::pack::ArgKind;
use offload_ir::{LocalArguments, Output, Prepared};
use offload_workgroup::ir::declared_functions;

use crate::cache::{Blob, KeyBuilder};
use crate::compile::Session;
use crate::compile::front_end;
use crate::compile::front_end::own_headers;
use crate::compile::front_end::reading::{FrontEnd, TYPES};
use crate::compile::linking::distinct_names::with_distinct_names;
use crate::compile::linking::foreign_code::without_foreign_code;
use crate::compile::linking::imports::{self, Left, LibraryIr};
use crate::compile::linking::inline_functions;
use crate::compile::remote::roots::{RELATIVE_PATHS, Roots};
use crate::compile::session::{FrontEndResult, Unit};
use crate::compile::steps::action::{Arg, Step, link_args, texts};
use crate::compile::steps::check;
use crate::compile::targets::llvm_ir;
use crate::compile::targets::processor;
use crate::error::{self, Error, Result};
use crate::module::{Language, Library, SourceFile};
use crate::options::SpecForm;

/// printf and assert.
const OUTPUT_SOURCE: &str = include_str!("../device/device_output.c");
/// assert of SPIR-V.
const ASSERT_SOURCE: &str = concat!(
    include_str!("../device/spirv_builtins.h"),
    include_str!("../device/offload_failures.h"),
    include_str!("../device/spirv_assert.cl")
);

/// A module, and what it takes of libraries when it is loaded.
#[derive(Debug)]
pub(crate) struct ToLink {
    pub(crate) module: Blob,
    pub(crate) left: Vec<Left>,
}

/// How LLVM makes code for a processor.
#[derive(Debug)]
pub(crate) struct Backend {
    /// As `nvptx`; part of cache keys and messages.
    pub(crate) name: &'static str,
    /// Target, processor and its features for the front ends of portable languages.
    pub(crate) front_end: Vec<String>,
    /// Flags with the target's extensions, for the front ends of OpenCL.
    pub(crate) opencl: Vec<String>,
    /// The front end for OpenCL C that does for many processors what `front_end` does for one.
    pub(crate) common: Option<Vec<String>>,
    /// The same for CUDA C++.
    pub(crate) cuda: Vendor,
    /// The same with the headers of CUDA's toolkit, for sources that want them: a library may, and its importer not.
    pub(crate) cuda_sdk: Option<Vendor>,
    /// The same for HIP C++.
    pub(crate) hip: Vendor,
    /// The same for the code generator.
    pub(crate) machine: Vec<String>,
    /// OpenCL C that is linked before the libraries, because theirs is missing or wrong; and flags for it.
    pub(crate) shim: Shim,
    /// Bitcode with the languages' functions, in the order in which it is linked.
    pub(crate) libraries: Vec<PathBuf>,
    /// What specialisation constants are.
    pub(crate) spec: SpecForm,
    pub(crate) local_arguments: LocalArguments,
    pub(crate) constant_arguments: ConstantArguments,
    pub(crate) output: DeviceOutput,
    /// Whether copies of vectors become loads and stores and inline arithmetic is movable, as LLVM's passes need it for PTX.
    pub(crate) is_ptx: bool,
    /// Function attributes by kernel.
    pub(crate) attributes: BTreeMap<String, String>,
}

/// What becomes of kernel arguments that point to constant memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConstantArguments {
    /// They point to a buffer.
    Kept,
    /// They become pointers to global memory: NVIDIA's constant memory is a window of its own, where no buffer is.
    Global,
}

/// Who takes what kernels print, and their failed assertions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeviceOutput {
    /// The driver prints; offload-rt reads failed assertions (`spirv_assert.cl`).
    Driver,
    /// offload-rt, from memory of the device (`device_output.c`).
    Runtime,
}

/// OpenCL C of ours.
#[derive(Debug)]
pub(crate) struct Shim {
    pub(crate) source: &'static str,
    /// Flags of the machine, for C too.
    pub(crate) flags: Vec<String>,
    /// Flags of OpenCL C alone.
    pub(crate) opencl: Vec<String>,
}

/// What is asked of a code generator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Codegen<'a> {
    pub(crate) module: &'a Blob,
    /// The arguments that say which kind of output.
    pub(crate) output: &'a [&'a str],
}

/// How a vendor's own language is compiled.
#[derive(Clone, Debug)]
pub(crate) struct Vendor {
    /// As what clang reads it.
    pub(crate) dialect: Language,
    pub(crate) flags: Vec<String>,
    /// Goes before each file, in place of the vendor's headers.
    pub(crate) header: Cow<'static, str>,
}

impl Vendor {
    /// A language that no code for the target is made of.
    pub(crate) fn unserved(dialect: Language) -> Vendor {
        Vendor { dialect, flags: Vec::new(), header: "".into() }
    }
}

impl Backend {
    /// The unit as one module of IR that shows nothing but its kernels.
    pub(crate) fn module(&self, session: &Session<'_>, unit: &Unit<'_>) -> Result<Blob> {
        let own = link(session, self.files(session, unit)?)?;
        let linked = imports::link(session, own, &self.libraries(session)?)?;
        self.prepared(session, unit, &linked)
    }

    /// The same without what it imports: that is linked when the image is loaded.
    pub(crate) fn module_to_link(&self, session: &Session<'_>, unit: &Unit<'_>) -> Result<ToLink> {
        let own = link(session, self.files(session, unit)?)?;
        let left = imports::left(session, &own, &self.libraries(session)?)?;
        Ok(ToLink { module: self.prepared(session, unit, &own)?, left })
    }

    /// Each file of the unit, with what has code for the target.
    fn files(&self, session: &Session<'_>, unit: &Unit<'_>) -> Result<Vec<Blob>> {
        error::all(unit.scan.files.iter().map(|file| {
            let module = self.front_end(session, &file.file)?;
            without_foreign_code(session, file, module)
        }))
    }

    /// The library whose session this is, with all that it imports, as one module of IR that shows what others may call.
    pub(crate) fn exporting(&self, session: &Session<'_>, library: &Library) -> Result<Blob> {
        let ir = imports::link(session, self.library(session)?, &self.libraries(session)?)?;
        let hidden = imports::hidden(session, &LibraryIr { library, ir })?;
        let key = KeyBuilder::new("output of a library").part(&hidden.hash.0);
        session.cache().get_or(key.part(format!("{:?}", self.output).as_bytes()).finish(), || {
            let text = hidden.read_text()?;
            let output = match self.output {
                DeviceOutput::Driver => offload_ir::with_assertions(&text),
                DeviceOutput::Runtime => offload_ir::with_output(&text, Output::Library),
            };
            Ok(output.unwrap_or(text).into_bytes())
        })
    }

    fn libraries<'s>(&self, session: &Session<'s>) -> Result<Vec<LibraryIr<'s>>> {
        let libraries = session.sources.libraries().into_iter();
        error::all(
            libraries
                .map(|library| Ok(LibraryIr { library, ir: self.library(&session.for_library(library))? })),
        )
    }

    fn prepared(&self, session: &Session<'_>, unit: &Unit<'_>, linked: &Blob) -> Result<Blob> {
        let kernels = unit.names();
        let mut attributes = BTreeMap::new();
        attributes.extend(self.attributes.iter().map(|(name, text)| (name.as_str(), text.clone())));
        let wanted = Prepared { kernels: &kernels, attributes, local_arguments: self.local_arguments };
        let constants = self.constant_arguments == ConstantArguments::Global && has_constant_argument(unit);
        let name = if constants { "prepared, constants in global memory" } else { "prepared" };
        let key = KeyBuilder::new(name).part(&linked.hash.0);
        let key = if self.is_ptx { key.part(b"for PTX") } else { key };
        let linked_output = if session.sources.link_at_load() { Output::Linked } else { Output::Alone };
        let key = key.part(format!("{wanted:?} {:?} {linked_output:?}", self.output).as_bytes());
        session.cache().get_or::<Error>(key.finish(), || {
            let text = offload_ir::prepare(&linked.read_text()?, &wanted);
            let text = if constants { offload_ir::in_global_memory(&text) } else { text };
            let text = if self.is_ptx { offload_ir::for_ptx(&text) } else { text };
            let output = match self.output {
                DeviceOutput::Driver => offload_ir::with_assertions(&text),
                DeviceOutput::Runtime => offload_ir::with_output(&text, linked_output),
            };
            Ok(output.unwrap_or(text).into_bytes())
        })
    }

    /// All files of the library whose session this is, as one module of IR.
    pub(crate) fn library(&self, session: &Session<'_>) -> Result<Blob> {
        let files = session.sources.files.iter().map(|file| self.front_end(session, file));
        link(session, error::all(files)?)
    }

    /// Code for a module.
    pub(crate) fn codegen(
        &self,
        session: &Session<'_>,
        codegen: Codegen<'_>,
        check: impl Fn(&[u8]) -> Result<()>,
    ) -> Result<Blob> {
        let functions = self.functions(session, codegen.module)?;
        session.step(&self.codegen_step(session, codegen, &functions)?, check)
    }

    /// The functions of the languages that a module needs, as bitcode.
    pub(crate) fn functions(&self, session: &Session<'_>, module: &Blob) -> Result<Blob> {
        let shim = self.shim_bitcode(session)?;
        let prints = self.output_bitcode(session, module)?;
        match (self.libraries.as_slice(), prints.as_ref()) {
            ([], None) => Ok(shim),
            (others, output) => {
                let flags = self.module_flags(session)?;
                needed(session, module, &Libraries { output, first: &shim, others, flags })
            }
        }
    }

    /// Flags of the module that libraries are linked into. LLVM's libraries for AMD are of version 6 of the code object in
    /// releases 20 and 21, which the linker takes for another calling convention than that of version 5. It is the same one
    /// (<https://llvm.org/docs/AMDGPUUsage.html#code-object-metadata>): the flag overrides theirs.
    fn module_flags(&self, session: &Session<'_>) -> Result<String> {
        let is_old = session.tools().llvm()?.is_old();
        let version = self.shim.flags.iter().find_map(|flag| flag.strip_prefix("-mcode-object-version="));
        let Some(version) = version.filter(|_| is_old) else { return Ok(String::new()) };
        Ok(format!(
            "!llvm.module.flags = !{{!0}}\n!0 = !{{i32 4, !\"amdhsa_code_object_version\", i32 {version}00}}\n"
        ))
    }

    /// The step that makes code of a module and its [`Backend::functions`].
    pub(crate) fn codegen_step<'a>(
        &self,
        session: &Session<'a>,
        Codegen { module, output }: Codegen<'a>,
        functions: &'a Blob,
    ) -> Result<Step<'a>> {
        Ok(Step {
            name: self.name,
            tool: &session.tools().llvm()?.clang,
            args: self.codegen_args(output),
            inputs: vec![(module, ".ll"), (functions, ".bc")],
            files: vec![],
        })
    }

    /// Unoptimised IR of one file.
    pub(crate) fn front_end(&self, session: &Session<'_>, file: &SourceFile) -> Result<Blob> {
        let module = inline_functions::front_end(session, file.language, |flags| {
            self.as_written(session, file, flags)
        })?;
        with_distinct_names(session, file, module)
    }

    /// The same with inline functions as the language has them, with further `flags`.
    fn as_written(&self, session: &Session<'_>, file: &SourceFile, flags: &[&str]) -> Result<FrontEndResult> {
        if file.language == Language::LlvmIr {
            let output = llvm_ir::text(session, file)?;
            return Ok(FrontEndResult { output, printed: String::new(), read: Vec::new() });
        }
        if let Some(machine) = self
            .common
            .as_ref()
            .filter(|_| file.language == Language::OpenClC && processor::is_probed(session))
        {
            let done = self.written_for(machine, session, file, flags)?;
            if let Some(output) = processor::without(session, &done)? {
                return Ok(FrontEndResult { output, ..done });
            }
        }
        let vendor = self.vendor(session, file.language);
        let machine = vendor.map_or(&self.front_end, |vendor| &vendor.flags);
        let done = self.written_for(machine, session, file, flags)?;
        if vendor.is_some_and(|vendor| vendor.dialect == Language::Cuda) && session.tools().llvm()?.is_old() {
            let key = KeyBuilder::new("kernels by convention").part(&done.output.hash.0).finish();
            let output = session.cache().get_or::<Error>(key, || {
                Ok(offload_ir::with_conventions(&done.output.read_text()?).into_bytes())
            })?;
            return Ok(FrontEndResult { output, ..done });
        }
        Ok(done)
    }

    fn written_for(
        &self,
        machine: &[String],
        session: &Session<'_>,
        file: &SourceFile,
        flags: &[&str],
    ) -> Result<FrontEndResult> {
        let mut action = self.front_end_action(session, machine, file)?;
        action.args.splice(0..0, texts(flags.iter().copied()));
        let llvm = session.tools().llvm()?;
        session.front_end_result(&action).map_err(|error| llvm.explained(error))
    }

    /// How `language` is compiled in `session`, if it is a vendor's own.
    fn vendor(&self, session: &Session<'_>, language: Language) -> Option<&Vendor> {
        let wants_sdk = session.sources.options.cuda_sdk == Some(true);
        match language {
            Language::Cuda => Some(self.cuda_sdk.as_ref().filter(|_| wants_sdk).unwrap_or(&self.cuda)),
            Language::Hip => Some(&self.hip),
            _ => None,
        }
    }

    /// The same with debug information, which tells the types of arguments. OpenCL C tells them without.
    ///
    /// Code is made of the IR without it, so that no image depends on it.
    pub(crate) fn front_end_with_types(
        &self,
        session: &Session<'_>,
        source: &SourceFile,
    ) -> Result<Option<Blob>> {
        let machine = match (self.vendor(session, source.language), source.language) {
            (Some(vendor), _) => &vendor.flags,
            (None, Language::C | Language::Cpp) => &self.front_end,
            _ => return Ok(None),
        };
        let mut action = self.front_end_action(session, machine, source)?;
        action.name = TYPES;
        let file = action.args.pop();
        action.args.extend(texts(["-g", RELATIVE_PATHS]).chain(file));
        let module = session.front_end(&action)?;
        with_distinct_names(session, source, module).map(Some)
    }

    fn front_end_action<'a>(
        &self,
        session: &Session<'a>,
        machine: &[String],
        file: &SourceFile,
    ) -> Result<FrontEnd<'a>> {
        let vendor = self.vendor(session, file.language);
        let header = vendor.map_or("", |vendor| &vendor.header);
        let dialect = vendor.map_or(file.language, |vendor| vendor.dialect);
        let with_header = !header.is_empty();
        let input = if with_header {
            Some(format!("{header}{}", front_end::include_line(&file.path)?))
        } else {
            None
        };
        // Of it clang makes the name of a variable, of which linked files may have one each. By default that is the output's path.
        let mut unit = OsString::from("-cuid=");
        unit.push(&file.path);
        let unit = (dialect == Language::Hip).then_some(Arg::Text(unit));
        let last = if with_header { Arg::Text("-".into()) } else { Arg::Text(file.path.clone().into()) };
        Ok(FrontEnd {
            name: self.name,
            tool: &session.tools().llvm()?.clang,
            args: self.front_end_args(session, machine, dialect)?.chain(unit).chain([last]).collect(),
            input,
        })
    }

    fn front_end_args(
        &self,
        session: &Session<'_>,
        machine: &[String],
        language: Language,
    ) -> Result<impl Iterator<Item = Arg>> {
        let output: Vec<Arg> = match language {
            Language::Hip => front_end::front_end_output_of_hip().collect(),
            _ => front_end::front_end_output().collect(),
        };
        Ok(texts(machine.to_vec())
            .chain(texts(if language.has_opencl_functions() { self.opencl.clone() } else { Vec::new() }))
            .chain(own_headers::flags(session)?)
            .chain(Roots::for_session(session).prefix_maps())
            .chain(front_end::flags(session.sources, language, self.spec))
            .chain(self.debug_args(session))
            .chain(output))
    }

    /// Line tables for debuggers and profilers; they change no code. AMD's are always made: where
    /// the profile has no debug information the linker drops them, and nothing is compiled again. In PTX they are
    /// text that would have to be cut out, so there they follow the profile. LLVM writes none into SPIR-V.
    fn debug_args(&self, session: &Session<'_>) -> impl Iterator<Item = Arg> {
        let wanted = self.name == "amdgcn" || (self.name == "nvptx" && session.env().profile.debug_info);
        let args: &[&str] = if wanted { &["-gline-tables-only", RELATIVE_PATHS] } else { &[] };
        texts(args.iter().copied())
    }

    fn shim_bitcode(&self, session: &Session<'_>) -> Result<Blob> {
        self.own_bitcode(session, self.shim.source, &[])
    }

    /// The functions with which `module` prints and asserts, if it does.
    fn output_bitcode(&self, session: &Session<'_>, module: &Blob) -> Result<Option<Blob>> {
        let content = module.read()?;
        // OpenCL C of ours is bitcode, and has none.
        let text = std::str::from_utf8(&content).unwrap_or_default();
        if !offload_ir::has_output(text) {
            return Ok(None);
        }
        let has_kernels = offload_ir::has_kernel_names(text);
        let library = (!has_kernels).then(|| "-DOFFLOAD_LIBRARY".to_string());
        let made = match self.output {
            DeviceOutput::Driver => self.own_bitcode(session, ASSERT_SOURCE, library.as_slice()),
            DeviceOutput::Runtime => {
                let language =
                    ["-x", "c", "-std=gnu17", "-ffreestanding", "-fno-builtin"].map(str::to_string);
                let flags = self.shim.flags.iter().cloned().chain(language).chain(library);
                self.bitcode(session, OUTPUT_SOURCE, flags)
            }
        };
        made.map(Some)
    }

    /// Bitcode of OpenCL C of ours, which has no kernel of the user's. `defines` are flags behind those of the shim.
    pub(crate) fn own_bitcode(
        &self,
        session: &Session<'_>,
        source: &str,
        defines: &[String],
    ) -> Result<Blob> {
        let language = ["-x", "cl", "-cl-std=CL1.2"].map(str::to_string).into_iter();
        let flags = self.shim.flags.iter().chain(&self.shim.opencl).chain(defines).cloned();
        self.bitcode(session, source, language.chain(flags))
    }

    fn bitcode(
        &self,
        session: &Session<'_>,
        source: &str,
        flags: impl Iterator<Item = String>,
    ) -> Result<Blob> {
        let target = self.front_end.first().cloned().unwrap_or_default();
        let fixed = ["-nogpulib", "-O2", "-emit-llvm", "-c", "-MD", "-MT", "out", "-MF"];
        session.front_end(&FrontEnd {
            name: "shim",
            tool: &session.tools().llvm()?.clang,
            args: texts([target])
                .chain(texts(flags))
                .chain(texts(fixed))
                .chain([Arg::Depfile, Arg::Text("-o".into()), Arg::Output, Arg::Text("-".into())])
                .collect(),
            input: Some(source.to_string()),
        })
    }

    fn codegen_args(&self, output: &[&str]) -> Vec<Arg> {
        let library = ["-Xclang", "-mlink-builtin-bitcode", "-Xclang"];
        texts(self.machine.clone())
            .chain(texts(["-x", "ir", "-Wno-linker-warnings", "-Wno-override-module", "-nogpulib"]))
            .chain(texts(library))
            .chain([Arg::Input(1)])
            .chain(texts(output.iter().copied()))
            .chain([Arg::Text("-o".into()), Arg::Output, Arg::Input(0)])
            .collect()
    }
}

fn has_constant_argument(unit: &Unit<'_>) -> bool {
    unit.kernels.iter().any(|kernel| kernel.args.iter().any(|arg| arg.kind == ArgKind::Constant))
}

fn link(session: &Session<'_>, mut files: Vec<Blob>) -> Result<Blob> {
    if files.len() == 1
        && let Some(only) = files.pop()
    {
        return Ok(only);
    }
    let tool = session.tools().llvm_link()?;
    let inputs: Vec<_> = files.iter().map(|file| (file, ".ll")).collect();
    let args = link_args(inputs.len());
    session.step(&Step { name: "link", tool: &tool, args, inputs, files: vec![] }, check::ir_text)
}

/// The function libraries.
struct Libraries<'a> {
    /// How the module prints.
    output: Option<&'a Blob>,
    /// Ours.
    first: &'a Blob,
    /// For what it lacks.
    others: &'a [PathBuf],
    /// Of the module that they are linked into.
    flags: String,
}

/// The part of the function libraries that a module needs, cut out once for all processors: `first` and, for what it
/// lacks, `others`, as bitcode that has what `module` calls and what that needs. Like the
/// whole, it is for `-mlink-builtin-bitcode`, which gives the functions the processor's attributes.
///
/// LLVM's OpenCL C library for AMD is 8 MB of bitcode, and a code generator that is given it whole spends a third of
/// its time on reading it. Which functions are needed does not depend on the processor, and seldom on an edit.
fn needed(
    session: &Session<'_>,
    module: &Blob,
    Libraries { output, first, others, flags }: &Libraries<'_>,
) -> Result<Blob> {
    let key = KeyBuilder::new("calls").part(&module.hash.0).part(flags.as_bytes()).finish();
    let calls = session.cache().get_or::<Error>(key, || {
        let calls = calls(&declared_functions(&module.read_text()?));
        Ok(format!("{calls}{flags}").into_bytes())
    })?;
    let tool = session.tools().llvm_link()?;
    let step = Step {
        name: "library",
        tool: &tool,
        args: library_args(output.map(|_| Arg::Input(2)), others),
        inputs: [(&calls, ".ll"), (*first, ".bc")]
            .into_iter()
            .chain(output.map(|output| (output, ".bc")))
            .collect(),
        files: others.to_vec(),
    };
    let llvm = session.tools().llvm()?;
    session.step(&step, check::bitcode).map_err(|error| llvm.with_bitcode_of(others, error))
}

/// `output` is that of how the module prints.
fn library_args(output: Option<Arg>, others: &[PathBuf]) -> Vec<Arg> {
    // Before each of the others: the first may also replace what they call of each other.
    let pairs = others.iter().flat_map(|path| [Arg::Input(1), Arg::Text(path.clone().into())]);
    let alone = others.is_empty().then_some(Arg::Input(1));
    texts(["--only-needed", "-o"])
        .chain([Arg::Output, Arg::Input(0)])
        .chain(output)
        .chain(alone)
        .chain(pairs)
        .collect()
}

/// A function that calls all of `names`, because the linker drops unused declarations. The function itself has no caller,
/// so it is not linked into the module. Types do not matter: a definition replaces any declaration.
fn calls(names: &BTreeSet<&str>) -> String {
    let mut declarations = String::new();
    let mut body = String::new();
    for name in names {
        let _ = writeln!(declarations, "declare void @\"{name}\"()");
        let _ = writeln!(body, "  call void @\"{name}\"()");
    }
    format!("{declarations}define void @__offload_calls() {{\n{body}  ret void\n}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_called() {
        let text = calls(&["a", "b c"].into());
        let wanted = "declare void @\"a\"()\ndeclare void @\"b c\"()\ndefine void @__offload_calls() {\n  \
                      call void @\"a\"()\n  call void @\"b c\"()\n  ret void\n}\n";
        assert_eq!(text, wanted);
    }

    #[test]
    fn the_first_library_goes_before_the_others() {
        let args = library_args(None, &["x.bc".into(), "y.bc".into()]);
        let x = Arg::Text("x.bc".into());
        let y = Arg::Text("y.bc".into());
        assert_eq!(args[args.len() - 5..], [Arg::Input(0), Arg::Input(1), x, Arg::Input(1), y]);
        let args = library_args(Some(Arg::Input(2)), &[]);
        assert_eq!(args[args.len() - 3..], [Arg::Input(0), Arg::Input(2), Arg::Input(1)]);
    }
}
