//! The commands of a project's life from outside: `new`, `init`, `doctor`, `cache`, `completions`, `man`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{command, objects, offload, ok, stderr, stdout, without_tools};
use serde_json::Value;

/// The crate's directory, whose parent is the checkout.
const CRATE: &str = env!("CARGO_MANIFEST_DIR");

fn checkout() -> PathBuf {
    Path::new(CRATE).parent().unwrap().to_path_buf()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All files below `dir`, by their path from there.
fn files(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path.strip_prefix(dir).unwrap().to_str().unwrap().to_string());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_new_package_is_the_demo() {
    let dir = tempfile::tempdir().unwrap();
    let message = ok(dir.path(), &["new", "hello", "--vcs", "none", "--published"]);
    assert!(message.contains("wrote build.rs") && message.contains("cargo offload doctor"), "{message}");
    let package = dir.path().join("hello");
    let demo = checkout().join("example-app");

    let mut expected = files(&demo);
    // The demo's images are the demo's: they are for people without compilers who look at this repository.
    expected.retain(|file| !file.starts_with("offload-vendor/"));
    expected.extend([".cargo/config.toml".to_string(), "offload.toml".to_string()]);
    expected.sort();
    assert_eq!(files(&package), expected);
    for file in expected.iter().filter(|file| file.ends_with(".rs") || file.starts_with("kernels/")) {
        let text = read(&demo.join(file)).replace("example-app", "hello");
        assert_eq!(read(&package.join(file)), text, "{file}");
    }
    let manifest = read(&package.join("Cargo.toml"));
    let dependencies = "[dependencies]\noffload-rt = { version = \"0.1\", features = [\"opencl\"] }\n\n[dev-dependencies]\noffload-rt = { version = \"0.1\", features = [\"test\"] }\n\n[build-dependencies]\noffload-build = \"0.1\"\n";
    assert!(manifest.contains("name = \"hello\"") && manifest.contains(dependencies), "{manifest}");
    assert!(manifest.contains("[profile.dev.package.blake3]\nopt-level = 1"), "{manifest}");
    assert_eq!(ok(&package, &["targets", "--quiet"]), "host\nspirv64\nopencl-c\n");
    // Everything is there: nothing is left to add.
    let again = ok(&package, &["init"]);
    assert!(again.lines().all(|line| line.ends_with("is up to date")), "{again}");
}

#[test]
fn a_new_package_of_a_workspace_joins_it() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    fs::write(root.join("Cargo.toml"), "# all\n[workspace]\nresolver = \"3\"\nmembers = []\n").unwrap();
    ok(root, &["new", "crates/hello", "--name", "hi", "--checkout", checkout().to_str().unwrap()]);
    let manifest = read(&root.join("Cargo.toml"));
    assert!(manifest.starts_with("# all\n") && manifest.contains("\"crates/hello\""), "{manifest}");
    assert!(manifest.contains("[profile.release.package.zstd-sys]\nopt-level = 3"), "{manifest}");
    assert!(root.join("offload.toml").is_file() && !root.join("crates/hello/offload.toml").exists());
    let member = read(&root.join("crates/hello/Cargo.toml"));
    let path = checkout().join("offload-build");
    assert!(member.contains(&format!("offload-build = {{ path = \"{}\" }}", path.display())), "{member}");
    assert!(read(&root.join("crates/hello/src/main.rs")).contains("`hi [NAME]`"));
}

#[test]
fn mistakes_of_new_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let refused = offload(dir.path(), &["new", "2bad", "--vcs", "none"]);
    assert_eq!(refused.status.code(), Some(101));
    assert!(stderr(&refused).contains("cannot start with a digit"), "{}", stderr(&refused));
    let refused = offload(dir.path(), &["new", "good", "--checkout", "nowhere"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("hint: name the directory"), "{}", stderr(&refused));
    assert!(files(dir.path()).is_empty());
}

