//! Help and output, word for word. `SNAPSHOTS=overwrite cargo test -p cargo-offload --test it snapshots` accepts changes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Output;

use crate::support::{self, without_tools};
#[cfg(target_os = "linux")]
use crate::support::{drivers::Drivers, machine::Machine};
use serde_json::Value;
use snapbox::{Data, assert_data_eq};

fn all_output(dir: &Path, args: &[&str]) -> String {
    support::all_output(&without_tools(dir, args).output().unwrap())
}

fn snapshot(name: &str) -> Data {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    // What is printed has backslashes that are no separators of paths.
    Data::read_from(&dir.join(name), Some(snapbox::data::DataFormat::Text)).raw()
}

/// What commands say, each after its command line. Times and the directory of the test are left out.
fn session(dir: &Path, steps: &[&[&str]]) -> String {
    session_of(dir, steps, |args| without_tools(dir, args).output().unwrap())
}

/// The same of commands that `run` runs.
fn session_of(dir: &Path, steps: &[&[&str]], run: impl Fn(&[&str]) -> Output) -> String {
    let line =
        |args: &&[&str]| format!("$ cargo offload {}\n{}\n", args.join(" "), support::all_output(&run(args)));
    let text: String = steps.iter().map(line).collect();
    without_times(&text.replace(dir.to_str().unwrap(), "[DIR]"))
}

/// The same with `5.91 ms` and `0.000591` as `[time]`; what follows in the line moves to one place.
fn without_times(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut words: Vec<&str> = line.split(' ').collect();
        let timed = words.windows(2).any(|pair| is_number(pair[0]) && matches!(pair[1], "ms" | "s"));
        if timed {
            words.retain(|word| !word.is_empty());
            let shown = (0..words.len()).filter(|at| !is_unit(&words, *at));
            lines.push(
                shown
                    .map(
                        |at| {
                            if is_unit(&words, at + 1) && is_number(words[at]) { "[time]" } else { words[at] }
                        },
                    )
                    .collect::<Vec<_>>()
                    .join("  "),
            );
        } else {
            lines.push(line.to_string());
        }
    }
    lines.join("\n") + "\n"
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// Whether the word at this place is a unit of time.
fn is_unit(words: &[&str], at: usize) -> bool {
    matches!(words.get(at), Some(&"ms" | &"s"))
}

/// Headings of the lists of commands in help texts.
const COMMAND_HEADINGS: [&str; 5] = ["Commands:", "Develop:", "Inspect:", "Ship:", "Toolchain:"];

/// The commands that a help text lists, without `help`.
fn commands(help: &str) -> Vec<String> {
    let mut is_list = false;
    let mut names = Vec::new();
    for line in help.lines() {
        if !line.starts_with(' ') {
            is_list = COMMAND_HEADINGS.contains(&line);
            continue;
        }
        // The lines of a wrapped description are indented further.
        let name = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '));
        let name = name.and_then(|rest| rest.split_whitespace().next());
        if let Some(name) = name.filter(|name| is_list && *name != "help") {
            names.push(name.to_string());
        }
    }
    names
}

#[test]
fn help_of_every_command() {
    let dir = tempfile::tempdir().unwrap();
    let help = all_output(dir.path(), &["--help"]);
    assert_eq!(all_output(dir.path(), &["help"]), help);
    let names = commands(&help);
    assert!(names.len() >= 26, "{names:?}");
    for name in &names {
        let usage = format!("Usage: cargo offload {name} ");
        let long = all_output(dir.path(), &[name, "--help"]);
        assert!(long.contains(&usage), "{long}");
        assert_eq!(all_output(dir.path(), &["help", name]), long);
        let short = all_output(dir.path(), &[name, "-h"]);
        assert!(short.contains(&usage), "{short}");
        // The long help may start with a paragraph instead of the about line.
        let about = short.lines().next().unwrap();
        assert!(long.starts_with(about), "{long}");
    }
    assert_data_eq!(help, snapshot("help.txt"));
}

