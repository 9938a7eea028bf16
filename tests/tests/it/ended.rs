//! Processes of a command that was ended from outside: none is left.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::Project;

/// A build from nothing on a machine that does other work too takes minutes.
const PATIENCE: Duration = Duration::from_secs(900);

/// Processes that have a number in their arguments or their environment that no others have.
struct Marked {
    number: String,
}

impl Marked {
    fn new(project: &mut Project, waits: &str) -> Marked {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let number = format!("9{}", now.as_nanos() % 1_000_000_000);
        project.set("TEST_SECONDS", &number);
        project.set("TEST_WAITS", waits);
        Marked { number }
    }

    /// Their command lines.
    fn found(&self) -> Vec<String> {
        let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        processes.filter_map(|process| self.shown(&process)).collect()
    }

    /// The command line of a process, if it is one of them and has not ended.
    fn shown(&self, process: &Path) -> Option<String> {
        let read =
            |name: &str| Some(String::from_utf8_lossy(&fs::read(process.join(name)).ok()?).into_owned());
        let is_number = process.file_name()?.to_str()?.parse::<u32>().is_ok();
        let line = read("cmdline")?;
        let environment = read("environ").unwrap_or_default();
        let is_marked = line.contains(&self.number) || environment.contains(&self.number);
        (is_number && is_marked && !line.is_empty()).then(|| line.replace('\0', " "))
    }

    fn wait_until(&self, is_right: impl Fn(&[String]) -> bool) {
        let start = Instant::now();
        while !is_right(&self.found()) {
            assert!(start.elapsed() < PATIENCE, "{:#?}", self.found());
            thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Marked {
    fn drop(&mut self) {
        for path in fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path()) {
            if self.shown(&path).is_some() {
                signal("KILL", path.file_name().unwrap().to_str().unwrap());
            }
        }
    }
}

fn signal(name: &str, process: &str) {
    let _ = Command::new("kill").args(["-s", name, process]).stderr(Stdio::null()).status();
}

fn start(project: &Project, args: &[&str]) -> Child {
    let mut command = interruptible(&project.offload_command(args));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// The same command with default signal handlers: scripts and `nohup` start commands with SIGINT or SIGHUP ignored.
fn interruptible(command: &Command) -> Command {
    let mut same = Command::new("env");
    same.arg("--default-signal").arg(command.get_program()).args(command.get_args());
    same.current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => same.env(name, value),
            None => same.env_remove(name),
        };
    }
    same
}

const TEST: [&str; 8] =
    ["test", "--no-nextest", "--offline", "--device", "host", "starts_processes", "--", "--ignored"];

#[test]
fn no_test_and_no_child_of_it_outlives_the_command() {
    let mut project = Project::with_shared_cache("kernel-tests");
    let signals = ["TERM", "KILL", "INT", "HUP"];
    let sample = if offload_tests::is_full() { &signals[..] } else { &signals[..2] };
    for name in sample {
        let marked = Marked::new(&mut project, "yes");
        let mut command = start(&project, &TEST);
        marked.wait_until(|lines| lines.iter().filter(|line| line.starts_with("sleep ")).count() == 5);
        assert!(marked.found().len() > 6, "{:#?}", marked.found());
        signal(name, &command.id().to_string());
        assert_eq!(command.wait().unwrap().code(), None, "{name}");
        marked.wait_until(<[String]>::is_empty);
    }
}

#[test]
fn what_a_test_leaves_behind_ends_with_the_tests() {
    let mut project = Project::with_shared_cache("kernel-tests");
    let marked = Marked::new(&mut project, "");
    start(&project, &TEST).wait().unwrap();
    assert!(project.path("started").exists());
    assert_eq!(marked.found(), Vec::<String>::new());
}

#[test]
fn no_compiler_outlives_a_build() {
    let mut project = Project::new("kernel-tests");
    let marked = Marked::new(&mut project, "");
    // What asks for its version gets an answer; what is to compile does not end.
    let hangs = format!(
        "case \"$*\" in *--version*|*-print-*) exec clang-22 \"$@\";; esac\nsleep {}; true\n",
        marked.number
    );
    project.script_clang(&hangs);
    project.set("OFFLOAD_TARGETS", "host");
    let all = [
        &["build", "--offline"][..],
        &["bench", "--offline"],
        &["check", "--offline"],
        &["test", "--offline"],
    ];
    let sample = if offload_tests::is_full() { &all[..] } else { &all[..1] };
    for args in sample {
        for name in ["TERM", "KILL"] {
            let mut command = start(&project, args);
            marked.wait_until(|lines| lines.iter().any(|line| line.starts_with("sleep ")));
            signal(name, &command.id().to_string());
            command.wait().unwrap();
            marked.wait_until(<[String]>::is_empty);
        }
    }
}