#[test]
fn init_adds_to_a_package_and_takes_nothing_away() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    fs::create_dir_all(root.join("src")).unwrap();
    fs::write(root.join("src/lib.rs"), "//! Mine.\n").unwrap();
    let manifest = "# mine\n[package]\nname = \"a\"\nedition = \"2024\" # new\n\n[dependencies] # none yet\n";
    fs::write(root.join("Cargo.toml"), manifest).unwrap();
    fs::write(root.join("build.rs"), "fn main() {}\n").unwrap();

    let refused = offload(root, &["init"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("build.rs` compiles no kernels"), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("hint: add `offload_build::Build::new()"), "{}", stderr(&refused));
    assert_eq!(read(&root.join("build.rs")), "fn main() {}\n");

    ok(root, &["init", "--force"]);
    assert!(read(&root.join("build.rs")).contains("offload_build"));
    assert!(root.join("kernels/blas.cl").is_file());
    let after = read(&root.join("Cargo.toml"));
    for part in [
        "# mine\n[package]\nname = \"a\"\nedition = \"2024\" # new\n",
        "[dependencies] # none yet\noffload-rt = ",
    ] {
        assert!(after.contains(part), "{after}");
    }
    assert_eq!(read(&root.join("src/lib.rs")), "//! Mine.\n");
}

#[test]
fn init_makes_a_program_of_an_empty_one_and_says_what_is_next() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    fs::create_dir_all(root.join("src")).unwrap();
    fs::write(root.join("src/main.rs"), "fn main() {\n    println!(\"Hello, world!\");\n}\n").unwrap();
    fs::write(root.join("Cargo.toml"), "[package]\nname = \"a\"\nedition = \"2024\"\n").unwrap();
    let output = offload(root, &["init"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("next: run `cargo offload doctor`"), "{}", stderr(&output));
    // The names of the README's steps.
    assert!(read(&root.join("build.rs")).contains(".file(\"kernels/blas.cl\").compile(\"blas\")"));
    assert!(read(&root.join("src/main.rs")).contains("include_kernels!(\"blas\")"));
    // This program was built in a checkout: its crates are there, whether they are published or not.
    let path = checkout().join("offload-build");
    let manifest = read(&root.join("Cargo.toml"));
    assert!(manifest.contains(&format!("offload-build = {{ path = \"{}\" }}", path.display())), "{manifest}");
    assert!(stderr(&output).contains("--published uses those of crates.io"), "{}", stderr(&output));

    fs::write(root.join("src/main.rs"), "fn main() {}\n").unwrap();
    fs::remove_file(root.join("build.rs")).unwrap();
    let output = offload(root, &["init"]);
    assert!(
        stderr(&output).contains("next: add `offload_rt::include_kernels!(\"blas\");`"),
        "{}",
        stderr(&output)
    );
    assert_eq!(read(&root.join("src/main.rs")), "fn main() {}\n");
    assert!(!stderr(&offload(root, &["init"])).contains("next:"));
}

#[test]
fn the_doctor_needs_no_tool() {
    let dir = tempfile::tempdir().unwrap();
    let output = without_tools(dir.path(), &["doctor", "host", "intel:pvc", "portable"]).output().unwrap();
    let message = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{message}{}", stderr(&output));
    for part in ["no: lacks clang, PoCL's library", "no: lacks clang, ocloc", "hint: "] {
        assert!(message.contains(part), "{message}");
    }

    let json = stdout(&without_tools(dir.path(), &["doctor", "--json", "cubin:sm_90"]).output().unwrap());
    let objects: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let clang = objects.iter().find(|object| object["name"] == "clang").unwrap();
    assert!(clang["path"].is_null() && clang["remedy"].is_string(), "{clang}");
    // Without clang too, the hint installs both.
    let libclc = objects.iter().find(|object| object["name"] == "libclc (NVIDIA)").unwrap();
    assert!(libclc["remedy"].as_str().unwrap().contains("libclc"), "{libclc}");
    let target = objects.last().unwrap();
    assert_eq!((&target["reason"], &target["buildable"]), (&"target".into(), &false.into()));
    assert_eq!(target["lacks"], serde_json::json!(["clang", "libclc (NVIDIA)", "ptxas"]));

    let mistake = offload(dir.path(), &["doctor", "intel:pcv"]);
    assert_eq!(mistake.status.code(), Some(2));
    assert!(stderr(&mistake).contains("intel:pvc"), "{}", stderr(&mistake));
}