#[test]
fn doctor_without_tools() {
    let dir = tempfile::tempdir().unwrap();
    // What installs a tool depends on the system.
    let text = all_output(dir.path(), &["doctor", "spirv64", "amdgcn:gfx90a", "cubin:sm_90", "host"]);
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("hint: ")).collect();
    assert_data_eq!(lines.join("\n") + "\n", snapshot("doctor.txt"));
}

#[test]
fn init_and_targets() {
    let dir = tempfile::tempdir().unwrap();
    let steps = [
        ["init"].as_slice(),
        &["targets", "add", "intel:pvc", "--json"],
        &["targets", "set", "host,spirv64", "--optional", "intel:pvc"],
        &["targets"],
        &["targets", "--quiet"],
        &["targets", "remove", "spirv64"],
        &["targets", "remove", "host", "--json"],
        &["targets", "set", "intel:pvc", "--json"],
        &["compression", "max"],
        &["compression", "--setting", "--json"],
        &["cache", "clean"],
        &["cache", "stats"],
        &["cache", "verify"],
        &["cache", "stats", "--json"],
        &["cache", "clean", "--json"],
        &["cache", "verify", "--json"],
        &["man", "--directory", "man", "--json", "--quiet"],
    ];
    assert_data_eq!(session(dir.path(), &steps), snapshot("init.txt"));
}

#[test]
fn what_shows_a_file() {
    let dir = support::with_pack(64);
    let steps = [
        ["report", "images.pack"].as_slice(),
        &["report", "images.pack", "--for", "all-amd", "--format", "markdown"],
        &["size", "images.pack"],
        &["inspect", "images.pack", "--kernels", "--module", "fft"],
        &["extract", "images.pack", "--module", "fft", "--output", "out"],
        &["asm", "images.pack"],
        &["verify", "images.pack"],
        &["compression", "--on", "images.pack"],
    ];
    assert_data_eq!(session(dir.path(), &steps), snapshot("show.txt"));
}

#[test]
fn what_shows_a_file_to_scripts() {
    let dir = support::with_pack(64);
    let steps = [
        ["report", "images.pack", "--for", "all-amd", "--json"].as_slice(),
        &["report", "images.pack", "--html", "page.html", "--for", "intel:*", "--json"],
        &["report", "images.pack", "--beside", "same=images.pack", "--for", "intel:*", "--json"],
        &["size", "images.pack", "--json"],
        &["size", "images.pack", "--compare", "images.pack", "--module", "fft", "--json"],
        &["inspect", "images.pack", "--json"],
        &["extract", "images.pack", "--module", "fft", "--output", "out", "--json"],
        &["asm", "images.pack", "--json"],
        &["verify", "images.pack", "--json"],
    ];
    assert_data_eq!(session(dir.path(), &steps), snapshot("show-json.txt"));
}

#[test]
fn what_changes_and_exports_a_file() {
    let dir = support::with_pack(64);
    let steps = [
        ["prune", "images.pack", "--keep", "all-amd", "intel:*", "-o", "less.pack"].as_slice(),
        &["prune", "images.pack", "--drop", "intel:*", "-o", "more.pack", "--json"],
        &["repack", "less.pack", "--compression", "none", "-o", "none.pack"],
        &["repack", "less.pack", "--compression", "none", "--in-place", "--json"],
        &["export", "images.pack", "--format", "bundle", "--module", "blas"],
        &["export", "images.pack", "--format", "raw", "--target", "intel:pvc", "--json"],
        &["prune", "images.pack", "--keep", "host", "-o", "none"],
        &["export", "images.pack", "--format", "fatbin", "--module", "nothing"],
    ];
    assert_data_eq!(session(dir.path(), &steps), snapshot("change.txt"));
}

