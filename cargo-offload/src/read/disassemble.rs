//! Disassembly by the vendors' tools, which are looked up as the compilers of a build are.
//!
//! | image | tool |
//! |---|---|
//! | code for AMD GPUs and for CPUs | LLVM's `llvm-objdump` |
//! | cubins | NVIDIA's `nvdisasm` |
//! | SPIR-V | `spirv-dis` |
//! | code for Intel GPUs | `ocloc disasm` with Intel's library IGA |
//! | PTX, source | none: they are text |

mod cut;
mod iga;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use object::read::{NameOrOrdinal, Object, ObjectSymbol};
use offload_build::shared::toolchain::{Component, Output, Toolchain};
use offload_format::section::RUN_PREFIX;

use crate::error::{Error, IoContext, Result};

/// An image, and what of it is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) image: &'a [u8],
    /// The kernel; all code without it.
    pub(crate) kernel: Option<&'a str>,
    /// For which Intel device the image is, as `pvc`, if it is for one: the image does not say it in words.
    pub(crate) intel_device: Option<&'a str>,
}

/// The code of `request` as text, with the lines of its source where the image has them. Names are as they are in the
/// file. `directory` stands for the package that would be built: paths in variables are relative to it.
///
/// # Errors
/// The tool is not installed (the message says where it was looked for, and how to install it) or fails; nothing shows
/// images of the format; the image has no such kernel.
pub(crate) fn text(request: Request<'_>, directory: &Path) -> Result<String> {
    match kind(request.image) {
        Some(ImageFormat::Object) => Job::new(directory, Component::LlvmObjdump)?.objdump(request),
        Some(ImageFormat::Cubin) => Job::new(directory, Component::Nvdisasm)?.nvdisasm(request),
        Some(ImageFormat::SpirV) => Job::new(directory, Component::SpirvDis)?.spirv_dis(request),
        Some(ImageFormat::Zebin) => Job::new(directory, Component::Ocloc)?.with_iga()?.ocloc(request),
        Some(ImageFormat::Ptx(text)) => part(request, text, cut::ptx),
        // A macro may write a kernel's name.
        Some(ImageFormat::Source(text)) => {
            Ok(part(request, text, cut::source).unwrap_or_else(|_| text.to_string()))
        }
        None => Err(Error::check("no disassembler is known for images of this format")),
    }
}

/// Image format, which determines the disassembler.
enum ImageFormat<'a> {
    /// ELF, or PE for the CPUs of Windows.
    Object,
    Cubin,
    SpirV,
    Zebin,
    Ptx(&'a str),
    Source(&'a str),
}

fn kind(image: &[u8]) -> Option<ImageFormat<'_>> {
    use offload_containers::carrier::FileKind;
    match FileKind::detect(image) {
        Some(FileKind::AmdCodeObject | FileKind::Elf | FileKind::Pe) => Some(ImageFormat::Object),
        Some(FileKind::Cubin) => Some(ImageFormat::Cubin),
        Some(FileKind::SpirV) => Some(ImageFormat::SpirV),
        Some(FileKind::Zebin) => Some(ImageFormat::Zebin),
        Some(FileKind::Ptx) => std::str::from_utf8(image).ok().map(ImageFormat::Ptx),
        // Source has no zeros; what has them would be pages of escapes.
        None if image.contains(&0) => None,
        None => std::str::from_utf8(image).ok().map(ImageFormat::Source),
        Some(_) => None,
    }
}

/// The kernel's part of `text`, or all of it.
fn part(request: Request<'_>, text: &str, cut: fn(&str, &str) -> Option<String>) -> Result<String> {
    match request.kernel {
        None => Ok(text.to_string()),
        Some(kernel) => cut(text, kernel).ok_or_else(|| no_kernel(kernel)),
    }
}

fn no_kernel(kernel: &str) -> Error {
    Error::check(format!("the image has no code of a kernel `{kernel}`"))
}

/// A tool at work in a directory of its own.
struct Job {
    toolchain: Toolchain,
    program: PathBuf,
    scratch: tempfile::TempDir,
}

/// The image in the tool's directory.
const IMAGE: &str = "image";

impl Job {
    fn new(directory: &Path, tool: Component) -> Result<Job> {
        let scratch = tempfile::tempdir().io_context("create", "a temporary directory")?;
        let toolchain = Toolchain::for_directory(directory).map_err(from_build)?;
        let program = toolchain.find(tool).map_err(from_build)?.path;
        Ok(Job { toolchain, program, scratch })
    }

