//! `devicelib`: the example `bf16-vectors` with its device library from the build and linked at load, on each back end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use offload_tests::error::{Error, Result};
use offload_tests::setup::{self, Runtime};
use offload_tests::workspace::Workspace;
use serde_json::Value;

pub(crate) const HELP: &str =
    "devicelib       compare linking the library of bf16-vectors at build and at load time

For each way and each back end of this machine: how many results are right, how long it takes to load the kernels, and
the bytes of images, for one module and for ten that are alike. Fails if a result is wrong, or a driver or an image is
missing. A library of few instructions saves nothing where it is inlined: then kernels with calls are larger.";

const EXAMPLE: &str = "bf16-vectors";
const WAYS: [&str; 2] = ["build", "load"];
/// NVIDIA's is measured alone: `gpu` runs it.
const TARGETS: [&str; 4] = ["host", "spirv64", "nvptx:sm_90", "opencl-c"];
/// How many modules share the library in the second column of bytes.
const MODULES: u64 = 10;

pub(crate) fn run(workspace: &Workspace, _args: &[String]) -> Result<ExitCode> {
    setup::ensure(workspace, &[setup::BUILD, setup::GPUS, setup::DRIVERS])?;
    let intel = setup::ensure_intel(workspace, Runtime::OpenCl)?.join("lib");
    let drivers: [(&str, Vec<(&str, PathBuf)>); 2] = [
        ("PoCL", vec![("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/pocl.icd".into())]),
        ("Intel", vec![("OCL_ICD_FILENAMES", intel.join("libintelocl.so")), ("LD_LIBRARY_PATH", intel)]),
    ];
    let tool = tool(workspace)?;
    let mut all_right = true;
    println!("{:<6} {:<28} {:>10} {:>6} {:>12}", "link", "device", "results", "wrong", "loaded in");
    let mut bytes = Vec::new();
    for way in WAYS {
        let program = program(workspace, way)?;
        for (driver, environment) in &drivers {
            let rows = rows(&program, environment)?;
            // The host CPU, and that of the driver.
            if !rows.iter().any(|row| row.device.starts_with("OpenCL")) || rows.len() < 2 {
                return Err(Error::new(format!("linked at {way}, no device of {driver} ran")));
            }
            for row in rows {
                all_right &= row.wrong == 0 && row.results > 0;
                let device: String = row.device.chars().take(28).collect();
                println!("{way:<6} {device:<28} {:>10} {:>6} {:>9} us", row.results, row.wrong, row.loaded);
            }
        }
        for target in TARGETS {
            bytes.push((way, target, sizes(&tool, &program, target)?));
        }
    }
    println!(
        "\n{:<6} {:<10} {:>8} {:>8} {:>12} {:>14}",
        "link", "target", "kernels", "library", "one module", "ten modules"
    );
    for (way, target, sizes) in &bytes {
        let (Sizes { kernels, library }, [one, ten]) =
            (sizes, [1, MODULES].map(|modules| sizes.for_modules(modules)));
        println!("{way:<6} {target:<10} {kernels:>8} {library:>8} {one:>12} {ten:>14}");
        // OpenCL C has what it calls from the build in both ways.
        let is_linked = *way == "load" && *target != "opencl-c";
        if *kernels == 0 || (*library > 0) != is_linked {
            println!("{target}: an image is missing, or there is one for a target that was not requested");
            all_right = false;
        }
    }
    Ok(if all_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The example's program, in a copy, with its library linked in this way.
fn program(workspace: &Workspace, way: &str) -> Result<PathBuf> {
    let folder = workspace.shell.create_dir(workspace.target_dir.join("devicelib").join(way))?;
    let config = folder.join("offload.toml");
    let targets = TARGETS.map(|target| format!("\"{target}\"")).join(", ");
    fs::write(
        &config,
        format!("targets = [{targets}]\nembed = \"always\"\n\n[modules.vectors]\nlink = \"{way}\"\n"),
    )?;
    let build = ["build", "--quiet", "--package", EXAMPLE, "--message-format=json-render-diagnostics"];
    let cargo = workspace.cargo().args(build).env("OFFLOAD_CONFIG", &config).env_remove("OFFLOAD_TARGETS");
    let messages = cargo.quiet().read()?;
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut programs =
        messages.filter_map(|message| Some(PathBuf::from(message.get("executable")?.as_str()?)));
    let built =
        programs.next_back().ok_or_else(|| Error::new(format!("cargo named no program of {EXAMPLE}")))?;
    let copy = folder.join(EXAMPLE);
    fs::copy(built, &copy)?;
    Ok(copy)
}

fn tool(workspace: &Workspace) -> Result<PathBuf> {
    workspace.cargo().args(["build", "--quiet", "--package", "cargo-offload"]).quiet().run()?;
    Ok(workspace.target_dir.join("debug/cargo-offload"))
}

/// What the example says of a device.
struct Row {
    device: String,
    results: u64,
    wrong: u64,
    loaded: u64,
}

fn rows(program: &Path, environment: &[(&str, PathBuf)]) -> Result<Vec<Row>> {
    let mut command = Command::new(program);
    command.arg("--times").env_remove("OCL_ICD_FILENAMES").env("OCL_ICD_VENDORS", "/nonexistent");
    let output = command.envs(environment.iter().map(|(name, value)| (*name, value))).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let rows: Vec<Row> = text.lines().filter_map(row).collect();
    if rows.is_empty() || !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Error::new(format!("`{}` failed: {text}{stderr}", program.display())));
    }
    Ok(rows)
}

/// `DEVICE: 10 results, 0 wrong, loaded in 5 us`.
fn row(line: &str) -> Option<Row> {
    let (device, summary) = line.rsplit_once(": ")?;
    let (results, rest) = summary.split_once(" results, ")?;
    let (wrong, rest) = rest.split_once(" wrong, loaded in ")?;
    let loaded = rest.strip_suffix(" us")?.parse().ok()?;
    Some(Row {
        device: device.to_string(),
        results: results.parse().ok()?,
        wrong: wrong.parse().ok()?,
        loaded,
    })
}

/// Bytes of images before compression.
struct Sizes {
    kernels: u64,
    library: u64,
}

impl Sizes {
    /// Of so many modules with the kernels.
    fn for_modules(&self, modules: u64) -> u64 {
        self.kernels.saturating_mul(modules).saturating_add(self.library)
    }
}

fn sizes(tool: &Path, program: &Path, target: &str) -> Result<Sizes> {
    let args = ["offload", "inspect", "--message-format", "json"];
    let output = Command::new(tool).args(args).arg(program).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let images = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut sizes = Sizes { kernels: 0, library: 0 };
    for image in images.filter(|image| image.get("target").is_some_and(|found| found == target)) {
        let size = image.get("raw_size").and_then(Value::as_u64).unwrap_or_default();
        match image.get("module").and_then(Value::as_str) {
            Some("vectors") => sizes.kernels = size,
            // Who links at build has the library's images in the program, and needs none of them.
            Some("bf16") if program.parent().is_some_and(|folder| folder.ends_with("load")) => {
                sizes.library = size
            }
            _ => {}
        }
    }
    Ok(sizes)
}
