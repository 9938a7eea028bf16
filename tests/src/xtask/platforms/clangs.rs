//! Releases of clang: what each compiles of the kernels of the fixture `gpu`, and which of them are right.

pub(super) mod release;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use offload_tests::drivers::{self, Driver};
use offload_tests::error::{Error, Result};
use offload_tests::fixture;
use offload_tests::setup::{self, Toolkit};
use offload_tests::table::Table;
use offload_tests::workspace::Workspace;
use serde_json::Value;

use self::release::{Compiler, RELEASES, Release};

const PROGRAM: &str = "offload-gpu";

/// What the kernels are compiled for, where the release can.
const TARGETS: [Target; 5] = [
    Target { name: "host", images: 11, runs: true },
    Target { name: "spirv64", images: 7, runs: true },
    Target { name: "opencl-c", images: 7, runs: true },
    Target { name: "nvptx:sm_80", images: 11, runs: false },
    Target { name: "amdgcn:gfx90a", images: 11, runs: false },
];

struct Target {
    name: &'static str,
    /// The number of modules that are compiled for it: those in CUDA C++ have no SPIR-V.
    images: usize,
    /// Whether this machine has a device for it.
    runs: bool,
}

/// A run of the program on one device.
struct Side {
    /// What the program calls the device.
    device: &'static str,
    /// The target whose results are taken.
    target: &'static str,
    variables: Vec<(&'static str, PathBuf)>,
}

/// What became of the kernels with one release.
#[derive(Debug, Default)]
struct Found {
    /// The number of images for each target.
    images: BTreeMap<String, usize>,
    /// The results that are right, and all, for each target that runs.
    results: BTreeMap<String, [usize; 2]>,
    /// The first line of the build's own words on each target that it left out.
    left_out: Vec<String>,
}

/// Builds the program with each of `releases` (all if none is named), runs it, and prints the table.
pub(super) fn run(workspace: &Workspace, releases: &[String]) -> Result<ExitCode> {
    setup::ensure(workspace, &[setup::BUILD, setup::GPUS, setup::DRIVERS])?;
    let folder = workspace.shell.create_dir(workspace.target_dir.join("platforms/clangs"))?;
    let matrix = Matrix {
        workspace,
        cuda: setup::ensure_cuda(workspace, Toolkit::Ptxas)?,
        drivers: drivers::cpus(workspace)?,
        folder,
    };
    let mut table =
        Table::new(["LLVM", "from", "host", "spirv64", "opencl-c", "nvptx:sm_80", "amdgcn:gfx90a"]);
    let mut failures = Vec::new();
    let mut notes = Vec::new();
    for release in &RELEASES {
        let name = release.major.to_string();
        if !releases.is_empty() && !releases.contains(&name) {
            continue;
        }
        eprintln!("== LLVM {name}");
        let compiler = match release.ensure(workspace, &matrix.folder) {
            Ok(compiler) => compiler,
            Err(error) => {
                notes.push(format!("LLVM {name} was not to be had: {error}"));
                table.row([&name, "not to be had", "", "", "", "", ""].map(str::to_string));
                continue;
            }
        };
        match matrix.found(release, &compiler) {
            Ok(found) => {
                notes.extend(found.left_out.iter().map(|line| format!("LLVM {name}: {line}")));
                let wrong = found.shortfall(release);
                failures.extend(wrong.into_iter().map(|wrong| format!("LLVM {name}: {wrong}")));
                let cells = TARGETS.each_ref().map(|target| found.cell(target));
                let [host, spirv, opencl, nvptx, amdgcn] = cells;
                table.row([name, compiler.from, host, spirv, opencl, nvptx, amdgcn]);
            }
            Err(error) => {
                failures.push(format!("LLVM {name}: {error}"));
                table.row([&name, &compiler.from, "FAILED", "", "", "", ""].map(str::to_string));
            }
        }
    }
    print!("{table}");
    notes.iter().for_each(|note| println!("{note}"));
    match failures.as_slice() {
        [] => Ok(ExitCode::SUCCESS),
        failures => Err(Error::new(failures.join("\n"))),
    }
}

/// What all releases have in common.
struct Matrix<'w> {
    workspace: &'w Workspace,
    /// With NVIDIA's library of mathematics.
    cuda: PathBuf,
    drivers: [Driver; 2],
    folder: PathBuf,
}

