//! Changes of linked programs and libraries by `cargo offload`: what is left runs, and readers of other people see a sound
//! file.

use std::path::{Path, PathBuf};

use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;

use super::emulator::Emulator;
use super::folder::Folder;
use super::{Counts, run_program};

/// The Python library that reads PE files, from the registry of Python's packages.
const READER: &str = "pefile==2024.8.26";

/// What it is asked: whether it warns of the file, and whether the checksum and the places of symbols and sections are right.
/// lld writes no checksum for Microsoft's target: zero.
const QUESTIONS: &str = "
import pefile, sys
pe = pefile.PE(sys.argv[1])
problems = pe.get_warnings()
if pe.OPTIONAL_HEADER.CheckSum and not pe.verify_checksum(): problems.append('the checksum is wrong')
size = len(pe.__data__)
for section in pe.sections:
    if section.PointerToRawData + section.SizeOfRawData > size: problems.append(f'{section.Name} ends outside')
print(problems)
sys.exit(len(problems))
";

/// The program with the images of one target alone, with all of them in a file beside it, and with these put back, which gives
/// the first bytes again.
pub(super) fn check(changes: &Changes<'_>, program: &Path) -> Result<String> {
    let kept = changes.with_name("kept.exe")?;
    changes.offload(&["prune", "--keep", "opencl-c", "-o"], &[&kept, program])?;
    changes.expect(&kept, Counts { images: 3, launched: 1 })?;
    let apart = changes.with_name("apart.exe")?;
    changes.offload(&["repack", "--sidecar", "-o"], &[&apart, program])?;
    changes.expect(&apart, Counts { images: 9, launched: 2 })?;
    changes.offload(&["repack", "--embed", "--in-place"], &[&apart])?;
    changes.expect_same(&apart, program)?;
    Ok("pruned, apart, joined".to_string())
}

/// The same of a program that nothing here runs: its images are counted, and LLVM reads the file.
pub(super) fn check_unrun(changes: &Changes<'_>, program: &Path) -> Result<String> {
    changes.expect_extracted(program, 9)?;
    let kept = changes.with_name("kept")?;
    changes.offload(&["prune", "--keep", "opencl-c", "-o"], &[&kept, program])?;
    changes.expect_extracted(&kept, 3)?;
    let apart = changes.with_name("apart")?;
    changes.offload(&["repack", "--sidecar", "-o"], &[&apart, program])?;
    changes.expect_extracted(&apart, 9)?;
    changes.offload(&["repack", "--embed", "--in-place"], &[&apart])?;
    changes.expect_same(&apart, program)?;
    Ok("pruned, apart, joined".to_string())
}

/// The library for Windows with one kind of image, with all in a file beside it, and what is extracted of it. `loader` loads
/// each three times.
pub(super) fn check_library(changes: &Changes<'_>, loader: &Path, library: &Path) -> Result<String> {
    changes.expect_loaded(loader, library, 3)?;
    let kept = changes.with_name("kept.dll")?;
    changes.offload(&["prune", "--keep", "host", "-o"], &[&kept, library])?;
    changes.expect_sound(&kept)?;
    changes.offload(&["verify", "--require", "host"], &[&kept])?;
    changes.expect_loaded(loader, &kept, 1)?;
    let apart = changes.with_name("apart.dll")?;
    changes.offload(&["repack", "--sidecar", "-o"], &[&apart, library])?;
    changes.expect_sound(&apart)?;
    changes.expect_loaded(loader, &apart, 3)?;
    let extracted = changes.with_name("extracted")?;
    changes.offload(&["extract", "-o"], &[&extracted, &kept])?;
    let image = extracted.join("library.host.dll");
    let shell = &changes.workspace.shell;
    shell.cmd("llvm-objdump-22").arg("--private-headers").arg(&image).ignore_stdout().quiet().run()?;
    Ok("library: loaded, pruned, apart, extracted".to_string())
}

pub(super) struct Changes<'a> {
    workspace: &'a Workspace,
    folder: &'a Folder<'a>,
    emulator: Emulator,
    /// Python with the library.
    reader: PathBuf,
}

