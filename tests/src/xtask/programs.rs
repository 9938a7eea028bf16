//! `programs`: kernels of public OpenCL programs, for every kind of target.

mod list;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use offload_tests::error::{Error, Result};
use offload_tests::setup::{self, Toolkit};
use offload_tests::table::Table;
use offload_tests::workspace::Workspace;
use offload_tests::{CUDA_VAR, FIGURE};

use self::list::{KNOWN, PROGRAMS, Program};

pub(crate) const HELP: &str = "programs [NAME]...  compile kernels of public OpenCL programs for every kind of target

The sources are those of Debian's packages, which are downloaded below the target directory. A source that clang itself does
not take, without this project, fails the task. The table shows what does not compile, and why; kernels with images need a
device with images, and are counted apart. Fails if something else does not compile that is not known with a reason
(`tests/src/xtask/programs/list.rs`). With names, those programs alone.";

const TARGETS: [&str; 6] = ["host", "spirv64", "intel:pvc", "nvptx:sm_75", "amdgcn:gfx90a", "opencl-c"];

/// The columns of the table.
const HEADING: [&str; 8] =
    ["program", "file", "host", "spirv64", "intel:pvc", "nvptx:sm_75", "amdgcn:gfx90a", "opencl-c"];

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let names: Vec<&str> = PROGRAMS.iter().map(|program| program.name).collect();
    if let Some(other) = args.iter().find(|arg| !names.contains(&arg.as_str())) {
        return Err(Error::new(format!("there is no program `{other}`"))
            .hint(format!("they are {}", names.join(", "))));
    }
    setup::ensure(workspace, &[setup::BUILD, setup::GPUS])?;
    let survey = Survey::new(workspace)?;
    let mut sum = Sum::default();
    let mut table = Table::new(HEADING);
    for program in
        PROGRAMS.iter().filter(|program| args.is_empty() || args.iter().any(|arg| arg == program.name))
    {
        let root = survey.unpacked(program)?;
        for file in program.files {
            let source = survey.source(program, file, &root)?;
            survey.taken_by_clang(&source)?;
            let mut cells = vec![program.name.to_string(), (*file).to_string()];
            for target in TARGETS {
                let verdict = survey.compile(&source, target)?;
                cells.push(sum.add(file, target, verdict));
            }
            println!("{}", cells.join("  "));
            let cells: [String; HEADING.len()] =
                cells.try_into().map_err(|_| Error::new("a row has as many cells as the heading"))?;
            table.row(cells);
            sum.files += 1;
        }
    }
    println!("\n{table}");
    sum.notes.iter().for_each(|note| println!("{note}"));
    println!(
        "{FIGURE}{} files, {} images built, {} with images where there are none, {} known, {} not compiled",
        sum.files, sum.built, sum.images, sum.known, sum.failed
    );
    Ok(if sum.failed == 0 && sum.built > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What became of a source on a target: nothing, or the message.
type Verdict = std::result::Result<(), String>;

#[derive(Default)]
struct Sum {
    files: usize,
    built: usize,
    images: usize,
    known: usize,
    failed: usize,
    notes: Vec<String>,
}

impl Sum {
    /// Counts a verdict, and says it in a word.
    fn add(&mut self, file: &str, target: &str, verdict: Verdict) -> String {
        let Err(message) = verdict else {
            self.built += 1;
            return "ok".to_string();
        };
        if is_about_images(&message) {
            self.images += 1;
            return "images".to_string();
        }
        let number = self.notes.len() + 1;
        let known = KNOWN.iter().find(|known| known.file == file && target.starts_with(known.target));
        let reason = known.map_or(message.as_str(), |known| known.reason);
        let note = format!("[{number}] {file} for {target}: {reason}");
        println!("{note}");
        self.notes.push(note);
        match known {
            Some(_) => self.known += 1,
            None => self.failed += 1,
        }
        format!("{} [{number}]", if known.is_some() { "known" } else { "error" })
    }
}

/// GPUs of NVIDIA and AMD are given no images, and SPIR-V lacks one of their functions.
fn is_about_images(message: &str) -> bool {
    let words = [" takes the image `", " takes the sampler `", "`get_image_channel_order`"];
    words.iter().any(|word| message.contains(word))
}

/// A source as the package is given it.
struct Source {
    path: PathBuf,
    includes: Vec<PathBuf>,
    flags: &'static [&'static str],
}

/// A package whose build script compiles one source for one target.
struct Survey<'a> {
    workspace: &'a Workspace,
    directory: PathBuf,
    clang: PathBuf,
    cuda: PathBuf,
}

const MANIFEST: &str = "[package]\nname = \"public-kernels\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n\
                        [workspace]\n\n[build-dependencies]\noffload-build = { path = \"@ROOT@/offload-build\" }\n";

const BUILD: &str = r#"fn main() {
    println!("cargo::rerun-if-env-changed=PROGRAM_RUN");
    let source = std::env::var("PROGRAM_SOURCE").unwrap();
    let mut build = offload_build::Build::new();
    for flag in std::env::var("PROGRAM_FLAGS").unwrap().lines() {
        build.flag(flag);
    }
    build.flag("-w").file(source).compile("program");
}
"#;