    /// The same where ocloc finds Intel's library, if it is installed.
    fn with_iga(self) -> Result<Job> {
        let libraries = self.scratch.path().join("libraries");
        iga::provide(&self.program, &libraries).io_context("write", &libraries)?;
        Ok(Job { toolchain: self.toolchain.with_libraries(&libraries), ..self })
    }

    fn run(&self, image: &[u8], args: &[&str]) -> Result<Output> {
        let path = self.scratch.path().join(IMAGE);
        fs::write(&path, image).io_context("write", &path)?;
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        self.toolchain.run(&self.program, &args, self.scratch.path()).map_err(from_build)
    }

    /// `--line-numbers` names file and line where there is a line table, and is harmless where there is none.
    fn objdump(&self, request: Request<'_>) -> Result<String> {
        let symbol = request.kernel.map(|kernel| symbol(request.image, kernel)).transpose()?;
        let which =
            symbol.map_or("--disassemble".to_string(), |name| format!("--disassemble-symbols={name}"));
        let text = self.run(request.image, &[&which, "--line-numbers", "--no-show-raw-insn", IMAGE])?.stdout;
        // The first lines name the temporary file.
        let code = text.find("\nDisassembly of section").map_or(0, |at| at.saturating_add(1));
        Ok(text.get(code..).unwrap_or_default().to_string())
    }

    /// `-c` leaves out data, `-g` adds lines.
    fn nvdisasm(&self, request: Request<'_>) -> Result<String> {
        part(request, &self.run(request.image, &["-c", "-g", IMAGE])?.stdout, cut::section)
    }

    fn spirv_dis(&self, request: Request<'_>) -> Result<String> {
        part(request, &self.run(request.image, &["--no-color", "--no-header", IMAGE])?.stdout, cut::spirv)
    }

    /// ocloc writes a file for each kernel, and succeeds without them if it does not find its library.
    fn ocloc(&self, request: Request<'_>) -> Result<String> {
        let device = request.intel_device.map(|device| ["-device", device]);
        let mut args = vec!["disasm", "-file", IMAGE, "-dump", "dump"];
        args.extend(device.iter().flatten());
        let dump = self.scratch.path().join("dump");
        fs::create_dir_all(&dump).io_context("create", &dump)?;
        self.run(request.image, &args)?;
        let files = files(&dump)?;
        let texts: Vec<String> = files
            .iter()
            .filter(|path| match (path.file_name().and_then(|name| name.to_str()), request.kernel) {
                (Some(name), Some(kernel)) => name == format!(".text.{kernel}.asm"),
                (Some(name), None) => name.starts_with(".text.") && name.ends_with(".asm"),
                (None, _) => false,
            })
            .map(|path| read(path))
            .collect::<Result<_>>()?;
        if !texts.is_empty() {
            return Ok(texts.join("\n"));
        }
        let shown = files.iter().any(|path| path.extension().is_some_and(|end| end == "asm"));
        Err(match request.kernel.filter(|_| shown) {
            Some(kernel) => no_kernel(kernel),
            None => Error::check("ocloc cannot disassemble: Intel's library IGA is missing").hint(
                "install the library libiga64.so of Intel's graphics compiler (Debian 12: the package libigc1)",
            ),
        })
    }
}

fn from_build(error: offload_build::Error) -> Error {
    Error::from_build(error).failed_check()
}

/// The files in a directory, sorted.
fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir).io_context("list", dir)?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<_>>()
        .io_context("list", dir)?;
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).io_context("read", path)
}

/// The kernel's symbol. In code for CPUs entries have another name than kernels.
fn symbol(image: &[u8], kernel: &str) -> Result<String> {
    let Ok(file) = object::File::parse(image) else { return Err(no_kernel(kernel)) };
    for name in [kernel.to_string(), format!("{RUN_PREFIX}{kernel}")] {
        let mut symbols = file.symbols().chain(file.dynamic_symbols());
        // A DLL has a table of exports instead of symbols.
        let mut exports = file.exports().into_iter().flatten().flatten();
        if symbols.any(|symbol| symbol.name().is_ok_and(|other| other == name))
            || exports.any(|export| export.name() == NameOrOrdinal::Name(name.as_bytes()))
        {
            return Ok(name);
        }
    }
    Err(no_kernel(kernel))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_needs_no_tool() {
        let image = b".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry f()\n{\n\tret;\n}\n.visible .entry g()\n{\n}\n";
        let request = Request { image, kernel: Some("f"), intel_device: None };
        assert_eq!(text(request, Path::new(".")).unwrap(), ".visible .entry f()\n{\n\tret;\n}\n");
    }
}