impl Matrix<'_> {
    fn found(&self, release: &Release, compiler: &Compiler) -> Result<Found> {
        let source = self.folder.join("src");
        fixture::copy(self.workspace, "gpu", &source)?;
        let targets = TARGETS.map(|target| format!("  {{ name = \"{}\", optional = true }},\n", target.name));
        self.workspace
            .shell
            .write_file(source.join("offload.toml"), format!("targets = [\n{}]\n", targets.concat()))?;
        let mut found = Found { left_out: self.build(&source, compiler)?, ..Found::default() };
        let program = self.folder.join("target/release").join(PROGRAM);
        for side in self.sides() {
            let Side { device, target, variables } = side;
            let samples = self.folder.join(format!("{}-{target}.json", release.major));
            let mut command = Command::new(&program);
            command.args(["--device", device, "--size", "small", "--results", "--json"]).arg(&samples);
            command.envs(variables);
            // It also fails if a result is wrong, which the file says.
            let output = command.output()?;
            let text = fs::read_to_string(&samples).map_err(|_| {
                let errors = String::from_utf8_lossy(&output.stderr).into_owned();
                Error::new(format!("the program wrote nothing for {target}: {errors}"))
            })?;
            fs::remove_file(&samples)?;
            found.add(target, &serde_json::from_str(&text)?);
        }
        Ok(found)
    }

    /// The runs of the program: Intel's runtime takes OpenCL C too, which is left to PoCL.
    fn sides(&self) -> [Side; 3] {
        let [pocl, intel] = self.drivers.each_ref().map(|driver| driver.variables.clone());
        [
            Side { device: "host", target: "host", variables: Vec::new() },
            Side { device: "opencl", target: "opencl-c", variables: pocl },
            Side { device: "opencl", target: "spirv64", variables: intel },
        ]
    }

    /// What the build says of targets that it leaves out, each once.
    fn build(&self, source: &Path, compiler: &Compiler) -> Result<Vec<String>> {
        let mut cargo = Command::new(self.workspace.cargo_path());
        cargo
            .current_dir(source)
            .args(["build", "--release", "--no-default-features", "--bin", PROGRAM])
            .env("CARGO_TARGET_DIR", self.folder.join("target"))
            .env("OFFLOAD_CACHE_DIR", self.folder.join("cache"))
            .env("OFFLOAD_CONFIG", source.join("offload.toml"))
            .env("CUDA_PATH", &self.cuda)
            .env_remove("OFFLOAD_TARGETS")
            .env_remove("RUSTFLAGS");
        for (name, value) in &compiler.variables {
            cargo.env(name, value);
        }
        let output = cargo.output()?;
        let text = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(Error::new(format!("the program does not build:\n{text}")));
        }
        let mut lines: Vec<String> = text
            .lines()
            .filter_map(|line| line.split_once("optional target ").map(|(_, rest)| rest.to_string()))
            .collect();
        lines.sort();
        lines.dedup();
        Ok(lines)
    }
}

impl Found {
    /// Adds what the program wrote of one device, and its results for `target`.
    fn add(&mut self, target: &str, written: &Value) {
        let carried = written.get("carried").and_then(Value::as_object);
        for (name, count) in carried.into_iter().flatten() {
            let count = count.as_u64().unwrap_or_default();
            self.images.insert(name.clone(), usize::try_from(count).unwrap_or_default());
        }
        for result in written.get("results").and_then(Value::as_array).into_iter().flatten() {
            if result.get("target").and_then(Value::as_str) != Some(target) {
                continue;
            }
            let [right, all] = self.results.entry(target.to_string()).or_default();
            *all += 1;
            *right += usize::from(result.get("right").and_then(Value::as_bool) == Some(true));
        }
    }

    fn cell(&self, target: &Target) -> String {
        match (self.images.get(target.name), self.results.get(target.name)) {
            (None, _) => "no".to_string(),
            (Some(_), Some([right, all])) => format!("{right} of {all} right"),
            (Some(images), None) => format!("{images} images"),
        }
    }

    /// What is missing or wrong, and should not be.
    fn shortfall(&self, release: &Release) -> Vec<String> {
        let mut wrong = Vec::new();
        for target in &TARGETS {
            let expected = if release.lacks.contains(&target.name) { 0 } else { target.images };
            let images = self.images.get(target.name).copied().unwrap_or_default();
            if images != expected {
                wrong.push(format!("{images} images for {}, not {expected}", target.name));
            }
            let [right, all] = self.results.get(target.name).copied().unwrap_or_default();
            if target.runs && (right != all || (all == 0) != (expected == 0)) {
                wrong.push(format!("{right} of {all} results for {} are right", target.name));
            }
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(right: bool) -> Found {
        let mut found = Found::default();
        for target in TARGETS {
            let results = target.runs.then(|| json!([{ "target": target.name, "right": right }]));
            let other = json!([{ "target": "opencl-c:other", "right": false }]);
            found.add(target.name, &json!({ "results": other }));
            found.add(target.name, &json!({ "carried": { target.name: target.images }, "results": results }));
        }
        found
    }

    #[test]
    fn wrong_results_and_missing_images_are_told() {
        let release = &RELEASES[1];
        assert_eq!(found(true).shortfall(release), Vec::<String>::new());
        assert_eq!(found(false).shortfall(release).len(), 3);
        let mut without = found(true);
        without.images.remove("nvptx:sm_80");
        assert_eq!(without.shortfall(release), ["0 images for nvptx:sm_80, not 11"]);
        assert_eq!(without.cell(&TARGETS[3]), "no");
        assert_eq!(without.cell(&TARGETS[0]), "1 of 1 right");
        // A release that should lack a target, and does not.
        assert_eq!(found(true).shortfall(&RELEASES[0]).len(), 2);
    }
}
