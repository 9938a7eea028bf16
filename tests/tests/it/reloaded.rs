//! `cargo offload dev`: kernels that are saved while the program runs, on the host CPU, PoCL and Intel's CPU runtime.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::Project;

/// More than anything takes on a machine that does other work too.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running `cargo offload dev`, under strace, which writes down what it starts.
struct Dev<'p> {
    project: &'p Project,
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl<'p> Dev<'p> {
    fn start(project: &'p Project) -> Dev<'p> {
        let end = project.path("end").display().to_string();
        let dev = project.offload_command(&["dev", "--offline", "--", &end]);
        let mut command = Command::new("strace");
        command.args(["-f", "--seccomp-bpf", "-qq", "-e", "trace=execve", "-o"]).arg(project.path("started"));
        command.arg(dev.get_program()).args(dev.get_args()).current_dir(project.path(""));
        project.set_environment(project.target_dir(), &mut command);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = mpsc::channel();
        read(child.stdout.take().unwrap(), sender.clone());
        read(child.stderr.take().unwrap(), sender);
        Dev { project, child, lines, seen: Vec::new() }
    }

    /// Waits until each of `wanted` stands in a line; what was printed until then.
    fn wait_for(&mut self, wanted: &[String]) -> Vec<String> {
        let since = Instant::now();
        let mut new = Vec::new();
        while !wanted.iter().all(|text| new.iter().any(|line: &String| line.contains(text))) {
            let left = PATIENCE.saturating_sub(since.elapsed());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    self.seen.push(line.clone());
                    new.push(line);
                }
                Err(error) => panic!("{wanted:?}: {error}\n{}", self.seen.join("\n")),
            }
        }
        new
    }

    /// The names of the programs that were started since the last time.
    fn started(&self) -> Vec<String> {
        let path = self.project.path("started");
        let text = fs::read_to_string(&path).unwrap();
        let known = fs::read_to_string(self.project.path("known")).unwrap_or_default();
        fs::write(self.project.path("known"), &text).unwrap();
        let new =
            text[known.len()..].lines().filter(|line| line.contains("execve(") && line.ends_with(" = 0"));
        new.filter_map(|line| line.split('"').nth(1)?.rsplit('/').next().map(str::to_string)).collect()
    }

    /// Ends the program; its exit code is that of the command.
    fn end(mut self) {
        fs::write(self.project.path("end"), "").unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{}", self.seen.join("\n"));
        let folders = self.project.target_dir().join("offload-dev");
        assert_eq!(fs::read_dir(folders).unwrap().count(), 0);
    }
}

impl Drop for Dev<'_> {
    fn drop(&mut self) {
        // It looks for the file by itself, and so ends where a test has failed.
        let _ = fs::write(self.project.path("end"), "");
        let _ = self.child.wait();
    }
}

fn read(pipe: impl Read + Send + 'static, lines: Sender<String>) {
    thread::spawn(move || {
        BufReader::new(pipe).lines().map_while(Result::ok).try_for_each(|line| lines.send(line))
    });
}

/// The devices for which the program prints.
fn devices() -> Vec<String> {
    let others = offload_rt::opencl::devices().unwrap_or_default();
    others.iter().map(|device| device.name().to_string()).chain(["host CPU".to_string()]).collect()
}

/// The lines with which each device tells that it has kernels with this value.
fn results(value: u32) -> Vec<String> {
    let mut lines: Vec<String> =
        devices().iter().map(|name| format!("{name}: {value} {}", 10 * value)).collect();
    lines.dedup();
    lines
}

fn one(text: &str) -> [String; 1] {
    [text.to_string()]
}

