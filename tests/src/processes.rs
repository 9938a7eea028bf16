//! Counting device compilers: every process of a build is traced, whatever its name in `PATH`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The processes of a build that work for devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Processes {
    /// Programs that make images, and those on the way to them.
    pub compilers: usize,
    /// Compiler processes that only print a version or search directories.
    pub asked: usize,
    /// Linkers of images that no compiler starts.
    pub linkers: usize,
}

/// The same command under strace, which writes what starts to `log`.
pub fn traced(build: &Command, log: &Path) -> Command {
    let mut command = Command::new("strace");
    // With the filter only these calls stop a process.
    let options =
        ["-f", "-q", "-I", "2", "--seccomp-bpf", "-e", "trace=execve", "-e", "signal=none", "-s", "64"];
    command.args(options).arg("-o").arg(log);
    command.arg(build.get_program()).args(build.get_args());
    if let Some(dir) = build.get_current_dir() {
        command.current_dir(dir);
    }
    for (name, value) in build.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// Counts the programs in a log of strace that work for devices.
pub fn count(log: &str) -> Processes {
    let mut found = Processes::default();
    calls(log).into_iter().for_each(|call| found.add(call));
    found
}

/// The calls of compilers that did more than tell something of themselves: `FILE", ["ARG", ...`.
pub fn compilers(log: &str) -> Vec<&str> {
    calls(log).into_iter().filter(|call| kind(call) == Some(Kind::Compiler)).collect()
}

/// The calls `FILE", ["ARG", ...` in the lines `PID execve("FILE", ["ARG", ...], ...) = 0`. strace splits a line in two if
/// another process interrupts it: `PID execve(... <unfinished ...>`, `PID <... execve resumed>) = 0`.
fn calls(log: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut begun = BTreeMap::new();
    for line in log.lines() {
        let (pid, rest) = line.trim_start().split_once(' ').unwrap_or_default();
        if let Some(call) = rest.trim_start().strip_prefix("execve(\"") {
            begun.insert(pid, call);
        }
        if rest.trim_end().ends_with("= 0") {
            found.extend(begun.remove(pid));
        }
    }
    found
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Compiler,
    Asked,
    Linker,
}

/// What a call is of, if it is of a tool for devices. The host's own linker may be an lld too: only those for devices are
/// given AMD's emulation or an image to write.
fn kind(call: &str) -> Option<Kind> {
    let (file, args) = call.split_once('"')?;
    let name = file.rsplit('/').next().unwrap_or_default();
    let device_link = args.contains("elf64_amdgpu") || args.contains(".hsaco");
    // nvcc itself only starts others.
    if ["clang", "opt", "llvm-link", "llvm-as", "llc", "cicc", "ptxas"]
        .into_iter()
        .any(|tool| is_tool(name, tool))
    {
        let asked =
            ["\"--version\"", "\"-print-resource-dir\""].iter().any(|question| args.contains(question));
        Some(if asked { Kind::Asked } else { Kind::Compiler })
    } else {
        (["ld.lld", "lld"].into_iter().any(|tool| is_tool(name, tool)) && device_link).then_some(Kind::Linker)
    }
}

/// Whether a program called `name` is `tool`, in any version.
fn is_tool(name: &str, tool: &str) -> bool {
    name == tool || name.strip_prefix(tool).is_some_and(|rest| rest.starts_with('-'))
}

impl Processes {
    fn add(&mut self, call: &str) {
        match kind(call) {
            Some(Kind::Compiler) => self.compilers += 1,
            Some(Kind::Asked) => {
                self.compilers += 1;
                self.asked += 1;
            }
            Some(Kind::Linker) => self.linkers += 1,
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_tools_are_told_from_the_host_s() {
        let log = r#"
10 execve("/usr/bin/cargo", ["cargo", "build"], 0x7 /* 20 vars */) = 0
11 execve("/opt/bin/clang", ["clang"], 0x7 /* 20 vars */) = -1 ENOENT (No such file or directory)
11 execve("/usr/bin/clang-22", ["/usr/bin/clang-22", "-c"], 0x7 /* 20 vars */) = 0
16 execve("/usr/bin/clang-22", ["/usr/bin/clang-22", "--version"], 0x7 /* 20 vars */) = 0
12 execve("/usr/bin/clangd", ["clangd"], 0x7 /* 20 vars */) = 0
14 execve("/usr/bin/opt", ["opt"], 0x7 /* 20 vars */ <unfinished ...>
12 <... execve resumed>) = -1 ENOENT (No such file or directory)
14 <... execve resumed>) = 0
13 execve("/x/gcc-ld/ld.lld", ["ld.lld", "-flavor", "gnu"], 0x7 /* 20 vars */) = 0
14 execve("/usr/bin/ld.lld-22", ["ld.lld-22", "-m", "elf64_amdgpu"], 0x7 /* 20 vars */) = 0
15 execve("/usr/bin/ld.lld", ["ld.lld", "-shared", "out/a.o", "-o", "out/a.hsaco"], 0x7 /* 20 vars */) = 0
"#;
        assert_eq!(count(log), Processes { compilers: 3, asked: 1, linkers: 2 });
        let found = compilers(log);
        assert!(
            found.len() == 2 && found[0].starts_with("/usr/bin/clang-22\", [") && found[1].contains("opt")
        );
    }
}
