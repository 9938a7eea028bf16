//! `sycl`: SYCLBIN files of the example's kernels and made by hand, loaded and run by Intel's SYCL runtimes and by this
//! project's bundles, which have to agree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use xshell::Cmd;

use offload_tests::error::{Error, Result};
use offload_tests::fixture;
use offload_tests::setup::{self, Runtime, Toolkit};
use offload_tests::workspace::Workspace;

pub(crate) const HELP: &str =
    "sycl [--record]  compare Intel's SYCL runtimes and offload-rt on SYCLBIN files

The example's kernels in every state, also with native images of three vendors and written again by the runtime;
a kernel and the device library that it calls, exported from a program and linked by the runtime; modules that are linked; some 330 files that a runtime loads, passes over or refuses (--record writes down what it does
with files of which a byte was changed, and does nothing else). The same file with damaged
code must be refused, so that a run that never touched the file cannot pass.";

/// The module of example-app that holds the kernels.
const MODULE: &str = "demo";
const KERNELS: &str = "saxpy,matmul,reduce";
const STATES: [&str; 3] = ["input", "object", "executable"];
/// Named in the source as SYCL looks for them: native images are not renamed.
const NATIVES: &str = r#"targets = ["spirv64", "intel:pvc", "cubin:sm_90", "amdgcn:gfx90a"]
[modules.demo]
flags = [
    "-Dsaxpy=__sycl_kernel_saxpy", "-Dmatmul=__sycl_kernel_matmul",
    "-Dreduce=__sycl_kernel_reduce", "-Dhistogram=__sycl_kernel_histogram",
]
"#;

/// What Intel's runtime does with files of which one byte was changed.
const CHANGES: &str = "tests/examples/sycl/changes.txt";

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    setup::ensure(workspace, &[setup::BUILD, setup::GPUS, setup::SYCL])?;
    let bench = Bench::new(workspace)?;
    if args.iter().any(|arg| arg == "--record") {
        bench.record()?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut counts = BTreeMap::new();
    bench.links(&mut counts)?;
    bench.example(&mut counts)?;
    bench.natives(&mut counts)?;
    bench.old_runtime(&mut counts)?;
    bench.cases(&mut counts)?;
    let counts: Vec<String> = counts.into_iter().map(|(what, count)| format!("{count} {what}")).collect();
    println!("sycl: ok: {}", counts.join(", "));
    Ok(ExitCode::SUCCESS)
}

/// How often something was seen.
type Counts = BTreeMap<&'static str, u64>;

/// What the runs need.
struct Bench<'w> {
    workspace: &'w Workspace,
    dir: PathBuf,
    intel: PathBuf,
    /// The host program with Intel's runtime.
    host: PathBuf,
    /// The same with this project's bundles.
    ours: PathBuf,
}

/// How a program ended, with what it printed of kernels.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Ran(String),
    Refused,
}

impl<'w> Bench<'w> {
    fn new(workspace: &'w Workspace) -> Result<Bench<'w>> {
        let dir = workspace.shell.create_dir(workspace.target_dir.join("sycl"))?;
        let intel = setup::ensure_intel(workspace, Runtime::Sycl)?;
        let host = compile_host(workspace, &intel, &dir.join("host"))?;
        workspace.cargo().args(["build", "--package", "cargo-offload", "--bins"]).run()?;
        workspace.cargo().args(["build", "--package", "offload-tests", "--example", "sycl"]).run()?;
        let ours = workspace.target_dir.join("debug/examples/sycl");
        Ok(Bench { workspace, dir, intel, host, ours })
    }

    fn ours(&self) -> Cmd<'_> {
        on_runtime(self.workspace.shell.cmd(&self.ours), &self.intel)
    }