/// What depends on this machine's CPU, and the text in its place.
#[cfg(target_os = "linux")]
fn without_cpu(text: &str) -> String {
    let mut of_cpu = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        let (before, after) = line.split_once("host CPU (").unwrap_or((line, ""));
        let mut line = match after.split_once(')') {
            Some((_, rest)) => format!("{before}host CPU ([CPU]){rest}"),
            None => line.to_string(),
        };
        if of_cpu && line.starts_with("   takes ") {
            line = "   takes [TARGETS]".to_string();
        }
        if of_cpu && line.starts_with("   has ") {
            line = "   has [PROPERTIES]".to_string();
        }
        of_cpu = line.starts_with("0: host CPU") || of_cpu && line.starts_with("   ");
        if line.contains("\"driver\":\"host\"") {
            let (start, targets) = line.split_once("\"targets\":").unwrap();
            assert!(targets.starts_with("[\"host"), "{targets}");
            let name = start.split("\"name\":\"").nth(1).unwrap().split('"').next().unwrap();
            line = format!("{start}\"targets\":[TARGETS]}}").replace(&format!("\"{name}\""), "\"[NAME]\"");
        }
        lines.push(line);
    }
    lines.join("\n") + "\n"
}

#[cfg(target_os = "linux")]
fn session_with(drivers: &Drivers, dir: &Path, steps: &[&[&str]]) -> String {
    without_cpu(&session_of(dir, steps, |args| {
        let mut command = without_tools(dir, args);
        drivers.found_by(&mut command);
        command.output().unwrap()
    }))
}

#[test]
#[cfg(target_os = "linux")]
fn devices_of_drivers_that_work_and_that_do_not() {
    let dir = support::with_pack(64);
    let working = session_with(
        &Drivers::working(),
        dir.path(),
        &[
            &["devices"],
            &["devices", "images.pack"],
            &["devices", "images.pack", "--json"],
            &["devices", "nothing.pack"],
        ],
    );
    let broken = session_with(&Drivers::broken(), dir.path(), &[&["devices"], &["devices", "--json"]]);
    assert_data_eq!(working + &broken, snapshot("devices.txt"));
}

#[cfg(target_os = "linux")]
fn session_on(machine: &Machine, steps: &[&[&str]]) -> String {
    session_of(machine.directory(), steps, |args| machine.offload(args))
}

#[test]
#[cfg(target_os = "linux")]
fn compilers_are_installed() {
    let machine = Machine::new();
    let first = session_on(
        &machine,
        &[
            &["toolchain", "install"],
            &["toolchain", "install", "--json"],
            &["toolchain", "path"],
            &["toolchain", "path", "--json"],
        ],
    );
    machine.serve("second");
    std::fs::remove_dir_all(machine.path("data/toolchain")).unwrap();
    let second = session_on(
        &machine,
        &[
            &["toolchain", "install", "--quiet"],
            &["toolchain", "install", "--update", "--quiet"],
            &["toolchain", "install", "--lock", "nothing/here.lock"],
        ],
    );
    assert_data_eq!(without_hashes(&(first + &second)), snapshot("toolchain.txt"));
}

/// Which bytes a compressor writes is its own concern.
#[cfg(target_os = "linux")]
fn without_hashes(text: &str) -> String {
    let hashes = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.len() == 64 && word.chars().all(|c| c.is_ascii_hexdigit()));
    hashes.fold(text.to_string(), |text, hash| text.replace(hash, "[HASH]"))
}

#[test]
fn the_manual() {
    let dir = tempfile::tempdir().unwrap();
    assert_data_eq!(session(dir.path(), &[&["man"]]), snapshot("man.txt"));
}

#[test]
fn completions_offer_every_command_and_option() {
    let dir = tempfile::tempdir().unwrap();
    let mut words = BTreeSet::new();
    let mut open = vec![Vec::new()];
    while let Some(command) = open.pop() {
        let args: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
        let help = all_output(dir.path(), &args);
        // `help` lists its commands and takes no option.
        let options = help.lines().skip_while(|line| *line != "Options:").filter_map(option);
        words.extend(options);
        for name in commands(&help) {
            words.insert(name.clone());
            open.push([&command[..], &[name]].concat());
        }
    }
    assert!(words.len() > 80, "{words:?}");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = all_output(dir.path(), &["completions", shell]);
        // fish writes an option without its hyphens.
        let missing: Vec<&String> =
            words.iter().filter(|word| !script.contains(word.trim_start_matches('-'))).collect();
        assert!(missing.is_empty(), "{shell}: {missing:?}");
    }
    assert_data_eq!(session(dir.path(), &[&["completions", "tcsh"]]), snapshot("completions.txt"));
}

