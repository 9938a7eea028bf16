//! Device libraries that are linked when an image is loaded, in libraries that a program opens and closes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::support::script::succeed;
use crate::support::{self, Project, cargo_offload, program};

/// The program, in a folder with the three libraries that it opens; built once.
fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let mut project = Project::new("shared");
        project.set("OFFLOAD_TARGETS", "host,spirv64,opencl-c");
        project.set("OFFLOAD_COMPRESSION", "balanced");
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shared");
        fs::create_dir_all(&directory).unwrap();
        program::copy(&project.program(), &directory.join("app"));
        let outcome = project.cargo(&["build", "--offline", "--workspace", "--message-format=json"]);
        assert!(outcome.success, "{}", outcome.text);
        let messages =
            outcome.text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        for library in messages.filter(|message| message["target"]["kind"][0] == "cdylib") {
            let name = library["target"]["name"].as_str().unwrap();
            let file = &library["filenames"][0];
            let copy = directory.join(format!("lib{name}.so"));
            program::copy(Path::new(file.as_str().unwrap()), &copy);
            // valgrind reads what debuggers need each time that a library is opened.
            succeed(Command::new("strip").arg("--strip-debug").arg(&copy));
        }
        directory
    })
}

/// The program with Intel's runtime, if that is there, which links SPIR-V.
fn app(args: &[&str]) -> Command {
    let mut command = Command::new(built().join("app"));
    command.arg(built()).args(args).env("OCL_ICD_VENDORS", "/nonexistent").env_remove("OCL_ICD_FILENAMES");
    if let Some(root) = offload_tests::require_intel_runtime() {
        let lib = root.join("lib");
        command.env("OCL_ICD_FILENAMES", lib.join("libintelocl.so")).env("LD_LIBRARY_PATH", lib);
    }
    command
}

/// The host CPU, and that of Intel's runtime.
fn device_count() -> usize {
    1 + usize::from(offload_tests::require_intel_runtime().is_some())
}

/// The word behind `name=` at the start of a line.
fn word<'a>(output_text: &'a str, name: &str) -> &'a str {
    let mut lines = output_text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    lines.next().unwrap_or_else(|| panic!("{name}: {output_text}"))
}

#[test]
fn a_device_library_outlives_the_library_that_brought_it() {
    let output_text = succeed(&mut app(&["orders"]));
    let alone = word(&output_text, "alone");
    for part in [
        "crate `one` imports the device library `bf16` of crate `bf16` 0.1.0, which is nowhere in this process",
        "hint: mention the crate in the program, as with `use bf16 as _;`",
    ] {
        assert!(alone.contains(part), "{alone}");
    }
    let devices = word(&output_text, "devices");
    assert!(devices.contains("host CPU"), "{devices}");
    if offload_tests::require_intel_runtime().is_some() {
        assert!(devices.contains("SPIR-V"), "{devices}");
    }
    let count = devices.split("; ").count();
    assert_eq!(count, device_count());
    // In each of six orders after each of three steps, and at the end of six others.
    assert_eq!(word(&output_text, "launches"), (2 * count * (6 * 3 + 6)).to_string(), "{output_text}");
    offload_tests::figure(
        "six orders of closing three libraries that share a device library",
        format!("65,536 numbers right on {count} devices"),
    );
}

/// A driver that is given the library twice, or by each thread, has more lines than one for it.
#[test]
fn sixteen_threads_give_a_driver_the_device_library_once() {
    let Some(root) = offload_tests::require_intel_runtime() else { return };
    let folder = tempfile::tempdir().unwrap();
    let counting = folder.path().join("counting.so");
    let counted = folder.path().join("counted");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-Wl,--no-as-needed", "-o"]).arg(&counting);
    let source = support::root().join("tests/fixtures/counting.c");
    succeed(compiler.arg(source).arg(root.join("lib/libOpenCL.so.1")).arg("-ldl"));
    let mut app = app(&["once"]);
    let output_text = succeed(app.env("OPENCL_DYLIB_PATH", &counting).env("COUNTED", &counted));
    assert!(word(&output_text, "device").contains("SPIR-V"), "{output_text}");
    let mut times = BTreeMap::new();
    for line in fs::read_to_string(counted).unwrap().lines() {
        *times.entry(line.to_string()).or_insert(0) += 1;
    }
    let mut counts: Vec<usize> = times.into_values().collect();
    counts.sort_unstable();
    // The library, and the two modules that eight threads open each.
    assert_eq!(counts, [1, 8, 8]);
    offload_tests::figure(
        "16 threads that open modules with one device library",
        "it is given to the driver once",
    );
}

#[test]
fn a_library_keeps_the_device_library_that_it_has_used() {
    let output_text = succeed(&mut app(&["own"]));
    assert_eq!(word(&output_text, "devices"), device_count().to_string(), "{output_text}");
}

#[test]
fn libraries_that_share_a_device_library_come_and_go() {
    let cycles = if offload_tests::is_full() { 1000 } else { 60 };
    let grown: usize = word(&succeed(&mut app(&["cycles", &cycles.to_string()])), "grown").parse().unwrap();
    assert!(grown <= 512 << 10, "{grown} bytes more after {cycles} cycles");
    offload_tests::figure(
        format!("{cycles} cycles of a shared device library"),
        format!("{} KiB more", grown >> 10),
    );
    if offload_tests::is_full() {
        let mut valgrind = Command::new("valgrind");
        valgrind.args([
            "--quiet",
            "--error-exitcode=9",
            "--leak-check=full",
            "--errors-for-leak-kinds=definite",
        ]);
        valgrind.arg(built().join("app")).arg(built()).args(["cycles", &cycles.to_string()]);
        succeed(&mut valgrind);
        offload_tests::figure(format!("{cycles} cycles under valgrind"), "0 errors, 0 leaks");
    }
}

fn inspect(name: &str) -> String {
    let mut command = Command::new(cargo_offload());
    succeed(command.args(["offload", "inspect", "--json"]).arg(built().join(name)))
}

#[test]
fn the_subcommand_shows_what_an_image_imports_and_exports() {
    let one = inspect("libone.so");
    assert_eq!(one.matches("\"imports\":[\"bf16=bf16@0.1.0\"]").count(), 2, "{one}");
    assert!(!one.contains("\"exports\""), "{one}");
    let provider = inspect("libprovider.so");
    assert_eq!(provider.matches("\"exports\":[\"bf16_").count(), 2, "{provider}");
    let repacked = built().join("repacked.so");
    let _ = fs::remove_file(&repacked);
    let mut repack = Command::new(cargo_offload());
    repack.args(["offload", "repack", "--compression", "max", "--output"]).arg(&repacked);
    succeed(repack.arg(built().join("libone.so")));
    let again = inspect("repacked.so");
    assert_eq!(again.matches("\"imports\":[\"bf16=bf16@0.1.0\"]").count(), 2, "{again}");
}
