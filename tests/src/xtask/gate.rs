//! `gate`: what `verify --require` says of public wheels, beside what NVIDIA's and LLVM's tools list.

mod theirs;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use serde_json::Value;

use self::theirs::{Judges, Listed};
use offload_tests::FIGURE;
use offload_tests::error::{Error, Result};
use offload_tests::setup::{self, Wheel, WheelSystem};
use offload_tests::workspace::Workspace;

pub(crate) const HELP: &str = "gate [--quick]  check public wheels with `verify --require`, compared with cuobjdump and llvm-objdump

Every target that one of the tools finds in a library is required, and some that are not there: a library meets what the tool
lists, and nothing else. Of DLLs, cuobjdump reads the section with fatbins. A wheel of up to 100 MB is checked in a second, or the task fails; a larger one may take as much longer.
Wheels are downloaded under the target directory. --quick checks three small ones with a development build and no
time limit.";

/// What is judged, and by which build.
struct Form {
    /// As they stand in Python's package index.
    wheels: &'static [&'static str],
    /// The same for Windows.
    windows: &'static [&'static str],
    profile: Profile,
}

#[derive(Clone, Copy, PartialEq)]
enum Profile {
    Dev,
    Release,
}

/// The first wheel is larger than 100 MB.
const WHOLE: Form = Form {
    profile: Profile::Release,
    wheels: &[
        "bitsandbytes==0.42.0",
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
    ],
    windows: &[
        "bitsandbytes==0.45.5",
        "ctranslate2==4.6.0",
        "cupy-cuda12x==13.3.0",
        "nvidia-nvjpeg-cu12==12.4.0.76",
    ],
};

const QUICK: Form = Form {
    profile: Profile::Dev,
    wheels: &["jax-rocm60-plugin==0.5.0", "nvidia-nvjpeg-cu12==12.4.0.76", "torchaudio==2.6.0"],
    windows: &[],
};

/// How many bytes of a wheel are judged in a second.
const BYTES_A_SECOND: f64 = 100e6;

/// Required besides: no wheel has all of these, and some have none.
const OTHERS: [&str; 4] = ["cubin:sm_53", "nvptx:sm_121", "amdgcn:gfx803", "intel:pvc"];