fn cuda_routes(dir: &Path, sdk: &Path) -> Vec<Value> {
    let mut command = without_tools(dir, &["doctor", "cuda", "--json"]);
    let output = command.env("OFFLOAD_CUDA_SDK", sdk).output().unwrap();
    objects(&stdout(&output), "cuda-route")
}

#[test]
fn the_doctor_explains_every_way_to_cuda() {
    let dir = tempfile::tempdir().unwrap();
    let output = without_tools(dir.path(), &["doctor", "cuda"]).output().unwrap();
    let message = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    for part in
        ["clang with headers", "cuda-sdk = true", "compiler = \"nvcc\"", "no: lacks clang, CUDA's headers"]
    {
        assert!(message.contains(part), "{message}");
    }
    assert!(
        message.contains("hint: for nvcc: ") && message.contains("`cargo offload toolchain install nvcc`"),
        "{message}"
    );
    assert!(
        message.contains(
            "hint: for CUDA's headers: `cargo offload toolchain install cuda-headers` (a download of 7 MB)"
        ),
        "{message}"
    );

    // A toolkit that has headers, first without CCCL.
    let sdk = dir.path().join("cuda");
    std::fs::create_dir_all(sdk.join("include")).unwrap();
    std::fs::write(sdk.join("include/cuda.h"), "").unwrap();
    let with_headers = cuda_routes(dir.path(), &sdk)[1].clone();
    assert_eq!(
        (&with_headers["ready"], &with_headers["lacks"]),
        (&false.into(), &serde_json::json!(["clang"]))
    );
    assert!(
        with_headers["sources"].as_str().unwrap().ends_with("lacks cuda/std, CUB, Thrust"),
        "{with_headers}"
    );
    std::fs::create_dir_all(sdk.join("include/cccl/cuda/std")).unwrap();
    assert!(
        cuda_routes(dir.path(), &sdk)[1]["sources"].as_str().unwrap().ends_with(", cuda/std, CUB, Thrust")
    );
    assert_eq!(cuda_routes(dir.path(), &sdk)[3]["ready"], true);
}

#[test]
fn the_doctor_looks_at_the_configured_targets() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("offload.toml"), "targets = [{ name = \"cubin:sm_90\", optional = true }]\n")
        .unwrap();
    let message = stdout(&without_tools(dir.path(), &["doctor"]).output().unwrap());
    assert!(message.contains("cubin:sm_90") && !message.contains("spirv64"), "{message}");
}

fn examined(dir: &Path, remote: &str) -> Vec<Value> {
    let mut command = without_tools(dir, &["doctor", "--json", "opencl-c"]);
    let output = command.env("OFFLOAD_REMOTE", remote).output().unwrap();
    objects(&stdout(&output), "remote")
}

#[test]
fn the_doctor_examines_other_machines() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("offload.toml"), "[remote]\nurl = \"shared\"\n").unwrap();
    assert!(examined(dir.path(), "0").is_empty());
    let found = examined(dir.path(), "");
    if cfg!(all(feature = "remote", unix)) {
        assert_eq!((&found[0]["reads"], &found[0]["writes"]), (&true.into(), &true.into()));
        assert!(found[0]["executes"].is_null() && found[0]["problems"] == serde_json::json!([]), "{found:?}");
        assert!(dir.path().join("shared/ac").is_dir());
        let refused = examined(dir.path(), "grpc://127.0.0.1:1");
        assert!(refused[0]["problems"][0]["remedy"].as_str().unwrap().contains("nothing listens there"));
    } else {
        let remedy = &found[0]["problems"][0]["remedy"];
        assert_eq!(remedy, "`cargo install cargo-offload --features remote`");
    }
}

fn refusal(dir: &Path, settings: &str) -> String {
    let args = ["remote-server", "--socket", "socket", "--settings", settings];
    let output = offload(dir, &args);
    assert_eq!(output.status.code(), Some(2));
    stderr(&output)
}

