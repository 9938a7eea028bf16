//! `bench read`: listing and extracting device images, with LLVM's tools beside.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use offload_tests::error::{Error, Result};
use offload_tests::setup::{self, Wheel};
use offload_tests::workspace::Workspace;

const RUNS: usize = 7;
/// How many times faster we have to be.
const FASTER: f64 = 5.0;
/// Which part of the memory we may take.
const MEMORY: f64 = 0.1;

const CARGO_OFFLOAD: [&str; 4] = ["--package", "cargo-offload", "--bin", "cargo-offload"];

/// Where our tool writes images; each tool of LLVM's has a beginning of names instead.
const OURS: &str = "ours";
const THEIRS: [&str; 2] = ["theirs", "program."];
/// What measures the least that a task can take writes what starts so.
const LEAST: &str = "least.";
/// The two halves of what is extracted.
const HALVES: [&str; 2] = ["half.0", "half.1"];

/// One thing that both sides do.
struct Task {
    name: &'static str,
    ours: Vec<String>,
    theirs: Vec<String>,
    /// Unavoidable parts of the task, as programs that do nothing else: a lower bound.
    least: Vec<Least>,
}

/// A part of a task, done by programs that run at the same time.
struct Least {
    name: &'static str,
    commands: Vec<Vec<String>>,
}

/// The best of several runs: seconds, and peak memory in bytes.
#[derive(Clone, Copy, Debug)]
struct Took {
    seconds: f64,
    peak: u64,
}

pub(super) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let json_to = match args {
        [] => workspace.target_dir.join("bench/read.json"),
        [flag, file] if flag == "--json" => PathBuf::from(file),
        _ => return Err(Error::new("`bench read` takes `--json FILE`").hint("cargo xtask bench read")),
    };
    setup::ensure(workspace, &[setup::BUILD, setup::BUNDLER, setup::READ])?;
    let dir = workspace.shell.create_dir(workspace.target_dir.join("bench/read"))?;
    let tasks = prepare(workspace, &dir)?;
    let mut rows = Vec::new();
    let mut all = ExitCode::SUCCESS;
    println!(
        "{:<30} {:>10} {:>10} {:>8} {:>9} {:>9} {:>8}",
        "", "ours", "LLVM", "faster", "ours", "LLVM", "memory"
    );
    for task in tasks {
        let ours = best(&dir, std::slice::from_ref(&task.ours))?;
        let theirs = best(&dir, std::slice::from_ref(&task.theirs))?;
        let mut least = Vec::new();
        for part in &task.least {
            least.push((part.name, best(&dir, &part.commands)?));
        }
        let faster = theirs.seconds / ours.seconds;
        let memory = ours.peak as f64 / theirs.peak as f64;
        let met = faster >= FASTER && memory <= MEMORY;
        if !met {
            all = ExitCode::FAILURE;
        }
        println!("{}", line(&task, (ours, theirs, &least), met));
        rows.push(row(&task, (ours, theirs, &least), met));
    }
    let report = json!({ "runs": RUNS, "limit": { "faster": FASTER, "memory": MEMORY }, "rows": rows });
    workspace.shell.write_file(&json_to, format!("{report:#}\n"))?;
    println!("best of {RUNS}; limit: {FASTER} times faster, {MEMORY} of the memory; {}", json_to.display());
    println!(
        "beside: one `cp` of what is extracted, and two at the same time of a half each; of a compressed bundle `md5sum` \
         of it, which LLVM's tools do not compare"
    );
    Ok(all)
}

/// What ours, LLVM's and the least of it took.
impl Took {
    fn mebibytes(self) -> f64 {
        self.peak as f64 / f64::from(1 << 20)
    }

    fn json(self) -> Value {
        json!({ "seconds": self.seconds, "peak": self.peak })
    }
}