    fn host(&self) -> Cmd<'_> {
        on_runtime(self.workspace.shell.cmd(&self.host), &self.intel)
    }

    /// The kernels of the example, in every state, and written again.
    fn example(&self, counts: &mut Counts) -> Result<()> {
        let program = self.build_example()?;
        for state in STATES {
            let file = self.export(&program, state, &[])?;
            self.agree((state, KERNELS), &[&file], "right")?;
            let spec = outcome(self.ours().args(["run", "spec", state, KERNELS]).arg(&file))?;
            expect(&spec, &all_right(KERNELS), &file)?;
            self.verify(&file)?;
            self.refused_when_damaged(&file, state)?;
            self.saved_again(&file, state)?;
            *counts.entry("states of the example's kernels").or_default() += 1;
            *counts.entry("files written again").or_default() += 2;
        }
        Ok(())
    }

    /// A file with code for GPUs of three vendors beside the SPIR-V.
    fn natives(&self, counts: &mut Counts) -> Result<()> {
        let config = self.dir.join("natives.toml");
        self.workspace.shell.write_file(&config, NATIVES)?;
        let program = self.build_natives(&config)?;
        let targets = ["intel:pvc", "cubin:sm_90", "amdgcn:gfx90a"].map(|target| ["--target", target]);
        for state in STATES {
            let file = self.export(&program, state, &targets.concat())?;
            self.agree((state, KERNELS), &[&file], "right")?;
            *counts.entry("files with Intel, NVIDIA and AMD code").or_default() += 1;
        }
        Ok(())
    }

    /// A kernel and the device library that it imports, from one program: the runtime links them.
    fn links(&self, counts: &mut Counts) -> Result<()> {
        let src = self.dir.join("links");
        fixture::copy(self.workspace, "sycl-links", &src)?;
        let program = {
            let _in = self.workspace.shell.push_dir(&src);
            let target = self.dir.join("target");
            let build = self.workspace.cargo().arg("build").env("CARGO_TARGET_DIR", &target);
            build.env("OFFLOAD_TARGETS", "spirv64").run()?;
            target.join("debug/fixture")
        };
        for state in ["object", "input"] {
            let importer = self.export_link("importer", &program, state, &["calls"])?;
            let exporter = self.export_link("exporter", &program, state, &["plus"])?;
            let both = self.export_link("both", &program, state, &["calls", "plus"])?;
            self.agree((state, "calls"), &[&both], "right")?;
            self.verify(&both)?;
            if state == "input" {
                continue;
            }
            self.agree((state, "calls"), &[&importer, &exporter], "right")?;
            self.agree((state, "calls"), &[&exporter, &importer], "right")?;
            self.agree((state, "calls"), &[&importer], "refused")?;
            self.agree((state, "calls"), &[&importer, &exporter, &exporter], "refused")?;
            let damaged = self.damaged(&exporter)?;
            self.agree((state, "calls"), &[&importer, &damaged], "refused")?;
            let tool = self.workspace.shell.cmd(self.tool()).args(["offload", "verify"]);
            tool.arg(&importer).arg("--linked-with").arg(&exporter).quiet().run()?;
        }
        *counts.entry("ways to link a kernel with its device library").or_default() += 4;
        Ok(())
    }

    fn export_link(&self, name: &str, program: &Path, state: &str, modules: &[&str]) -> Result<PathBuf> {
        let args: Vec<&str> = modules.iter().flat_map(|module| ["--module", module]).collect();
        self.export_to(&format!("links-{name}-{state}.syclbin"), program, state, &args)
    }

    /// The release that reads another number for a SYCLBIN.
    fn old_runtime(&self, counts: &mut Counts) -> Result<()> {
        let intel = setup::ensure_intel(self.workspace, Runtime::Sycl2025)?;
        let host = compile_host(self.workspace, &intel, &self.dir.join("host-2025.3"))?;
        let program = self.build_example()?;
        for state in STATES {
            let file = self.export(&program, state, &["--runtime", "2025.3"])?;
            let ran = on_runtime(self.workspace.shell.cmd(&host).args([state, KERNELS]).arg(&file), &intel);
            expect(&outcome(ran)?, &all_right(KERNELS), &file)?;
            *counts.entry("files for oneAPI 2025.3").or_default() += 1;
        }
        Ok(())
    }

    /// Files made by hand: both programs have to come to the same end, and to the one that is expected.
    fn cases(&self, counts: &mut Counts) -> Result<()> {
        let mut surprises = 0;
        let listed = self.ours().arg("cases").arg(self.dir.join("cases")).read()?;
        for line in listed.lines() {
            let words: Vec<&str> = line.split('\t').collect();
            let [outcome, state, kernel, files @ ..] = words.as_slice() else {
                return Err(Error::new(format!("`{line}` is no case")));
            };
            let files: Vec<&Path> = files.iter().map(Path::new).collect();
            if let Err(error) = self.agree((state, kernel), &files, outcome) {
                // The next one says something of its own even where this one failed.
                println!("sycl: {error}");
                surprises += 1;
                continue;
            }
            let what = match *outcome {
                "right" => "files that run",
                "tolerated" => "damaged files that run",
                "absent" | "elsewhere" => "files whose kernel is not for the device",
                _ => "files that are refused",
            };
            *counts.entry(what).or_default() += 1;
        }
        match surprises {
            0 => Ok(()),
            surprises => Err(Error::new(format!("{surprises} files do not do what is expected"))),
        }
    }

    fn record(&self) -> Result<()> {
        let mut table = "# What oneAPI 2026.2 does when a byte is another: offset, outcome.\n".to_string();
        let listed = self.ours().arg("cases").arg(self.dir.join("cases")).read()?;
        for line in listed.lines() {
            let Some((_, file)) = line.rsplit_once('\t') else { continue };
            let Some((_, name)) = file.rsplit_once("change-") else { continue };
            let found = match outcome(self.host().args(["executable", "saxpy", file]))? {
                Outcome::Refused => "refused",
                Outcome::Ran(text) if text.ends_with("absent") => "absent",
                Outcome::Ran(_) => "right",
            };
            table.push_str(&format!("{} {found}\n", name.trim_end_matches(".syclbin")));
        }
        Ok(self.workspace.shell.write_file(self.workspace.root.join(CHANGES), table)?)
    }

    fn agree(&self, (state, kernels): (&str, &str), files: &[&Path], expected: &str) -> Result<()> {
        let theirs = outcome(self.host().args([state, kernels]).args(files))?;
        let ours = outcome(self.ours().args(["run", "runtime", state, kernels]).args(files))?;
        let first = files.first().copied().unwrap_or(Path::new(""));
        let wanted = match expected {
            "refused" => Outcome::Refused,
            "absent" | "elsewhere" => Outcome::Ran(format!("{kernels} absent")),
            _ => all_right(kernels),
        };
        expect(&theirs, &wanted, first).map_err(|error| Error::new(format!("Intel's runtime: {error}")))?;
        if expected == "tolerated" && ours == Outcome::Refused {
            return Ok(());
        }
        expect(&ours, &wanted, first).map_err(|error| Error::new(format!("offload-rt: {error}")))
    }

    /// Intel's runtime writes the file again, and so do we: both hold the same, and run in both.
    fn saved_again(&self, file: &Path, state: &str) -> Result<()> {
        let theirs = file.with_extension("theirs.syclbin");
        let ours = file.with_extension("ours.syclbin");
        self.host()
            .arg("--resave")
            .arg(&theirs)
            .args([state, KERNELS])
            .arg(file)
            .quiet()
            .ignore_stdout()
            .run()?;
        self.ours().args(["save", state]).arg(file).arg(&ours).quiet().run()?;
        for again in [&theirs, &ours] {
            self.ours().arg("same").arg(file).arg(again).quiet().run()?;
            self.agree((state, KERNELS), &[again], "right")?;
        }
        Ok(())
    }

    fn build_example(&self) -> Result<PathBuf> {
        let build = self.workspace.cargo().args(["build", "--package", "example-app"]);
        let cuda = setup::ensure_cuda(self.workspace, Toolkit::Ptxas)?;
        build.env("OFFLOAD_CONFIG", self.workspace.root.join("offload.toml")).env("CUDA_PATH", cuda).run()?;
        Ok(self.workspace.target_dir.join("debug/example-app"))
    }

    /// A program of its own: what the example calls is named otherwise.
    fn build_natives(&self, config: &Path) -> Result<PathBuf> {
        let src = self.dir.join("natives");
        fixture::copy(self.workspace, "sycl", &src)?;
        let cuda = setup::ensure_cuda(self.workspace, Toolkit::Ptxas)?;
        let _in = self.workspace.shell.push_dir(&src);
        let target = self.dir.join("target");
        let build = self.workspace.cargo().arg("build").env("CARGO_TARGET_DIR", &target);
        build.env("OFFLOAD_CONFIG", config).env("CUDA_PATH", cuda).run()?;
        Ok(target.join("debug/fixture"))
    }

    fn export(&self, program: &Path, state: &str, args: &[&str]) -> Result<PathBuf> {
        let name = format!("{state}-{}.syclbin", args.len());
        self.export_to(&name, program, state, &[&["--module", MODULE], args].concat())
    }

    fn export_to(&self, name: &str, program: &Path, state: &str, args: &[&str]) -> Result<PathBuf> {
        let file = self.dir.join(name);
        let tool = self.workspace.shell.cmd(self.tool());
        let tool = tool.args(["offload", "export", "--force", "--format", "syclbin", "--state", state, "-o"]);
        tool.arg(&file).args(args).arg(program).quiet().run()?;
        Ok(file)
    }

    fn verify(&self, file: &Path) -> Result<()> {
        let tool = self.workspace.shell.cmd(self.tool());
        Ok(tool.args(["offload", "verify"]).arg(file).quiet().run()?)
    }

    fn tool(&self) -> PathBuf {
        self.workspace.target_dir.join("debug/cargo-offload")
    }

    fn refused_when_damaged(&self, file: &Path, state: &str) -> Result<()> {
        self.agree((state, KERNELS), &[&self.damaged(file)?], "refused")
    }

    /// A copy whose SPIR-V is none.
    fn damaged(&self, file: &Path) -> Result<PathBuf> {
        let mut bytes = self.workspace.shell.read_binary_file(file)?;
        let magic = 0x0723_0203_u32.to_le_bytes();
        let spirv = bytes.windows(4).position(|window| window == magic);
        let spirv = spirv.ok_or_else(|| Error::new(format!("{} holds no SPIR-V", file.display())))?;
        if let Some(word) = bytes.get_mut(spirv..spirv.saturating_add(4)) {
            word.fill(0);
        }
        let damaged = file.with_extension("damaged.syclbin");
        self.workspace.shell.write_file(&damaged, bytes)?;
        Ok(damaged)
    }
}