/// How many images there are, by library of the wheel and target.
type Counts = BTreeMap<(String, String), u64>;

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let form = match args {
        [] => WHOLE,
        [flag] if flag == "--quick" => QUICK,
        _ => return Err(Error::new("`gate` takes `--quick` and nothing else")),
    };
    setup::ensure(workspace, &[setup::BUILD])?;
    let judges = Judges {
        cuobjdump: setup::ensure_wheel(workspace, Wheel::Fatbins)?.join("cuobjdump"),
        objdump: setup::llvm(workspace, "llvm-objdump")
            .ok_or_else(|| Error::new("llvm-objdump of LLVM 22 is missing"))?,
    };
    let ours = Ours::build(workspace, form.profile)?;
    let mut sum = Compared::default();
    let linux = form.wheels.iter().map(|package| (package, WheelSystem::Linux));
    let windows = form.windows.iter().map(|package| (package, WheelSystem::Windows));
    for (package, system) in linux.chain(windows) {
        let compared = compare(workspace, &judges, &ours, &PublicWheel { package, system })?;
        sum.verdicts += compared.verdicts;
        sum.other += compared.other;
        sum.slow += compared.slow;
    }
    let Compared { verdicts, other, slow } = sum;
    println!(
        "{FIGURE}{} wheels, {verdicts} verdicts; {other} other than cuobjdump's and llvm-objdump's, {slow} wheels above \
         their limit",
        form.wheels.len().saturating_add(form.windows.len())
    );
    Ok(if other + slow == 0 && verdicts > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The program whose verdicts are compared.
struct Ours {
    program: PathBuf,
    profile: Profile,
}

impl Ours {
    fn build(workspace: &Workspace, profile: Profile) -> Result<Ours> {
        let cargo = workspace.cargo().args(["build", "--quiet", "--package", "cargo-offload"]);
        let (cargo, directory) = match profile {
            Profile::Dev => (cargo, "debug"),
            Profile::Release => (cargo.arg("--release"), "release"),
        };
        cargo.run()?;
        Ok(Ours { program: workspace.target_dir.join(directory).join("cargo-offload"), profile })
    }

    fn judge(&self, wheel: &Path, demands: &BTreeSet<String>) -> Result<Verdicts> {
        let size =
            wheel.metadata().map_err(|error| Error::new(format!("{}: {error}", wheel.display())))?.len();
        let limit = Duration::from_secs_f64((size as f64 / BYTES_A_SECOND).max(1.0));
        let start = Instant::now();
        let counts = judged(&self.program, wheel, demands)?;
        let limit = (self.profile == Profile::Release).then_some(limit);
        Ok(Verdicts { counts, time: start.elapsed(), limit })
    }
}

/// What our program says of a wheel, and how long that took.
struct Verdicts {
    counts: Counts,
    time: Duration,
    limit: Option<Duration>,
}

/// Verdicts about a library and a target, how many are not what the tools say, and how many wheels took too long.
#[derive(Debug, Default)]
struct Compared {
    verdicts: u64,
    other: u64,
    slow: u64,
}

/// A wheel of Python's package index.
struct PublicWheel {
    package: &'static str,
    system: WheelSystem,
}

fn compare(workspace: &Workspace, judges: &Judges, ours: &Ours, public: &PublicWheel) -> Result<Compared> {
    let package = match public.system {
        WheelSystem::Linux => public.package.to_string(),
        WheelSystem::Windows => format!("{} for Windows", public.package),
    };
    let wheel = setup::ensure_download(workspace, public.package, public.system)?;
    let unpacked = tempfile::tempdir_in(&workspace.target_dir)?;
    let unzip = workspace.shell.cmd("python3").args(["-m", "zipfile", "-e"]).arg(&wheel);
    unzip.arg(unpacked.path()).run()?;
    let Listed { counts: theirs, unfinished } = judges.list(unpacked.path())?;
    let found = theirs.keys().map(|(_, target)| target.clone());
    let demands: BTreeSet<String> = found.chain(OTHERS.map(str::to_string)).collect();
    let Verdicts { counts: ours, time, limit } = ours.judge(&wheel, &demands)?;
    let is_slow = limit.is_some_and(|limit| time > limit);
    let mut compared = Compared { slow: u64::from(is_slow), ..Compared::default() };
    let libraries: BTreeSet<&String> = theirs.keys().chain(ours.keys()).map(|(library, _)| library).collect();
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
    println!(
        "{package}: {} libraries, {} targets, judged in {:.2} s{}; {} verdicts are other than the tools'",
        libraries.len(),
        demands.len(),
        time.as_secs_f64(),
        limit.map(|limit| format!(" (limit {:.2} s)", limit.as_secs_f64())).unwrap_or_default(),
        compared.other,
    );
    Ok(compared)
}

/// How many modules of each library meet each demand.
fn judged(ours: &Path, wheel: &Path, demands: &BTreeSet<String>) -> Result<Counts> {
    let demands: Vec<&str> = demands.iter().map(String::as_str).collect();
    let mut command = Command::new(ours);
    command.args(["offload", "verify", "--json", "--require", &demands.join(",")]).arg(wheel);
    let output = command.output()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let mut counts = Counts::new();
    let mut is_whole = false;
    for line in printed.lines() {
        let message: Value =
            serde_json::from_str(line).map_err(|error| Error::new(format!("{line}: {error}")))?;
        match text(&message, "reason").as_str() {
            "met" => {
                let library = text(&message, "file").rsplit(": ").next().unwrap_or_default().to_string();
                let modules = message.get("modules").and_then(Value::as_array).map_or(0, Vec::len) as u64;
                *counts.entry((library, text(&message, "demand"))).or_default() += modules;
            }
            "unreadable" => {
                return Err(Error::new(format!("{}: {}", wheel.display(), text(&message, "problem"))));
            }
            "summary" => is_whole = true,
            _ => {}
        }
    }
    if is_whole {
        Ok(counts)
    } else {
        Err(Error::new(format!("{}: {}", wheel.display(), String::from_utf8_lossy(&output.stderr))))
    }
}

fn text(message: &Value, field: &str) -> String {
    message.get(field).and_then(Value::as_str).unwrap_or_default().to_string()
}