type Measured<'m> = (Took, Took, &'m [(&'static str, Took)]);

fn line(task: &Task, (ours, theirs, least): Measured<'_>, met: bool) -> String {
    let least = least.iter().map(|(name, took)| format!("; {name} {:.1} ms", took.seconds * 1e3));
    format!(
        "{:<30} {:>7.1} ms {:>7.1} ms {:>7.1}x {:>5.1} MiB {:>5.1} MiB {:>8.3} {}{}",
        task.name,
        ours.seconds * 1e3,
        theirs.seconds * 1e3,
        theirs.seconds / ours.seconds,
        ours.mebibytes(),
        theirs.mebibytes(),
        ours.peak as f64 / theirs.peak as f64,
        if met { "met" } else { "MISSED" },
        least.collect::<String>()
    )
}

fn row(task: &Task, (ours, theirs, least): Measured<'_>, met: bool) -> Value {
    let least: serde_json::Map<_, _> =
        least.iter().map(|(name, least)| (name.to_string(), least.json())).collect();
    json!({ "name": task.name, "ours": ours.json(), "llvm": theirs.json(), "least": least, "met": met })
}

/// Inputs made of the largest bundle of a real library, in every container that LLVM's tools read.
fn prepare(workspace: &Workspace, dir: &Path) -> Result<Vec<Task>> {
    let build = ["build", "--release", "--quiet"];
    for what in [["--package", "offload-tests", "--example", "containers"], CARGO_OFFLOAD] {
        workspace.cargo().args(build).args(what).run()?;
    }
    let tool = text(&workspace.target_dir.join("release/cargo-offload"))?.to_string();
    let example = workspace.target_dir.join("release/examples/containers");
    let library = setup::ensure_wheel(workspace, Wheel::Bitsandbytes)?.join("libbitsandbytes_rocm714.so");
    let printed = workspace.shell.cmd(example).arg("prepare").arg(library).arg(dir).quiet().read()?;
    program(workspace, dir)?;
    let raw = workspace.shell.read_binary_file(dir.join("images.bundle"))?;
    let halves = raw.split_at(raw.len() / 2);
    for (name, half) in HALVES.into_iter().zip([halves.0, halves.1]) {
        workspace.shell.write_file(dir.join(name), half)?;
    }
    let ids = field(&printed, "ids")?;
    let arches = field(&printed, "arches")?;
    let tools = Tools {
        own: tool,
        objdump: llvm(workspace, "llvm-objdump")?,
        bundler: llvm(workspace, "clang-offload-bundler")?,
        packager: llvm(workspace, "llvm-offload-binary")?,
    };
    Ok(tasks(&tools, &ids, &arches))
}

/// What the example prints of `word`.
fn field(printed: &str, word: &str) -> Result<String> {
    let line = printed.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
    Ok(line.ok_or_else(|| Error::new(format!("the example says no {word}")))?.to_string())
}

fn llvm(workspace: &Workspace, name: &str) -> Result<String> {
    let found = setup::llvm(workspace, name);
    Ok(text(&found.ok_or_else(|| Error::new(format!("{name} of LLVM 22 is missing")))?)?.to_string())
}

/// A HIP program's object with the bundle in its section.
fn program(workspace: &Workspace, dir: &Path) -> Result<()> {
    let shell = &workspace.shell;
    shell.write_file(dir.join("host.c"), "int host;\n")?;
    let _in = shell.push_dir(dir);
    shell.cmd(llvm(workspace, "clang")?).args(["-c", "host.c", "-o", "host.o"]).quiet().run()?;
    let section = ["--add-section=.hip_fatbin=images.bundle", "host.o", "program"];
    shell.cmd(llvm(workspace, "llvm-objcopy")?).args(section).quiet().run()?;
    Ok(())
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

/// The programs that are compared.
struct Tools {
    own: String,
    objdump: String,
    bundler: String,
    packager: String,
}

impl Tools {
    fn inspect(&self, file: &str) -> Vec<String> {
        words(&[&self.own, "offload", "inspect", file])
    }

    fn extract(&self, file: &str) -> Vec<String> {
        words(&[&self.own, "offload", "extract", file, "--output", OURS])
    }

    fn list(&self, file: &str) -> Vec<String> {
        words(&[&self.bundler, "-type=bc", &format!("-input={file}"), "-list"])
    }

    fn unbundle(&self, file: &str, ids: &str) -> Vec<String> {
        let mut command = words(&[
            &self.bundler,
            "-type=bc",
            &format!("-input={file}"),
            "-unbundle",
            &format!("-targets={ids}"),
        ]);
        command.extend((0..ids.split(',').count()).map(|number| format!("-output=theirs{number}")));
        command
    }

    /// Takes each image out of an OffloadBinary.
    fn take(&self, file: &str, arches: &str) -> Vec<String> {
        let mut command = words(&[&self.packager, file]);
        command.extend(arches.split(',').map(|arch| format!("--image=file=theirs-{arch},arch={arch}")));
        command
    }
}

fn copy(file: &str) -> Vec<String> {
    words(&["cp", file, &format!("{LEAST}{file}")])
}

impl Task {
    fn new(name: &'static str, ours: Vec<String>, theirs: Vec<String>) -> Task {
        Task { name, ours, theirs, least: Vec::new() }
    }

    /// With copies of what is extracted beside it.
    fn with_copies(mut self) -> Task {
        self.least.push(Least { name: "cp", commands: vec![copy("images.bundle")] });
        self.least.push(Least { name: "two cp", commands: HALVES.map(copy).to_vec() });
        self
    }

    /// With a hash of what is extracted beside it.
    fn with_hash(mut self) -> Task {
        self.least.push(Least { name: "md5sum", commands: vec![words(&["md5sum", "images.bundle"])] });
        self
    }
}

fn tasks(tools: &Tools, ids: &str, arches: &str) -> Vec<Task> {
    vec![
        Task::new(
            "list and extract a HIP object",
            tools.extract("program"),
            words(&[&tools.objdump, "--offloading", "program"]),
        )
        .with_copies(),
        Task::new(
            "list OffloadBinary",
            tools.inspect("images.offload"),
            words(&[&tools.objdump, "--offloading", "images.offload"]),
        ),
        Task::new(
            "extract OffloadBinary",
            tools.extract("images.offload"),
            tools.take("images.offload", arches),
        )
        .with_copies(),
        Task::new("list a bundle", tools.inspect("images.bundle"), tools.list("images.bundle")),
        Task::new("extract a bundle", tools.extract("images.bundle"), tools.unbundle("images.bundle", ids))
            .with_copies(),
        Task::new("list a compressed bundle", tools.inspect("images.ccob"), tools.list("images.ccob")),
        Task::new(
            "extract a compressed bundle",
            tools.extract("images.ccob"),
            tools.unbundle("images.ccob", ids),
        )
        .with_copies()
        .with_hash(),
    ]
}

/// The first run warms the caches and does not count.
fn best(dir: &Path, commands: &[Vec<String>]) -> Result<Took> {
    let mut best = Took { seconds: f64::INFINITY, peak: u64::MAX };
    for run in 0..=RUNS {
        let took = once(dir, commands)?;
        if run > 0 {
            best = Took { seconds: best.seconds.min(took.seconds), peak: best.peak.min(took.peak) };
        }
    }
    Ok(best)
}

/// GNU time tells the memory; all sides run under it. What is extracted is new each time: over files that are there,
/// half of the time would be ext4's, which writes to the disk what takes the name of another file.
fn once(dir: &Path, commands: &[Vec<String>]) -> Result<Took> {
    clear(dir)?;
    let start = Instant::now();
    let mut running = Vec::new();
    for (number, command) in commands.iter().enumerate() {
        let mut time = Command::new("time");
        time.args(["-f", "%M", "-o", &format!("peak.{number}")]).args(command).current_dir(dir);
        time.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        running.push((command, time.spawn().map_err(|error| failed(command, error.to_string()))?));
    }
    let ended: Vec<_> =
        running.into_iter().map(|(command, child)| (command, child.wait_with_output())).collect();
    let seconds = start.elapsed().as_secs_f64();
    let mut peak = 0u64;
    for (number, (command, output)) in ended.into_iter().enumerate() {
        let output = output?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            return Err(failed(command, format!("{}\n{}", output.status, text.trim_end())));
        }
        let printed = std::fs::read_to_string(dir.join(format!("peak.{number}")))?;
        let kib =
            printed.trim().parse::<u64>().map_err(|_| failed(command, format!("`time` says {printed:?}")))?;
        peak = peak.saturating_add(kib.saturating_mul(1024));
    }
    Ok(Took { seconds, peak })
}

fn failed(command: &[String], what: String) -> Error {
    Error::new(format!("{}: {what}", command.join(" ")))
}

/// Removes what was extracted before.
fn clear(dir: &Path) -> Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name == OURS {
            std::fs::remove_dir_all(&path)?;
        } else if [LEAST].iter().chain(&THEIRS).any(|beginning| name.starts_with(beginning)) {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| Error::new(format!("{} is not UTF-8", path.display())))
}