#[test]
fn the_process_for_other_machines_says_why_it_does_not_start() {
    let dir = tempfile::tempdir().unwrap();
    if cfg!(all(feature = "remote", unix)) {
        assert!(refusal(dir.path(), "url = 'ftp://x'").contains("hint: write `grpc://HOST:PORT`"));
        assert!(refusal(dir.path(), "url = '/x'\nupload = 1").contains("invalid type: integer `1`"));
    } else {
        assert!(
            refusal(dir.path(), "url = '/x'")
                .contains("hint: `cargo install cargo-offload --features remote`")
        );
    }
    assert!(!ok(dir.path(), &["--help"]).contains("remote-server"));
}

#[test]
fn the_cache_is_shown_checked_and_cleaned() {
    let dir = tempfile::tempdir().unwrap();
    let empty = ok(dir.path(), &["cache", "stats"]);
    assert!(empty.contains("0 entries, 0 B (limit 5.0 GiB)"), "{empty}");
    // Asking for versions makes the cache.
    without_tools(dir.path(), &["doctor"]).output().unwrap();
    let release = fs::read_dir(dir.path().join("cache")).unwrap().next().unwrap().unwrap().path();
    let damaged = release.join("ab").join(format!("{}.blob", "ab".repeat(16)));
    fs::create_dir_all(damaged.parent().unwrap()).unwrap();
    fs::write(&damaged, "OFLDBLOB, cut short").unwrap();
    let stats: Value =
        serde_json::from_str(&ok(dir.path(), &["cache", "stats", "--message-format", "json"])).unwrap();
    assert_eq!((&stats["entries"], &stats["bytes"]), (&1.into(), &19.into()));

    let verified = offload(dir.path(), &["cache", "verify"]);
    assert_eq!(verified.status.code(), Some(1));
    assert!(stdout(&verified).contains("0 valid entries, 1 damaged"), "{}", stdout(&verified));
    assert!(!damaged.exists());

    fs::write(&damaged, "OFLDBLOB").unwrap();
    assert_eq!(ok(dir.path(), &["cache", "clean", "--unused", "3"]), "removed 0 entries, 0 B\n");
    assert_eq!(ok(dir.path(), &["cache", "clean"]), "removed 1 entry, 8 B\n");
    assert!(!damaged.exists());
}

#[test]
fn shells_and_man_know_the_commands() {
    let dir = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = ok(dir.path(), &["completions", shell]);
        assert!(script.contains("cargo-offload") && script.contains("prune"), "{shell}: {script}");
    }
    assert!(ok(dir.path(), &["man"]).contains(".TH cargo-offload 1"));
    ok(dir.path(), &["man", "--directory", "man1"]);
    let pages = files(&dir.path().join("man1"));
    for page in ["cargo-offload.1", "cargo-offload-verify.1", "cargo-offload-targets-add.1"] {
        assert!(pages.iter().any(|is| is == page), "{pages:?}");
    }
    assert!(read(&dir.path().join("man1/cargo-offload-new.1")).contains("checkout"));
}

#[test]
fn cargo_help_offload_works() {
    let program = Path::new(env!("CARGO_BIN_EXE_cargo-offload"));
    let path = std::env::var_os("PATH").unwrap();
    let dirs = [program.parent().unwrap().to_path_buf()].into_iter().chain(std::env::split_paths(&path));
    let output = Command::new(env!("CARGO"))
        .args(["help", "offload"])
        .env("PATH", std::env::join_paths(dirs).unwrap())
        .output()
        .unwrap();
    assert!(stdout(&output).contains("Usage: cargo offload"), "{}{}", stdout(&output), stderr(&output));
}

fn is_coloured(dir: &Path, args: &[&str], variable: Option<&str>) -> bool {
    let mut command = command(dir, &[args, &["inspect", "nothing"]].concat());
    if let Some(value) = variable {
        command.env("CARGO_TERM_COLOR", value);
    }
    stderr(&command.output().unwrap()).contains("\u{1b}[1;31merror")
}

#[test]
fn colours_are_where_they_are_wanted() {
    let dir = tempfile::tempdir().unwrap();
    assert!(!is_coloured(dir.path(), &[], None), "there is no terminal");
    assert!(
        is_coloured(dir.path(), &["--color", "always"], None) && is_coloured(dir.path(), &[], Some("always"))
    );
    assert!(!is_coloured(dir.path(), &["--color", "never"], Some("always")));
}