fn compile_host(workspace: &Workspace, intel: &Path, host: &Path) -> Result<PathBuf> {
    let compiler =
        workspace.shell.cmd("g++").args(["-std=c++17", "-O1", "-isystem"]).arg(intel.join("include"));
    let compiler = compiler.arg("tests/sycl/host.cpp").arg("-o").arg(host).arg("-L").arg(intel.join("lib"));
    compiler.args(["-lsycl", "-Wl,--allow-shlib-undefined"]).run()?;
    Ok(host.to_path_buf())
}

/// Runs a program on Intel's CPU device, with every other OpenCL driver hidden.
fn on_runtime<'a>(cmd: Cmd<'a>, intel: &Path) -> Cmd<'a> {
    let lib = intel.join("lib");
    cmd.env("OCL_ICD_FILENAMES", lib.join("libintelocl.so"))
        .env("LD_LIBRARY_PATH", lib)
        .env("OCL_ICD_VENDORS", "/nonexistent")
        .env("ONEAPI_DEVICE_SELECTOR", "opencl:cpu")
}

/// A refusal has an exit code of its own. A process that a signal ended, or the driver with the number of one, was not
/// able to say so.
fn outcome(cmd: Cmd<'_>) -> Result<Outcome> {
    let text = cmd.to_string();
    let output = cmd.quiet().ignore_status().ignore_stderr().output()?;
    match output.status.code() {
        Some(0) => Ok(Outcome::Ran(String::from_utf8_lossy(&output.stdout).trim().to_string())),
        Some(3 | 15) | None => Ok(Outcome::Refused),
        Some(code) => Err(Error::new(format!("`{text}` ended with {code}"))),
    }
}

fn all_right(kernels: &str) -> Outcome {
    let lines: Vec<String> = kernels.split(',').map(|kernel| format!("{kernel} right")).collect();
    Outcome::Ran(lines.join("\n"))
}

fn expect(found: &Outcome, wanted: &Outcome, file: &Path) -> Result<()> {
    if found == wanted {
        return Ok(());
    }
    Err(Error::new(format!("{}: {found:?}, but {wanted:?} is expected", file.display())))
}
