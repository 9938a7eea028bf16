//! Changes of the linked program by `cargo offload`: what is left runs, and readers of other people see a sound file.

use std::path::{Path, PathBuf};

use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;

use super::emulator::Emulator;
use super::folder::Folder;
use super::{Counts, run_program};

/// The Python library that reads PE files, from the registry of Python's packages.
const READER: &str = "pefile==2024.8.26";

/// What it is asked: whether it warns of the file, and whether the checksum and the places of symbols and sections are right.
const QUESTIONS: &str = "
import pefile, sys
pe = pefile.PE(sys.argv[1])
problems = pe.get_warnings()
if not pe.verify_checksum(): problems.append('the checksum is wrong')
size = len(pe.__data__)
for section in pe.sections:
    if section.PointerToRawData + section.SizeOfRawData > size: problems.append(f'{section.Name} ends outside')
print(problems)
sys.exit(len(problems))
";

/// The program with the images of one target alone, with all of them in a file beside it, and with these put back, which gives
/// the first bytes again.
pub(super) fn check(
    workspace: &Workspace,
    folder: &Folder<'_>,
    emulator: Emulator,
    program: &Path,
) -> Result<String> {
    workspace.cargo().args(["build", "--quiet", "--package", "cargo-offload"]).quiet().run()?;
    let changes = Changes { workspace, folder, emulator, reader: reader(workspace, folder)? };
    let kept = changes.with_name("kept.exe")?;
    changes.offload(&["prune", "--keep", "opencl-c", "-o"], &[&kept, program])?;
    changes.expect(&kept, Counts { images: 3, launched: 1 })?;
    let apart = changes.with_name("apart.exe")?;
    changes.offload(&["repack", "--sidecar", "-o"], &[&apart, program])?;
    changes.expect(&apart, Counts { images: 9, launched: 2 })?;
    changes.offload(&["repack", "--embed", "--in-place"], &[&apart])?;
    let shell = &workspace.shell;
    if shell.read_binary_file(&apart)? != shell.read_binary_file(program)? {
        return Err(Error::new("a program whose images went and came back is another one"));
    }
    Ok("pruned, apart, joined".to_string())
}

struct Changes<'a> {
    workspace: &'a Workspace,
    folder: &'a Folder<'a>,
    emulator: Emulator,
    /// Python with the library.
    reader: PathBuf,
}

impl Changes<'_> {
    /// A path for a new file, where there is none.
    fn with_name(&self, name: &str) -> Result<PathBuf> {
        let directory = self.workspace.shell.create_dir(self.folder.path("changed"))?;
        let path = directory.join(name);
        self.workspace.shell.remove_path(&path)?;
        Ok(path)
    }

    fn offload(&self, words: &[&str], files: &[&Path]) -> Result<()> {
        let program = self.workspace.target_dir.join("debug/cargo-offload");
        let command = self.workspace.shell.cmd(program).arg("offload").args(words).args(files);
        Ok(command.ignore_stdout().quiet().run()?)
    }

    /// The program is sound for its own tool, for LLVM's and for pefile, and has and runs so much.
    fn expect(&self, program: &Path, counts: Counts) -> Result<()> {
        self.offload(&["verify"], &[program])?;
        let shell = &self.workspace.shell;
        shell.cmd("llvm-objdump-22").arg("--private-headers").arg(program).ignore_stdout().quiet().run()?;
        shell.cmd(&self.reader).args(["-c", QUESTIONS]).arg(program).ignore_stdout().quiet().run()?;
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