/// The option that a line of help is about.
fn option(line: &str) -> Option<String> {
    let word = line.split_whitespace().find(|word| word.starts_with("--"))?;
    Some(word.trim_end_matches([',', '.']).to_string())
}

/// What a command says on a terminal of so many columns.
#[cfg(target_os = "linux")]
fn on_terminal(dir: &Path, columns: u32, args: &str) -> String {
    format!("$ cargo offload {args}\n{}\n", support::on_terminal(dir, ("dumb", columns), args))
}

#[test]
#[cfg(target_os = "linux")]
fn narrow_terminals() {
    let dir = support::with_pack(64);
    let all = [
        "inspect images.pack --for intel:pvc",
        "report images.pack --for intel:pvc",
        "size images.pack --for intel:pvc",
    ];
    let text: String = all.iter().map(|args| on_terminal(dir.path(), 48, args)).collect();
    // Sentences and command lines are broken by the terminal.
    let mut table = text.lines().filter(|line| !line.starts_with(|c: char| c == '$' || c.is_ascii_digit()));
    assert!(table.all(|line| line.chars().count() <= 48), "{text}");
    assert_data_eq!(text, snapshot("narrow.txt"));
    assert_data_eq!(on_terminal(dir.path(), 48, "prune --help"), snapshot("narrow-help.txt"));
}

/// The fields that `docs/JSON.md` names, by command and reason.
fn documented() -> BTreeMap<(String, String), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/JSON.md");
    let text = std::fs::read_to_string(path).unwrap();
    let mut rows: BTreeMap<(String, String), String> = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').splitn(3, " | ").collect();
        let names =
            |cell: &str| cell.split(',').map(|name| name.trim().trim_matches('`').to_string()).collect();
        let (commands, reasons): (Vec<String>, Vec<String>) = (names(cells[0]), names(cells[1]));
        for (command, reason) in
            commands.iter().flat_map(|command| reasons.iter().map(move |it| (command, it)))
        {
            let command = command.split(' ').next().unwrap().to_string();
            rows.entry((command, reason.clone())).or_default().push_str(cells[2]);
        }
    }
    rows
}

#[test]
fn every_field_is_documented() {
    let dir = support::with_pack(64);
    std::fs::write(dir.path().join("offload.toml"), "targets = [\"host\"]\n").unwrap();
    let rows = documented();
    let calls: [&[&str]; 19] = [
        &["inspect", "images.pack"],
        &["report", "images.pack"],
        &["report", "images.pack", "--beside", "same=images.pack"],
        &["report", "images.pack", "--html", "page.html"],
        &["size", "images.pack"],
        &["size", "images.pack", "--compare", "images.pack"],
        &["extract", "images.pack", "--output", "out"],
        &["asm", "images.pack"],
        &["verify", "images.pack"],
        &["compression", "--on", "images.pack"],
        &["devices", "images.pack"],
        &["prune", "images.pack", "--drop", "intel:*", "-o", "more.pack"],
        &["repack", "images.pack", "--compression", "none", "-o", "none.pack"],
        &["export", "images.pack", "--format", "raw", "--target", "intel:pvc"],
        &["targets", "list"],
        &["targets", "add", "spirv64"],
        &["targets", "set", "host"],
        &["targets", "remove", "host"],
        &["doctor", "spirv64"],
    ];
    for args in calls {
        let printed =
            support::stdout(&without_tools(dir.path(), &[args, &["--json"]].concat()).output().unwrap());
        assert!(!printed.is_empty(), "{args:?}");
        for object in printed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
            let reason = object["reason"].as_str().unwrap().to_string();
            let row = rows.get(&(args[0].to_string(), reason.clone()));
            let row =
                row.unwrap_or_else(|| panic!("`{}` prints `{reason}`, which nothing documents", args[0]));
            for field in object.as_object().unwrap().keys().filter(|field| *field != "reason") {
                assert!(
                    row.contains(&format!("`{field}`")),
                    "{} {reason}: `{field}` is not documented",
                    args[0]
                );
            }
        }
    }
}
