//! `gpu`: a folder with everything that needs an NVIDIA GPU, which travels to a machine without a toolchain.

mod programs;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use offload_tests::error::{Error, Result};
use offload_tests::setup::{self, Toolkit};
use offload_tests::workspace::{self, Workspace};

use self::programs::Programs;

pub(crate) const HELP: &str = "gpu [--run-here] [ARGS]  build a self-contained folder of the tests that need an NVIDIA GPU

The folder stands alone: a machine needs NVIDIA's driver and no toolchain. Its run.sh runs the tests of the CUDA back
end, the examples, twelve kernels by clang and nvcc and twenty of public suites with their results compared, typed
kernels of CUDA C++, host functions that launch, numbers of 16 and 8 bits beside NVIDIA's headers, blocks and
warps, sub-groups, candle's kernels beside plain Rust, kernels that print and assert, launches and a decode loop beside cudarc, and the same kernels and
launches by NVIDIA's OpenCL driver beside opencl3; it writes every sample to gpu.json and what the programs print to log/, and fails if one of them does. `run.sh two` runs what two GPUs of
one machine do together, and writes two.json.
--run-here runs the kernels on this machine; ARGS are their program's (`--help` lists them). Without a GPU,
--run-here --device host (or opencl) runs the same kernels and comparisons on the CPU.";

/// The script of the folder.
const SCRIPT: &str = include_str!("gpu/run.sh");

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let here = args.iter().any(|arg| arg == "--run-here");
    let args: Vec<&String> = args.iter().filter(|arg| *arg != "--run-here").collect();
    setup::ensure(workspace, &[setup::BUILD, setup::GPUS])?;
    let cuda = setup::ensure_cuda(workspace, Toolkit::Nvcc)?;
    let programs = Programs { workspace, cuda, target: workspace.target_dir.join("gpu/target") };
    if here {
        let program = programs.kernels()?;
        return Ok(workspace::exit_code(workspace::run_through(workspace.shell.cmd(program).args(args))?));
    }
    let dir = bundle(workspace, &programs.all()?)?;
    let words: Vec<String> = args.iter().map(|arg| format!(" {arg}")).collect();
    let needs = needs(workspace, &dir)?;
    println!("copy {} to a machine with {needs}, and run there: ./run.sh{}", dir.display(), words.concat());
    Ok(ExitCode::SUCCESS)
}

/// The directory that travels, with nothing else in it.
fn bundle(workspace: &Workspace, programs: &[PathBuf]) -> Result<PathBuf> {
    let dir = workspace.target_dir.join("gpu/bundle");
    workspace.shell.remove_path(&dir)?;
    workspace.shell.create_dir(&dir)?;
    for program in programs {
        let name = program.file_name().ok_or_else(|| Error::new("a program without a name"))?;
        // The name of a test program has a hash.
        let name = name.to_string_lossy();
        let name = if name.starts_with("it-") { "cuda-tests" } else { &name };
        let strip = workspace.shell.cmd("strip").arg("-o").arg(dir.join(name)).arg(program);
        strip.run()?;
    }
    let script = dir.join("run.sh");
    workspace.shell.write_file(&script, SCRIPT)?;
    workspace.shell.cmd("chmod").args(["755"]).arg(&script).quiet().run()?;
    Ok(dir)
}

/// What a machine has to have for every program of the directory.
fn needs(workspace: &Workspace, dir: &Path) -> Result<String> {
    let mut newest = None;
    for program in workspace.shell.read_dir(dir)? {
        if program.extension().is_some() {
            continue;
        }
        let readelf = workspace.shell.cmd("readelf").args(["--wide", "--version-info"]).arg(&program);
        newest = newest.max(newest_glibc(&readelf.env("LC_ALL", "C").quiet().read()?));
    }
    let [major, minor] =
        newest.ok_or_else(|| Error::new(format!("{} names no version of glibc", dir.display())))?;
    Ok(format!("NVIDIA's driver and glibc {major}.{minor} or later (x86-64)"))
}