impl<'a> Changes<'a> {
    pub(super) fn new(
        workspace: &'a Workspace,
        folder: &'a Folder<'a>,
        emulator: Emulator,
    ) -> Result<Changes<'a>> {
        workspace.cargo().args(["build", "--quiet", "--package", "cargo-offload"]).quiet().run()?;
        Ok(Changes { workspace, folder, emulator, reader: reader(workspace, folder)? })
    }

    /// A path for a new file, where there is none.
    pub(super) fn with_name(&self, name: &str) -> Result<PathBuf> {
        let directory = self.workspace.shell.create_dir(self.folder.path("changed"))?;
        let path = directory.join(name);
        self.workspace.shell.remove_path(&path)?;
        Ok(path)
    }

    pub(super) fn offload(&self, words: &[&str], files: &[&Path]) -> Result<()> {
        let program = self.workspace.target_dir.join("debug/cargo-offload");
        let command = self.workspace.shell.cmd(program).arg("offload").args(words).args(files);
        Ok(command.ignore_stdout().quiet().run()?)
    }

    /// The file is sound for its own tool, for LLVM's and for pefile.
    fn expect_sound(&self, file: &Path) -> Result<()> {
        self.offload(&["verify"], &[file])?;
        let shell = &self.workspace.shell;
        shell.cmd("llvm-objdump-22").arg("--private-headers").arg(file).ignore_stdout().quiet().run()?;
        Ok(shell.cmd(&self.reader).args(["-c", QUESTIONS]).arg(file).ignore_stdout().quiet().run()?)
    }

    /// The library has so many images each time, and is unloaded where its kernels have not run in further threads.
    fn expect_loaded(&self, loader: &Path, library: &Path, images: usize) -> Result<()> {
        let mut command = self.emulator.command(self.folder, loader)?;
        command.arg(library);
        let output = run_program(command)?;
        let lines: Vec<&str> = output.lines().map(str::trim_end).collect();
        let last = format!("images {images} {images} {images}");
        if lines.starts_with(&["unloaded true", "unloaded true"]) && lines.last() == Some(&last.as_str()) {
            return Ok(());
        }
        Err(Error::new(format!("`{}`: not `{last}`:\n{output}", library.display())))
    }

    /// A program whose images went and came back is the first again.
    fn expect_same(&self, program: &Path, first: &Path) -> Result<()> {
        let shell = &self.workspace.shell;
        if shell.read_binary_file(program)? == shell.read_binary_file(first)? {
            return Ok(());
        }
        Err(Error::new(format!("`{}` differs from `{}`", program.display(), first.display())))
    }

    /// The file is sound, and has so many images.
    fn expect_extracted(&self, program: &Path, images: usize) -> Result<()> {
        self.offload(&["verify"], &[program])?;
        let shell = &self.workspace.shell;
        let headers = shell.cmd("llvm-objdump-22").args(["--macho", "--private-headers"]);
        headers.arg(program).ignore_stdout().quiet().run()?;
        let extracted = self.with_name("images")?;
        self.offload(&["extract", "-o"], &[&extracted, program])?;
        let found = shell.read_dir(&extracted)?.len();
        if found == images {
            return Ok(());
        }
        Err(Error::new(format!("`{}` has {found} images, not {images}", program.display())))
    }

    /// The program is sound, and has and runs so much.
    fn expect(&self, program: &Path, counts: Counts) -> Result<()> {
        self.expect_sound(program)?;
        let output = run_program(self.emulator.command(self.folder, program)?)?;
        if Counts::parse(&output) == Some(counts) {
            return Ok(());
        }
        Err(Error::new(format!("`{}`: not {counts:?}:\n{output}", program.display())))
    }
}

fn reader(workspace: &Workspace, folder: &Folder<'_>) -> Result<PathBuf> {
    let environment = folder.path("python");
    let python = environment.join("bin/python");
    if !python.is_file() {
        workspace.shell.cmd("python3").args(["-m", "venv"]).arg(&environment).quiet().run()?;
    }
    workspace.shell.cmd(&python).args(["-m", "pip", "install", "--quiet", READER]).quiet().run()?;
    Ok(python)
}
