//! A program with 3 GiB of images: it links, runs, and takes no memory for what it does not use.

use std::path::Path;
use std::time::Instant;

use super::linker::Linker;
use offload_tests::FIGURE;
use offload_tests::error::Result;
use offload_tests::fixture;
use offload_tests::workspace::{Workspace, seconds};

/// Of the program, and of the build script that writes the object: bytes.
const MOST_MEMORY: u64 = 64 << 20;
/// What is measured is this: twice as much says nothing about it.
const SIZE: std::ops::Range<u64> = 3 << 30..(3 << 30) + (64 << 20);

/// Links the program of `tests/fixtures/large` with each of `linkers` and runs it; returns what is wrong.
pub(super) fn run(workspace: &Workspace, linkers: &[Linker]) -> Result<Vec<String>> {
    let dir = workspace.shell.create_dir(workspace.target_dir.join("linkers/large"))?;
    fixture::copy(workspace, "large", &dir.join("src"))?;
    let mut failures = Vec::new();
    for linker in linkers {
        let start = Instant::now();
        let printed = link_and_run(workspace, &dir, linker);
        let time = seconds(start.elapsed());
        let problem =
            printed.as_ref().map_or_else(|error| Some(error.to_string()), |printed| problem(printed));
        let shown = printed.as_deref().unwrap_or("-").trim();
        println!("{} 3 GiB: {} in {time} ({shown})", linker.name, verdict(problem.as_deref()));
        let peaks = printed.as_deref().map_or_else(|_| "-".to_string(), peaks);
        println!("{FIGURE}{} in {time}; {}, {peaks}", linker.name, verdict(problem.as_deref()));
        failures.extend(problem.map(|problem| format!("{} 3 GiB: {problem}", linker.name)));
    }
    // Sources, cache, archive and program have the images once each, and no two programs are there at a time.
    workspace.shell.remove_path(&dir)?;
    Ok(failures)
}

fn link_and_run(workspace: &Workspace, dir: &Path, linker: &Linker) -> Result<String> {
    let _in = workspace.shell.push_dir(dir.join("src"));
    let main = dir.join("src/src/main.rs");
    workspace.shell.write_file(&main, workspace.shell.read_file(&main)?)?;
    let cargo = workspace.cargo().args(["rustc", "--quiet", "--release", "--"]).args(&linker.args);
    let cargo = cargo
        .env("CARGO_TARGET_DIR", dir.join("target"))
        .env("OFFLOAD_CACHE_DIR", dir.join("cache"))
        // The checkout around it names targets of its own, by `.cargo/config.toml`: each is another 3 GiB.
        .env("OFFLOAD_CONFIG", dir.join("src/offload.toml"))
        .env_remove("RUSTFLAGS")
        .env_remove("OFFLOAD_TARGETS")
        .env_remove("OFFLOAD_COMPRESSION");
    cargo.quiet().run()?;
    let program = dir.join("target/release/fixture");
    let printed = workspace.shell.cmd(&program).quiet().read();
    // Cargo has the file under another name too, and the next linker needs the room.
    std::fs::File::create(&program)?;
    Ok(printed?)
}

fn verdict(problem: Option<&str>) -> &'static str {
    if problem.is_none() { "ok" } else { "FAILED" }
}

/// The value of `name=` in the output of the program.
fn word<'a>(printed: &'a str, name: &str) -> Option<&'a str> {
    printed.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

fn number(printed: &str, name: &str) -> Option<u64> {
    word(printed, name)?.parse().ok()
}

/// What was found, and the memory that it took.
fn peaks(printed: &str) -> String {
    let mebibytes =
        |name| number(printed, name).map_or("-".to_string(), |kilobytes| (kilobytes >> 10).to_string());
    let [images, size] = ["images", "bytes"].map(|name| number(printed, name).unwrap_or(0));
    let [run, build] = ["peak_kb", "build_peak_kb"].map(mebibytes);
    format!("{images} images of {} MiB: {run} MiB to run, {build} MiB to embed", size >> 20)
}

/// Reads `images=384 bytes=3221225472 loaded=true peak_kb=40000 build_peak_kb=50000`.
fn problem(printed: &str) -> Option<String> {
    let bytes = number(printed, "bytes").unwrap_or(0);
    let loaded = word(printed, "loaded");
    if !SIZE.contains(&bytes) || loaded != Some("true") {
        return Some(format!("{bytes} bytes of images were found, loaded: {loaded:?}"));
    }
    excess(printed, "peak_kb").or_else(|| excess(printed, "build_peak_kb"))
}

fn excess(printed: &str, name: &str) -> Option<String> {
    let peak = number(printed, name).map(|kilobytes| kilobytes.saturating_mul(1024));
    let over = peak.is_none_or(|peak| peak > MOST_MEMORY);
    over.then(|| format!("{name}: {peak:?} bytes, more than {MOST_MEMORY}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_and_memory_are_judged() {
        let printed = "images=384 bytes=3221225472 loaded=true peak_kb=40000 build_peak_kb=50000";
        assert_eq!(problem(printed), None);
        assert_eq!(peaks(printed), "384 images of 3072 MiB: 39 MiB to run, 48 MiB to embed");
        for wrong in [
            printed.replace("3221225472", "3"),
            printed.replace("3221225472", "6442450944"),
            printed.replace("true", "false"),
            printed.replace("40000", "70000"),
            printed.replace("50000", "70000"),
            String::new(),
        ] {
            assert!(problem(&wrong).is_some(), "{wrong}");
        }
    }
}