/// The newest of "Name: GLIBC_2.34".
fn newest_glibc(versions: &str) -> Option<[u32; 2]> {
    let numbers = versions.split("GLIBC_").skip(1).filter_map(|rest| {
        let (major, rest) = rest.split_once('.')?;
        let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some([major.parse().ok()?, minor.parse().ok()?])
    });
    numbers.max()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::process::{Command, Output};

    use super::*;

    #[test]
    fn the_newest_version_counts() {
        let text = "  0x0010:   Name: GLIBC_2.2.5  Flags: none  Version: 8\n  0x0020:   Name: GLIBC_2.34  Flags: none\n";
        assert_eq!(newest_glibc(text), Some([2, 34]));
        assert_eq!(newest_glibc("Name: GCC_3.0"), None);
    }

    /// The programs that the script runs, each with what it prints where all is well.
    const PROGRAMS: [(&str, &str); 21] = [
        ("cuda-tests", "test result: ok. 40 passed"),
        ("with-cudarc", "65536 of 65536 values are 15"),
        ("conjugate-gradient", "CUDA device\\n2 of 2 devices are right"),
        ("image-filter", "CUDA device\\n2 of 2 devices are right"),
        ("decode", "CUDA device\\n2 of 2 devices are right"),
        ("stencil", "CUDA device\\n2 of 2 groups of devices are right"),
        ("bf16-build", "CUDA device: 2818048 results, 0 wrong"),
        ("bf16-load", "CUDA device: 2818048 results, 0 wrong"),
        ("bf16-fallback", "CUDA device: 2818048 results, 0 wrong"),
        ("offload-typed", "cuda: right"),
        ("offload-launchers", "results are right"),
        ("offload-numbers", "cuda: right"),
        ("offload-warps", "cuda: right"),
        ("offload-inline-ptx", "cuda: right"),
        ("offload-sub-groups", "cuda: right"),
        ("offload-candle", "cuda: right"),
        ("offload-prints", "cuda: right"),
        ("offload-prints-linked", "cuda: right"),
        ("offload-gpu", "all right"),
        ("offload-launch", "all limits are met"),
        ("offload-decode", "1 tokens a second"),
    ];

    fn write_program(path: &Path, text: &str) {
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Runs the script with programs that print and write what `change` makes of it.
    fn script(part: Option<&str>, change: impl Fn(&str) -> String) -> (Output, serde_json::Value) {
        let dir = tempfile::tempdir().unwrap();
        write_program(&dir.path().join("run.sh"), SCRIPT);
        for (name, says) in PROGRAMS {
            let json = r#"for word; do case "$last" in --json) echo '{"samples": [1.5]}' >"$word";; esac; last=$word; done"#;
            write_program(
                &dir.path().join(name),
                &change(&format!("#!/bin/sh\nprintf '{says}\\n'\n{json}\n")),
            );
        }
        // The variable of a test run would turn off the test of the tests.
        let output = Command::new(dir.path().join("run.sh")).args(part).output().unwrap();
        let results = dir.path().join(part.unwrap_or("gpu")).with_extension("json");
        let results = fs::read_to_string(results).unwrap_or_default();
        (output, serde_json::from_str(&results).unwrap_or_default())
    }

    #[test]
    fn the_script_runs_everything_and_writes_one_file() {
        let (output, results) = script(None, str::to_string);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(results["failed"], "", "{results}");
        assert_eq!(results["kernels"]["samples"][0], 1.5, "{results}");
        for part in ["launch", "decode", "kernels-opencl", "launch-opencl"] {
            assert_eq!(results[part]["samples"][0], 1.5, "{part}: {results}");
        }
        assert_eq!(results["programs"].as_object().unwrap().len(), PROGRAMS.len(), "{results}");
    }

    #[test]
    fn the_script_tells_what_failed_and_what_ran_on_no_gpu() {
        let (output, results) = script(None, |text| text.replace("CUDA device", "host CPU"));
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert_eq!(
            results["failed"],
            "conjugate-gradient image-filter decode stencil bf16-build bf16-load bf16-fallback",
            "{results}"
        );
        let (output, results) =
            script(None, |text| text.replace("all limits are met", "x\\n'; exit 1; printf '"));
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert_eq!(results["failed"], "launch launch-opencl", "{results}");
        assert!(results["launch"].is_null(), "{results}");
    }

    #[test]
    fn the_part_for_two_gpus_needs_both() {
        let two = |text: &str| text.replace("CUDA device\\n2", "2 x CUDA device, 1.85 of the speed\\n2");
        let (output, results) = script(Some("two"), two);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(results["stencil"].as_array().unwrap().len(), 4, "{results}");
        assert_eq!(results["launch"]["samples"][0], 1.5, "{results}");
        let (output, results) = script(Some("two"), |text| two(text).replace("1.85", "1.79"));
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert_eq!(results["failed"], "stencil-16384 stencil-32768", "{results}");
        let (output, results) = script(Some("two"), str::to_string);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let failed = "stencil-8192 stencil-16384 stencil-32768 stencil-without-peer-access";
        assert_eq!(results["failed"], failed, "{results}");
    }
}
