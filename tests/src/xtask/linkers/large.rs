//! A program with 3 GiB of images: it links, runs, and takes no memory for what it does not use.

use std::path::Path;

use super::linker::Linker;
use offload_tests::error::Result;
use offload_tests::fixture;
use offload_tests::workspace::Workspace;

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
        let said = link_and_run(workspace, &dir, linker);
        let problem = said.as_ref().map_or_else(|error| Some(error.to_string()), |said| problem(said));
        let shown = said.as_deref().unwrap_or("-").trim();
        println!("{} 3 GiB: {} ({shown})", linker.name, if problem.is_none() { "ok" } else { "FAILED" });
        failures.extend(problem.map(|problem| format!("{} 3 GiB: {problem}", linker.name)));
    }
    // Sources, cache, archive and program have the images once each.
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
    Ok(workspace.shell.cmd(dir.join("target/release/fixture")).quiet().read()?)
}

/// Reads `images=384 bytes=3221225472 loaded=true peak_kb=40000 build_peak_kb=50000`.
fn problem(said: &str) -> Option<String> {
    let word =
        |name: &str| said.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let number = |name| word(name).and_then(|text| text.parse::<u64>().ok());
    let bytes = number("bytes").unwrap_or(0);
    if !SIZE.contains(&bytes) || word("loaded") != Some("true") {
        return Some(format!("{bytes} bytes of images were found, loaded: {:?}", word("loaded")));
    }
    let too_much = |name| {
        let peak = number(name).map(|kilobytes| kilobytes.saturating_mul(1024));
        let over = peak.is_none_or(|peak| peak > MOST_MEMORY);
        over.then(|| format!("{name}: {peak:?} bytes, more than {MOST_MEMORY}"))
    };
    too_much("peak_kb").or_else(|| too_much("build_peak_kb"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_and_memory_are_judged() {
        let said = "images=384 bytes=3221225472 loaded=true peak_kb=40000 build_peak_kb=50000";
        assert_eq!(problem(said), None);
        for wrong in [
            said.replace("3221225472", "3"),
            said.replace("3221225472", "6442450944"),
            said.replace("true", "false"),
            said.replace("40000", "70000"),
            said.replace("50000", "70000"),
            String::new(),
        ] {
            assert!(problem(&wrong).is_some(), "{wrong}");
        }
    }
}
