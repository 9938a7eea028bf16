//! Tools of other projects that read device images.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::KERNELS;
use offload_tests::error::{Error, Result};
use offload_tests::setup;
use offload_tests::workspace::Workspace;

/// Where the readers are.
#[derive(Debug)]
pub(super) struct Readers {
    spirv_val: PathBuf,
    readelf: PathBuf,
    ar: PathBuf,
    clang: PathBuf,
    ptxas: PathBuf,
}

impl Readers {
    pub(super) fn find(workspace: &Workspace, cuda: &Path) -> Result<Readers> {
        Ok(Readers {
            spirv_val: workspace.program("spirv-val").ok_or_else(|| missing("spirv-val"))?,
            readelf: llvm(workspace, "llvm-readelf")?,
            ar: llvm(workspace, "llvm-ar")?,
            clang: llvm(workspace, "clang")?,
            ptxas: cuda.join("bin/ptxas"),
        })
    }

    /// Reads the image of `target` in `file`; the name of the reader.
    pub(super) fn read(&self, target: &str, file: &Path) -> Result<&'static str> {
        match target.split(':').next().unwrap_or_default() {
            "spirv64" => self.spirv(target, file),
            "nvptx" => self.ptx(target, file),
            "intel" => self.intel(file),
            "cubin" => self.elf(file, ["-SW"], |kernel| format!(".text.{kernel}")),
            "amdgcn" => self.amd(target, file),
            "host" => self.elf(file, ["--dyn-syms"], |kernel| format!("__offload_run_{kernel}")),
            "opencl-c" => {
                let args = ["-x", "cl", "-cl-std=CL1.2", "--target=spirv64-unknown-unknown", "-fsyntax-only"];
                run(Command::new(&self.clang).args(args).arg(file)).map(|_| "clang -fsyntax-only")
            }
            _ => Err(Error::new("there is no reader for it")),
        }
    }

    /// Fails if the reader takes the same image with a piece missing.
    pub(super) fn refuses_damage(&self, target: &str, file: &Path) -> Result<()> {
        let bytes = std::fs::read(file)?;
        let half = file.with_extension("damaged");
        std::fs::write(&half, bytes.get(..bytes.len() / 2).unwrap_or_default())?;
        match self.read(target, &half) {
            Ok(reader) => {
                Err(Error::new(format!("{reader} accepts half an image of {target}: it proves nothing")))
            }
            Err(_) => Ok(()),
        }
    }

    fn spirv(&self, target: &str, file: &Path) -> Result<&'static str> {
        run(Command::new(&self.spirv_val).arg(file))?;
        let minor = target.split_once(":v1.").map_or(2, |(_, minor)| minor.parse().unwrap_or(u8::MAX));
        let bytes = std::fs::read(file)?;
        expect(bytes.get(5..7) == Some(&[minor, 1]), "the version in the header is another one")?;
        // Names are read from the text form of nothing but the file itself: entry points are plain strings.
        for kernel in KERNELS {
            let name = [kernel.as_bytes(), b"\0"].concat();
            expect(bytes.windows(name.len()).any(|part| part == name), kernel)?;
        }
        Ok("spirv-val")
    }

    /// NVIDIA's assembler takes the text, and `-v` names every kernel that it made.
    fn ptx(&self, target: &str, file: &Path) -> Result<&'static str> {
        let sm = target.split_once(':').map(|(_, sm)| sm).unwrap_or_default();
        let output = file.with_extension("checked");
        let listing = run(Command::new(&self.ptxas).args(["-v", "-arch", sm, "-o"]).arg(&output).arg(file))?;
        names(&listing, |kernel| format!("'{kernel}' for '{sm}'"))?;
        expect(!std::fs::read_to_string(file)?.contains(".extern .func"), "a function is left undefined")?;
        Ok("ptxas")
    }

    fn intel(&self, file: &Path) -> Result<&'static str> {
        if !std::fs::read(file)?.starts_with(b"!<arch>") {
            return self.elf(file, ["-SW"], |kernel| format!(".text.{kernel}"));
        }
        let dir = tempfile::tempdir()?;
        run(Command::new(&self.ar).arg("x").arg(file.canonicalize()?).current_dir(dir.path()))?;
        let mut images = 0;
        for entry in std::fs::read_dir(dir.path())? {
            let member = entry?.path();
            if std::fs::read(&member)?.starts_with(b"\x7fELF") {
                self.elf(&member, ["-SW"], |kernel| format!(".text.{kernel}"))?;
                images += 1;
            }
        }
        expect(images > 0, "the archive has no image")?;
        Ok("llvm-ar, llvm-readelf")
    }

    fn amd(&self, target: &str, file: &Path) -> Result<&'static str> {
        let listing = run(Command::new(&self.readelf).args(["--notes", "--dyn-syms", "-W"]).arg(file))?;
        names(&listing, |kernel| format!("{kernel}.kd"))?;
        let processor = target.strip_prefix("amdgcn:").unwrap_or_default();
        // YAML puts names with a colon between quotes.
        let named = ["\n", "'"].map(|end| format!("amdgcn-amd-amdhsa--{processor}{end}"));
        expect(named.iter().any(|name| listing.contains(name)), "the note names another processor")?;
        expect(!listing.contains(" UND _"), "a symbol is left undefined")?;
        Ok("llvm-readelf")
    }

    fn elf<const N: usize>(
        &self,
        file: &Path,
        args: [&str; N],
        name: impl Fn(&str) -> String,
    ) -> Result<&'static str> {
        let listing = run(Command::new(&self.readelf).args(args).arg(file))?;
        names(&listing, name)?;
        Ok("llvm-readelf")
    }
}

fn llvm(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    setup::llvm(workspace, name).ok_or_else(|| missing(name))
}

fn missing(name: &str) -> Error {
    Error::new(format!("{name} was not found"))
}

fn names(listing: &str, name: impl Fn(&str) -> String) -> Result<()> {
    KERNELS.iter().try_for_each(|kernel| expect(listing.contains(&name(kernel)), kernel))
}

fn expect(holds: bool, what: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::new(format!("missing or wrong: {what}"))) }
}

/// What the tool printed; a warning counts as a failure, since readers of ELF warn of broken files and exit with 0.
fn run(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    let listing =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    let clean = output.status.success() && !listing.contains("warning: ");
    if clean { Ok(listing) } else { Err(Error::new(format!("{command:?}: {}", listing.trim()))) }
}
