//! Poor surroundings of a build: it succeeds, or says in one error what is wrong; nothing panics, nothing is left running,
//! and no program is run that only lies in the current directory.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::script::{Places, Script, differences, files, output_text, succeed, wrapped};
use crate::support::{Project, program};

/// How a build in some surroundings has to end.
enum End {
    Well,
    /// With an error that has these texts in it.
    Says(&'static [&'static str]),
}

/// Surroundings: what is other than usual, and how a build ends in them.
struct Surroundings {
    name: &'static str,
    make: fn(&mut Place) -> Command,
    end: End,
}

/// Where a build runs.
struct Place {
    script: Script,
    project: Project,
    directory: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let project = Project::with_fake_tools("two-files");
        Place { script: Script::for_project(&project), project, directory: tempfile::tempdir().unwrap() }
    }

    /// Another, with the build script of this one.
    fn another(&self) -> Place {
        let project = Project::with_fake_tools("two-files");
        Place { script: self.script.for_copy(&project), project, directory: tempfile::tempdir().unwrap() }
    }

    fn places(&self) -> Places {
        let below = self.directory.path();
        Places { package: self.project.path(""), out: below.join("out"), cache: below.join("cache") }
    }

    fn command(&self) -> Command {
        self.script.command(&self.places())
    }

    /// As another user, for whom nothing is writable that is not made so.
    fn as_nobody(&self) -> Command {
        let unprivileged = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
        let command = wrapped(&unprivileged, &self.command());
        for (directory, mode) in [
            (self.directory.path().to_path_buf(), 0o755),
            (self.project.path(""), 0o755),
            (self.project.path("tools"), 0o777),
        ] {
            fs::set_permissions(directory, fs::Permissions::from_mode(mode)).unwrap();
        }
        command
    }

    /// A copy of the package under this name.
    fn renamed(&self, name: &OsStr) -> Command {
        let package = self.directory.path().join(name);
        let copied = Command::new("cp").arg("-a").arg(self.project.path("")).arg(&package).status().unwrap();
        assert!(copied.success());
        let out = package.join("out");
        let cache = package.join("kept");
        self.script.command(&Places { package, out, cache })
    }

    /// ocloc as this script.
    fn with_ocloc(&mut self, text: &str) -> Command {
        let path = self.directory.path().join("ocloc");
        program::write(&path, format!("#!/bin/sh\n{text}\n"));
        let mut command = self.command();
        command.env("OFFLOAD_OCLOC", path);
        command
    }
}

const CASES: [Surroundings; 19] = [
    Surroundings { name: "as usual", make: |place| place.command(), end: End::Well },
    Surroundings { name: "no HOME", make: |place| without(place, "HOME"), end: End::Well },
    Surroundings { name: "no TMPDIR", make: |place| without(place, "TMPDIR"), end: End::Well },
    Surroundings {
        name: "a TMPDIR that is not there",
        make: |place| with(place, "TMPDIR", "/nonexistent"),
        end: End::Well,
    },
    Surroundings { name: "umask 077", make: |place| shell(place, "umask 077"), end: End::Well },
    Surroundings { name: "64 open files", make: |place| shell(place, "ulimit -n 64"), end: End::Well },
    Surroundings {
        name: "a name with spaces",
        make: |place| place.renamed(OsStr::new("a b  c")),
        end: End::Well,
    },
    Surroundings {
        name: "a name with quotes",
        make: |place| place.renamed(OsStr::new("it's \"so\" $HOME `x`")),
        end: End::Well,
    },
    Surroundings {
        name: "a long name",
        make: |place| place.renamed(OsStr::new(&"long".repeat(50))),
        end: End::Well,
    },
    Surroundings {
        name: "a name of other characters",
        make: |place| place.renamed(OsStr::new("größe-核")),
        end: End::Well,
    },
    Surroundings {
        name: "a name with a line break",
        make: |place| place.renamed(OsStr::new("a\ncargo::rustc-link-arg=x")),
        end: End::Well,
    },
    Surroundings {
        name: "a name that is no text",
        make: |place| place.renamed(OsStr::from_bytes(b"a\xffb")),
        end: End::Says(&["UTF-8"]),
    },
    Surroundings {
        name: "a full disk",
        make: full_disk,
        end: End::Says(&["cannot write", "out/", "No space left"]),
    },
    Surroundings {
        name: "a cache on a full disk",
        make: full_cache,
        end: End::Says(&["cannot write", "cache/", "No space left"]),
    },
    Surroundings {
        name: "a tool that crashes",
        make: |place| place.with_ocloc("kill -SEGV $$"),
        end: End::Says(&["signal: 11", "ocloc"]),
    },
    Surroundings {
        name: "a tool that writes garbage",
        make: |place| place.with_ocloc("while [ \"$1\" != -output ]; do shift; done; echo garbage > \"$2\""),
        end: End::Says(&["its output is not usable", "ocloc"]),
    },
    Surroundings {
        name: "a tool that prints for ever",
        make: |place| {
            let mut command = place.with_ocloc("exec yes");
            command.env("OFFLOAD_TOOL_TIMEOUT", "1");
            command
        },
        end: End::Says(&["stopped, because it ran for more than 1 s", "OFFLOAD_TOOL_TIMEOUT"]),
    },
    Surroundings {
        name: "an OUT_DIR that may only be read",
        make: |place| {
            let command = place.as_nobody();
            give_to_nobody(&place.places().cache);
            command
        },
        end: End::Says(&["cannot "]),
    },
    Surroundings {
        name: "a cache of another user",
        make: |place| {
            let command = place.as_nobody();
            give_to_nobody(&place.places().out);
            command
        },
        end: End::Says(&["cannot create directory", "cache/", "Permission denied"]),
    },
];

