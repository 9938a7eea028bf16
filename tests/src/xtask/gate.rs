//! `gate`: what `verify --require` says of ten public wheels, beside what NVIDIA's and LLVM's tools list.

mod theirs;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use serde_json::Value;

use self::theirs::{Judges, Listed};
use offload_tests::FIGURE;
use offload_tests::error::{Error, Result};
use offload_tests::setup::{self, Wheel};
use offload_tests::workspace::{Workspace, seconds};

pub(crate) const HELP: &str = "gate    judge ten public wheels with `verify --require`, and compare with cuobjdump and llvm-objdump

Every target that one of the tools finds in a library is required, and some that are not there: a library meets what the tool
lists, and nothing else. Wheels are downloaded under the target directory.";

/// As they stand in Python's package index.
const WHEELS: [&str; 10] = [
    "bitsandbytes==0.45.5",
    "ctranslate2==4.6.0",
    "cupy-rocm-5-0==13.3.0",
    "faiss-gpu-cu12==1.8.0.2",
    "jax-cuda12-plugin==0.5.0",
    "jax-rocm60-plugin==0.5.0",
    "nvidia-curand-cu12==10.3.10.19",
    "nvidia-nvjpeg-cu12==12.4.0.76",
    "torchaudio==2.6.0",
    "torchvision==0.21.0",
];

/// Required besides: no wheel has all of these, and some have none.
const OTHERS: [&str; 4] = ["cubin:sm_53", "nvptx:sm_121", "amdgcn:gfx803", "intel:pvc"];

/// How many images there are, by library of the wheel and target.
type Counts = BTreeMap<(String, String), u64>;

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    if !args.is_empty() {
        return Err(Error::new("`gate` takes no arguments"));
    }
    setup::ensure(workspace, &[setup::BUILD])?;
    let judges = Judges {
        cuobjdump: setup::ensure_wheel(workspace, Wheel::Fatbins)?.join("cuobjdump"),
        objdump: setup::llvm(workspace, "llvm-objdump")
            .ok_or_else(|| Error::new("llvm-objdump of LLVM 22 is missing"))?,
    };
    workspace.cargo().args(["build", "--quiet", "--release", "--package", "cargo-offload"]).run()?;
    let mut sum = Compared::default();
    for package in WHEELS {
        let compared = compare(workspace, &judges, package)?;
        sum.verdicts += compared.verdicts;
        sum.other += compared.other;
    }
    let Compared { verdicts, other } = sum;
    println!(
        "{FIGURE}{} wheels, {verdicts} verdicts; {other} other than cuobjdump's and llvm-objdump's",
        WHEELS.len()
    );
    Ok(if other == 0 && verdicts > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Verdicts about a library and a target, and how many are not what the tools say.
#[derive(Debug, Default)]
struct Compared {
    verdicts: u64,
    other: u64,
}

fn compare(workspace: &Workspace, judges: &Judges, package: &str) -> Result<Compared> {
    let wheel = setup::ensure_download(workspace, package)?;
    let unpacked = tempfile::tempdir_in(&workspace.target_dir)?;
    let unzip = workspace.shell.cmd("python3").args(["-m", "zipfile", "-e"]).arg(&wheel);
    unzip.arg(unpacked.path()).run()?;
    let Listed { counts: theirs, unfinished } = judges.list(unpacked.path())?;
    let found = theirs.keys().map(|(_, target)| target.clone());
    let demands: BTreeSet<String> = found.chain(OTHERS.map(str::to_string)).collect();
    let start = Instant::now();
    let ours = judged(&workspace.target_dir.join("release/cargo-offload"), &wheel, &demands)?;
    let time = seconds(start.elapsed());
    let libraries: BTreeSet<&String> = theirs.keys().chain(ours.keys()).map(|(library, _)| library).collect();
    let mut compared = Compared::default();
    for (library, demand) in libraries.iter().flat_map(|library| demands.iter().map(move |it| (library, it)))
    {
        let key = ((*library).clone(), demand.clone());
        let [modules, images] = [&ours, &theirs].map(|counts| counts.get(&key).copied().unwrap_or(0));
        compared.verdicts += 1;
        // A fatbin of NVIDIA's libraries may have several images for one architecture.
        let may_be_more = unfinished.contains(*library);
        let is_other = (modules > 0) != (images > 0) || modules > images;
        if is_other && !(may_be_more && modules >= images) {
            compared.other += 1;
            println!("{package}: {library}: {demand}: {modules} modules, {images} images by the tool");
        }
    }
    for library in &unfinished {
        println!("{package}: {library}: cuobjdump stops before its end");
    }
    let (libraries, targets, other) = (libraries.len(), demands.len(), compared.other);
    println!(
        "{package}: {libraries} libraries, {targets} targets, judged in {time}; {other} verdicts are other than the tools'"
    );
    Ok(compared)
}

/// How many modules of each library meet each demand.
fn judged(ours: &Path, wheel: &Path, demands: &BTreeSet<String>) -> Result<Counts> {
    let demands: Vec<&str> = demands.iter().map(String::as_str).collect();
    let mut command = Command::new(ours);
    command.args(["offload", "verify", "--json", "--require", &demands.join(",")]).arg(wheel);
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut counts = Counts::new();
    let mut is_whole = false;
    for line in text.lines() {
        let message: Value =
            serde_json::from_str(line).map_err(|error| Error::new(format!("{line}: {error}")))?;
        let text = |field: &str| message.get(field).and_then(Value::as_str).unwrap_or_default().to_string();
        match text("reason").as_str() {
            "met" => {
                let library = text("file").rsplit(": ").next().unwrap_or_default().to_string();
                let modules = message.get("modules").and_then(Value::as_array).map_or(0, Vec::len) as u64;
                *counts.entry((library, text("demand"))).or_default() += modules;
            }
            "unreadable" => {
                return Err(Error::new(format!("{}: {}", wheel.display(), text("problem"))));
            }
            "summary" => is_whole = true,
            _ => {}
        }
    }
    match is_whole {
        true => Ok(counts),
        false => Err(Error::new(format!("{}: {}", wheel.display(), String::from_utf8_lossy(&output.stderr)))),
    }
}