impl<'a> Survey<'a> {
    fn new(workspace: &'a Workspace) -> Result<Survey<'a>> {
        let directory = workspace.target_dir.join("programs");
        let package = directory.join("package");
        fs::create_dir_all(package.join("src"))?;
        // A source that an earlier run has left there would be included in place of the program's.
        let kernels = package.join("kernels");
        if kernels.is_dir() {
            fs::remove_dir_all(kernels)?;
        }
        fs::write(
            package.join("Cargo.toml"),
            MANIFEST.replace("@ROOT@", &workspace.root.display().to_string()),
        )?;
        fs::write(package.join("build.rs"), BUILD)?;
        fs::write(package.join("src/main.rs"), "fn main() {}\n")?;
        fs::copy(workspace.root.join("Cargo.lock"), package.join("Cargo.lock"))?;
        let clang =
            setup::llvm(workspace, "clang").ok_or_else(|| Error::new("clang of LLVM 22 is missing"))?;
        let cuda = setup::ensure_cuda(workspace, Toolkit::Ptxas)?;
        Ok(Survey { workspace, directory, clang, cuda })
    }

    /// The program's sources, downloaded once.
    fn unpacked(&self, program: &Program) -> Result<PathBuf> {
        let directory = self.directory.join(program.package);
        if !directory.join(program.root).is_dir() {
            let shell = &self.workspace.shell;
            let _directory = shell.push_dir(&self.directory);
            shell
                .cmd("apt-get")
                .args(["download", "--quiet", "--option=DPkg::Lock::Timeout=300", program.package])
                .run()
                .map_err(|error| {
                    Error::new(error.to_string()).hint("the sources are in packages of Debian's")
                })?;
            let start = format!("{}_", program.package);
            let mut entries = fs::read_dir(&self.directory)?.filter_map(|entry| Some(entry.ok()?.path()));
            let archive = entries
                .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&start)));
            let archive = archive.ok_or_else(|| Error::new("apt-get downloaded nothing"))?;
            shell.cmd("dpkg-deb").arg("-x").arg(archive).arg(&directory).run()?;
        }
        Ok(directory.join(program.root))
    }

    fn source(&self, program: &Program, file: &str, root: &Path) -> Result<Source> {
        let kernels = self.directory.join("package/kernels");
        fs::create_dir_all(&kernels)?;
        // Some sources include it for an editor's sake.
        fs::write(kernels.join("for_eclipse.h"), "")?;
        let silx = self.directory.join("python3-silx/usr/lib/python3/dist-packages/silx/resources/opencl");
        let mut text = String::new();
        for name in program.before.iter().chain([&file]) {
            text.push_str(&format!("#include \"{name}\"\n"));
        }
        // A file of the program's own name would include itself.
        let path = Path::new("kernels").join(format!("{}-{}", program.name, file.replace('/', "-")));
        fs::write(self.directory.join("package").join(&path), text + program.behind)?;
        Ok(Source { path, includes: vec![root.to_path_buf(), kernels, silx], flags: program.flags })
    }

    /// What the sources are given beside the target.
    fn flags(source: &Source) -> Vec<String> {
        let includes = source.includes.iter().map(|path| format!("-I{}", path.display()));
        includes.chain(source.flags.iter().map(|flag| (*flag).to_string())).collect()
    }

    fn taken_by_clang(&self, source: &Source) -> Result<()> {
        let mut clang = Command::new(&self.clang);
        clang.args(["--target=spirv64", "-x", "cl", "-cl-std=CL1.2", "-w", "-fsyntax-only"]);
        clang.args(Self::flags(source)).arg(&source.path).current_dir(self.directory.join("package"));
        let output = clang.output()?;
        if output.status.success() {
            Ok(())
        } else {
            Err(Error::new(format!(
                "clang does not take {}:\n{}",
                source.path.display(),
                String::from_utf8_lossy(&output.stderr)
            )))
        }
    }

    fn compile(&self, source: &Source, target: &str) -> Result<Verdict> {
        let mut cargo = Command::new(self.workspace.cargo_path());
        cargo
            .args(["build", "--quiet", "--release"])
            .current_dir(self.directory.join("package"))
            .env("CARGO_TARGET_DIR", self.directory.join("target"))
            .env("OFFLOAD_CACHE_DIR", self.directory.join("cache"))
            .env("OFFLOAD_TARGETS", target)
            .env(CUDA_VAR, &self.cuda)
            .env("PROGRAM_SOURCE", &source.path)
            .env("PROGRAM_FLAGS", Self::flags(source).join("\n"))
            .env("PROGRAM_RUN", format!("{target} {}", source.path.display()));
        let output = cargo.output()?;
        if output.status.success() {
            return Ok(Ok(()));
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        let start = stderr.find("error: cannot compile").unwrap_or_default();
        let lines = stderr.get(start..).unwrap_or_default().lines().skip(1).take(4);
        Ok(Err(lines.map(str::trim).collect::<Vec<_>>().join(" / ").chars().take(600).collect()))
    }
}