fn give_to_nobody(directory: &Path) {
    assert!(Command::new("chown").arg("65534:65534").arg(directory).status().unwrap().success());
}

fn with(place: &Place, name: &str, value: &str) -> Command {
    let mut command = place.command();
    command.env(name, value);
    command
}

fn without(place: &Place, name: &str) -> Command {
    let mut command = place.command();
    command.env_remove(name);
    command
}

/// After a command of the shell.
fn shell(place: &Place, first: &str) -> Command {
    wrapped(&["sh", "-c", &format!("{first}; exec \"$0\"")], &place.command())
}

/// In a name space of its own, a file system of 16 KiB over `directory`.
fn over(place: &Place, directory: &str) -> Command {
    let inner = place.command();
    let target = place.directory.path().join(directory);
    let mount = format!("mount -t tmpfs -o size=16k none '{}' && exec \"$0\"", target.display());
    wrapped(&["unshare", "--mount", "sh", "-c", &mount], &inner)
}

fn full_disk(place: &mut Place) -> Command {
    place.project.write("kernels/a.cl", &large_kernel());
    over(place, "out")
}

fn full_cache(place: &mut Place) -> Command {
    place.project.write("kernels/a.cl", &large_kernel());
    over(place, "cache")
}

/// Its text alone is larger than the disk, and compresses badly enough.
fn large_kernel() -> String {
    let mut state = 1u64;
    let mut text = "__kernel void alpha(__global int *x) {\n}\n".to_string();
    for _ in 0..4000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        text.push_str(&format!("// {state:x}\n"));
    }
    text
}

fn is_root() -> bool {
    succeed(Command::new("id").arg("-u")).trim() == "0"
}

#[test]
fn a_build_succeeds_or_says_what_is_wrong() {
    let mut tried = 0;
    let built = Place::new();
    for Surroundings { name, make, end } in CASES {
        // Other users and file systems are root's to give.
        let of_root = name.contains("disk") || name.contains("read") || name.contains("another user");
        if of_root && !is_root() {
            continue;
        }
        let mut place = built.another();
        let output = make(&mut place).output().unwrap();
        let text = output_text(&output);
        // The stand-in for a compiler may panic, on a full disk.
        let mut panics = text.lines().filter(|line| line.contains("panicked at"));
        assert!(panics.all(|line| line.contains("fake-tool.rs")), "{name}: {text}");
        match end {
            End::Well => {
                assert!(output.status.success(), "{name}: {text}");
                assert!(!text.contains("\ncargo::rustc-link-arg"), "{name}: {text}");
            }
            End::Says(parts) => {
                assert_eq!(output.status.code(), Some(1), "{name}: {text}");
                parts.iter().for_each(|part| assert!(text.contains(part), "{name}: {part}: {text}"));
                let lines = text.lines().filter(|line| line.starts_with("cargo::rustc-link"));
                assert_eq!(lines.count(), 0, "{name}: {text}");
            }
        }
        tried += 1;
    }
    offload_tests::figure(format!("{tried} surroundings"), "0 panics, 0 errors without a file or tool");
}