#[test]
fn saved_kernels_reach_the_running_program() {
    let project = Project::new("reloaded");
    let source = fs::read_to_string(project.path("kernels/demo.cl")).unwrap();
    let mut dev = Dev::start(&project);
    dev.wait_for(&results(2));
    assert!(dev.started().iter().any(|name| name == "cargo"));

    // A header, of which every kernel has a part.
    let saved = Instant::now();
    project.write("kernels/value.h", "#define VALUE 3\n");
    let host = [format!("host CPU: {} {}", 3, 30)];
    let mut output_text = dev.wait_for(&host);
    let on_host = saved.elapsed();
    if results(3).iter().any(|line| !output_text.contains(line)) {
        let rest: Vec<String> = results(3).into_iter().filter(|line| !output_text.contains(line)).collect();
        output_text.extend(dev.wait_for(&rest));
    }
    offload_tests::figure(
        format!("a kernel was saved, and had a new result on the host CPU after {} ms", on_host.as_millis()),
        format!("{} devices", devices().len()),
    );
    // For these devices alone, and by no compiler of Rust.
    let compiled = output_text.iter().find(|line| line.starts_with("compiled ")).unwrap();
    assert!(compiled.contains(" for host") && !compiled.contains("amdgcn"), "{compiled}");
    let started = dev.started();
    assert!(started.iter().any(|name| name == "build-script-build"), "{started:?}");
    // Rust's linker is started through `cc`. Images for the host are linked by LLVM's, and those of PoCL by itself.
    let others = ["cargo", "rustc", "cc", "gcc", "collect2", "rust-lld"];
    assert!(!started.iter().any(|name| others.contains(&name.as_str())), "{started:?}");
    println!("started: {}", started.join(" "));

    // The error has its location, and the program goes on.
    project.write("kernels/demo.cl", &source.replace("VALUE", "VALEU"));
    let output_text = dev.wait_for(&one("the program keeps the previous kernels")).join("\n");
    assert!(output_text.contains("kernels/demo.cl:4:") && output_text.contains("VALEU"), "{output_text}");
    assert!(!output_text.contains("host CPU:"), "{output_text}");

    // Calls that are compiled for other arguments are not made.
    let other = source.replace("scale_again(float a,", "scale_again(float a, uint n,");
    project.write("kernels/demo.cl", &other.replace("VALUE", "(VALUE + 1)"));
    let output_text = dev.wait_for(&one("`scale_again` takes 3 arguments now, and took 2")).join("\n");
    assert!(output_text.contains("keeps the previous kernels of `demo`"), "{output_text}");
    let output_text =
        dev.wait_for(&one("hint: end the program and start `cargo offload dev` again")).join("\n");
    assert!(!output_text.contains("host CPU:"), "{output_text}");

    // What fits again is taken, here the text before, which is compiled already.
    project.write("kernels/demo.cl", &source.replace("VALUE", "(VALUE + 2)"));
    dev.wait_for(&results(5));
    project.write("kernels/demo.cl", &source);
    dev.wait_for(&results(3));

    // A header that appears where none was, once as one that may be missing, once as one that may not.
    let late = "#if __has_include(\"late.h\")\n#include \"late.h\"\n#else\n#define LATE 6\n#endif\n";
    project.write("kernels/demo.cl", &format!("{late}{}", source.replace("VALUE", "LATE")));
    dev.wait_for(&results(6));
    project.write("kernels/late.h", "#define LATE 7\n");
    dev.wait_for(&results(7));
    let needed = format!("#include \"needed.h\"\n{}", source.replace("VALUE", "NEEDED"));
    project.write("kernels/demo.cl", &needed);
    dev.wait_for(&one("the program keeps the previous kernels"));
    project.write("kernels/needed.h", "#define NEEDED 8\n");
    dev.wait_for(&results(8));
    dev.end();
}

fn has_the_name(project: &Project) -> bool {
    let program = fs::read(project.program()).unwrap();
    let name = b"OFFLOAD_RELOAD_DIR";
    program.windows(name.len()).any(|bytes| bytes == name)
}

/// As that of a release.
#[test]
fn a_program_without_debug_assertions_looks_for_no_kernels() {
    // Everything that programs depend on is compiled twice.
    if !offload_tests::is_nightly() {
        return;
    }
    let mut project = Project::new("reloaded");
    project.set("OFFLOAD_SKIP", "1");
    assert!(has_the_name(&project));
    let manifest = fs::read_to_string(project.path("Cargo.toml")).unwrap();
    let setting = "[profile.dev.package.offload-rt]\ndebug-assertions = false\n";
    project.write("Cargo.toml", &format!("{manifest}\n{setting}"));
    assert!(!has_the_name(&project));
}
