//! Results that machines share: one that has none of its own takes those of another, and what is wrong there is made here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::script::{Places, Script, differences, of_programs, succeed};
use crate::support::{Project, cargo_offload, program};

/// Machines that share a folder: each has a cache and a package of its own.
struct Machines {
    project: Project,
    script: Script,
    folder: tempfile::TempDir,
}

/// The files and the output of a build.
struct Built {
    files: BTreeMap<PathBuf, Vec<u8>>,
    output_text: String,
    /// Compilers that ran, without those that were asked for their version, or that only look at a result.
    compilers: Vec<String>,
}

impl Machines {
    fn new() -> Machines {
        let project = Project::with_fake_tools("two-files");
        let script = Script::for_project(&project);
        project.calls();
        Machines { project, script, folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Where the machine `name` works: sources at a path of its own.
    fn places(&self, name: &str) -> Places {
        let package = self.path(name).join("package");
        copy(&self.project.path(""), &package);
        Places { package, out: self.path(name).join("out"), cache: self.path(name).join("cache") }
    }

    fn command(&self, name: &str) -> Command {
        let mut command = self.script.command(&self.places(name));
        command.env("OFFLOAD_REMOTE", self.path("shared")).env("OFFLOAD_CARGO_OFFLOAD", cargo_offload());
        command
    }

    fn build(&self, name: &str) -> Built {
        self.built(name, &mut self.command(name))
    }

    fn built(&self, name: &str, command: &mut Command) -> Built {
        let output_text = succeed(command);
        let mut compilers = self.project.calls();
        compilers.retain(|call| !call.ends_with(" ask") && !call.starts_with("spirv-val"));
        Built { files: of_programs(&self.path(name).join("out")), output_text, compilers }
    }

    /// The files of results in the shared folder.
    fn results(&self, below: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        list(&self.path("shared").join(below), &mut found);
        found.sort();
        found
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for name in ["Cargo.toml", "offload.toml"] {
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
    fs::create_dir_all(to.join("kernels")).unwrap();
    for entry in fs::read_dir(from.join("kernels")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, to.join("kernels").join(path.file_name().unwrap())).unwrap();
    }
}

fn list(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { list(&path, found) } else { found.push(path) }
    }
}

fn warnings(output_text: &str) -> Vec<&str> {
    output_text.lines().filter_map(|line| line.strip_prefix("cargo::warning=")).collect()
}

/// The places where the results of a build come from.
fn places(machines: &Machines, name: &str) -> BTreeSet<String> {
    let file = machines.path("progress");
    fs::write(&file, "").unwrap();
    machines.built(name, machines.command(name).env("OFFLOAD_PROGRESS", &file));
    let text = fs::read_to_string(file).unwrap();
    let done = text.lines().filter(|line| line.starts_with("done\t"));
    done.filter_map(|line| line.rsplit('\t').next()).map(str::to_string).collect()
}

#[test]
fn each_compile_tells_where_it_was_done() {
    let machines = Machines::new();
    // A target may find all of it in the cache, where another one of the same build had it made or fetched.
    let mut first = places(&machines, "first");
    first.remove("cache");
    assert_eq!(first, ["here".to_string()].into());
    let mut second = places(&machines, "second");
    second.remove("cache");
    assert_eq!(second, ["stored".to_string()].into());
    assert_eq!(places(&machines, "second"), ["cache".to_string()].into());
}

/// How many results of a machine's cache were stored by others, and made here.
fn stats(machines: &Machines, name: &str) -> [u64; 2] {
    let mut command = Command::new(cargo_offload());
    command.args(["offload", "cache", "stats", "--message-format", "json"]).current_dir(machines.path(name));
    let output_text = succeed(command.env("OFFLOAD_CACHE_DIR", machines.path(name).join("cache")));
    let stats: serde_json::Value = serde_json::from_str(output_text.lines().next().unwrap()).unwrap();
    ["stored", "here"].map(|origin| stats["results"][origin].as_u64().unwrap())
}

#[test]
fn a_machine_takes_what_another_has_compiled() {
    let machines = Machines::new();
    let first = machines.build("first");
    assert!(first.compilers.len() >= 5, "{:?}", first.compilers);
    let second = machines.build("second");
    assert_eq!(second.compilers, [""; 0]);
    assert_eq!(differences(&first.files, &second.files), [""; 0]);
    assert_eq!([warnings(&first.output_text), warnings(&second.output_text)], [[""; 0]; 2]);
    let [[0, here], [stored, 0]] = [stats(&machines, "first"), stats(&machines, "second")] else {
        panic!("{}", first.output_text)
    };
    assert!(here >= 5 && stored == here, "{here} {stored}");
}

/// Builds with the compilers in `tools`; how many of them ran.
fn compiles_with(tools: &Path, machines: &Machines, name: &str) -> usize {
    let mut command = machines.command(name);
    for (variable, tool) in
        [("OFFLOAD_CLANG", "clang"), ("OFFLOAD_OCLOC", "ocloc"), ("OFFLOAD_SPIRV_VAL", "spirv-val")]
    {
        command.env(variable, tools.join(tool));
    }
    succeed(&mut command);
    let calls = fs::read_to_string(tools.join("calls.log")).unwrap_or_default();
    let _ = fs::remove_file(tools.join("calls.log"));
    calls
        .lines()
        .filter(|line| !line.contains("--version") && !line.contains("-print-resource-dir"))
        .filter(|line| !line.starts_with("spirv-val"))
        .count()
}

#[test]
fn compilers_count_by_their_content() {
    let machines = Machines::new();
    machines.build("first");
    let tools = machines.path("tools");
    fs::create_dir_all(&tools).unwrap();
    for entry in fs::read_dir(machines.project.path("tools")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            program::copy(&path, &tools.join(path.file_name().unwrap()));
        }
    }
    assert_eq!(compiles_with(&tools, &machines, "second"), 0, "the same compiler at another place");
    let ocloc = tools.join("ocloc");
    let longer = [fs::read(&ocloc).unwrap(), b"another".to_vec()].concat();
    program::write(&ocloc, longer);
    assert_eq!(compiles_with(&tools, &machines, "third"), 1, "another ocloc");
}

#[test]
fn an_edit_is_compiled_and_the_rest_is_taken() {
    let machines = Machines::new();
    machines.build("first");
    let second = machines.places("second");
    let kernel = "__kernel void alpha(__global int *x) { x[0] = 5; }\n";
    fs::write(second.package.join("kernels/a.cl"), kernel).unwrap();
    let mut command = machines.script.command(&second);
    command.env("OFFLOAD_REMOTE", machines.path("shared")).env("OFFLOAD_CARGO_OFFLOAD", cargo_offload());
    let built = machines.built("second", &mut command);
    let front_ends = built.compilers.iter().filter(|call| call.ends_with("a.cl")).count();
    let others = built.compilers.iter().filter(|call| call.ends_with("b.cl")).count();
    assert!(front_ends >= 1 && others == 0, "{:?}", built.compilers);
}

#[test]
fn what_is_damaged_or_exchanged_there_is_made_here() {
    let machines = Machines::new();
    let first = machines.build("first");
    let actions = machines.results("ac");
    let blobs = machines.results("cas");
    assert!(actions.len() >= 5 && blobs.len() >= 5, "{actions:?} {blobs:?}");
    let whole: BTreeMap<PathBuf, Vec<u8>> =
        actions.iter().chain(&blobs).map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    type Damage = fn(usize, &[u8], &[u8]) -> Vec<u8>;
    let damages: [(&str, &[PathBuf], Damage); 5] = [
        ("exchanged actions", &actions, |_, _, next| next.to_vec()),
        ("cut actions", &actions, |_, bytes, _| bytes[..bytes.len() / 2].to_vec()),
        ("exchanged blobs", &blobs, |_, _, next| next.to_vec()),
        ("flipped blobs", &blobs, |number, bytes, _| {
            let at = (number * 37) % bytes.len();
            let mut bytes = bytes.to_vec();
            bytes[at] ^= 1;
            bytes
        }),
        ("empty blobs", &blobs, |_, _, _| Vec::new()),
    ];
    for (number, (name, paths, damage)) in damages.into_iter().enumerate() {
        for (at, path) in paths.iter().enumerate() {
            let next = &whole[&paths[(at + 1) % paths.len()]];
            fs::write(path, damage(at, &whole[path], next)).unwrap();
        }
        // Read alone: what is made is not stored over the damage.
        let built = machines.build(&format!("machine-{number}"));
        assert_eq!(differences(&first.files, &built.files), [""; 0], "{name}");
        assert!(built.compilers.len() >= 5, "{name}: {:?}", built.compilers);
        for (path, bytes) in &whole {
            fs::write(path, bytes).unwrap();
        }
    }
    let figure = format!("{} damaged results of five kinds", 3 * blobs.len() + 2 * actions.len());
    offload_tests::figure(figure, "0 wrong images, 0 failed builds");
}

#[test]
fn a_server_that_is_gone_costs_a_warning() {
    let machines = Machines::new();
    let alone = {
        let output_text = succeed(&mut machines.script.command(&machines.places("alone")));
        (of_programs(&machines.path("alone").join("out")), output_text)
    };
    machines.project.calls();
    let mut command = machines.command("gone");
    // Nothing listens on this port.
    let built = machines.built("gone", command.env("OFFLOAD_REMOTE", "grpc://127.0.0.1:1"));
    assert_eq!(differences(&alone.0, &built.files), [""; 0]);
    let output_text = warnings(&built.output_text);
    let ours = output_text.iter().filter(|line| line.contains("grpc://127.0.0.1:1")).count();
    assert_eq!(ours, 1, "{output_text:?}");
    assert!(
        output_text.iter().any(|line| line.starts_with("no results come from `grpc://127.0.0.1:1`: ")),
        "{output_text:?}"
    );
}

#[test]
fn without_cargo_offload_the_warning_names_it() {
    let machines = Machines::new();
    let mut command = machines.command("alone");
    let built = machines.built("alone", command.env_remove("OFFLOAD_CARGO_OFFLOAD").env("PATH", "/nowhere"));
    let output_text = warnings(&built.output_text).join("\n");
    assert!(output_text.contains("`cargo-offload` is not in PATH"), "{output_text}");
    assert!(output_text.contains("cargo install cargo-offload --features remote"), "{output_text}");
}

#[test]
fn a_machine_that_does_not_upload_leaves_nothing() {
    let machines = Machines::new();
    let places = machines.places("reader");
    let shared = machines.path("shared");
    let settings = format!(
        "targets = [\"spirv64\", \"intel:pvc\", \"opencl-c\"]\nremote = {{ url = \"{}\", upload = false }}\n",
        shared.display()
    );
    fs::write(places.package.join("offload.toml"), settings).unwrap();
    let mut command = machines.script.command(&places);
    succeed(
        command
            .env("OFFLOAD_CONFIG", places.package.join("offload.toml"))
            .env("OFFLOAD_CARGO_OFFLOAD", cargo_offload()),
    );
    assert!(machines.results("ac").is_empty() && machines.results("cas").is_empty());
    // Other settings write.
    machines.build("writer");
    assert!(!machines.results("cas").is_empty());
}