/// Write access to a source directory must not be enough to choose the compilers.
#[test]
fn programs_in_the_current_directory_are_not_run() {
    let place = Place::new();
    let marker = place.directory.path().join("was run");
    let names = ["clang", "clang-22", "llvm-link", "llvm-link-22", "ocloc", "spirv-val", "ptxas", "ld.lld"];
    for folder in ["", "bin/"] {
        fs::create_dir_all(place.project.path("bin")).unwrap();
        for name in names {
            let text = format!("#!/bin/sh\necho \"$0\" >> '{}'\nexit 1\n", marker.display());
            program::write(&place.project.path(&format!("{folder}{name}")), text);
        }
    }
    let mut tried = 0;
    for path in [".", "", "bin", "./bin", ".:bin:", ":.:"] {
        let mut command = place.command();
        for variable in ["OFFLOAD_CLANG", "OFFLOAD_OCLOC", "OFFLOAD_SPIRV_VAL"] {
            command.env_remove(variable);
        }
        command.env("PATH", format!("{path}:/usr/bin:/bin")).output().unwrap();
        assert!(!marker.exists(), "{path}: {}", fs::read_to_string(&marker).unwrap());
        tried += names.len();
    }
    offload_tests::figure(format!("{tried} programs in relative places"), "0 run");
}

/// What else is there could change what a compiler does, unseen.
#[test]
fn compilers_get_the_variables_that_are_listed_and_no_others() {
    const KEPT: [&str; 5] = ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "LC_ALL"];
    let mut place = Place::new();
    let list = place.directory.path().join("variables");
    let mut command =
        place.with_ocloc(&format!("tr '\\0' '\\n' < /proc/self/environ > '{}'; exit 1", list.display()));
    for name in [
        "CPATH",
        "C_INCLUDE_PATH",
        "IGC_ShaderDumpEnable",
        "NEOReadDebugKeys",
        "LD_PRELOAD_NOT",
        "CCC_OVERRIDE_OPTIONS",
    ] {
        command.env(name, "x");
    }
    command.output().unwrap();
    let text = fs::read_to_string(&list).unwrap();
    // The shell adds three of its own.
    let shells = ["PWD", "OLDPWD", "_", "SHLVL"];
    let names = text.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name);
    let others: Vec<&str> = names.filter(|name| !KEPT.contains(name) && !shells.contains(name)).collect();
    assert!(others.is_empty() && text.contains("LC_ALL=C"), "{others:?}");
}

/// As a terminal does at Ctrl-C: to all processes of the group.
#[test]
fn an_interrupt_leaves_no_process_and_the_next_build_is_whole() {
    let place = Place::new();
    succeed(&mut place.command());
    let reference = files(&place.places().out);
    fs::remove_dir_all(place.places().out).unwrap();
    fs::remove_dir_all(place.places().cache).unwrap();
    place.project.fault("ocloc", "hang");
    // What starts tests in the background has the signal ignored, which children inherit.
    let mut command = wrapped(&["env", "--default-signal=INT", "setsid"], &place.command());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let tools = place.project.path("tools");
    assert!(wait_until(|| is_running(&tools.join("ocloc"))), "ocloc has not started");
    let group = format!("-{}", child.id());
    assert!(Command::new("kill").args(["-INT", "--", &group]).status().unwrap().success());
    child.wait().unwrap();
    assert!(wait_until(|| !is_running(&tools.join("ocloc"))), "ocloc is left");
    place.project.fault("ocloc", "");
    succeed(&mut place.command());
    let found = differences(&files(&place.places().out), &reference);
    assert!(found.is_empty(), "{found:?}");
}

fn wait_until(is_so: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) {
        if is_so() {
            return true;
        }
        thread::sleep(Duration::from_millis(10));
    }
    false
}

/// Whether a process of this program runs.
fn is_running(program: &Path) -> bool {
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path().join("exe")));
    let mut programs = processes.filter_map(|link| fs::read_link(link).ok());
    programs.any(|running: PathBuf| running == program)
}
