//! Help and output, word for word. `SNAPSHOTS=overwrite cargo test -p cargo-offload --test snapshots` accepts changes.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

mod support;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use snapbox::{Data, assert_data_eq};
use support::without_tools;

fn said(dir: &Path, args: &[&str]) -> String {
    support::said(&without_tools(dir, args).output().unwrap())
}

fn snapshot(name: &str) -> Data {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    Data::read_from(&dir.join(name), Some(snapbox::data::DataFormat::Text))
}

/// What commands say, each after its command line. Times and the directory of the test are left out.
fn session(dir: &Path, steps: &[&[&str]]) -> String {
    let line = |args: &&[&str]| format!("$ cargo offload {}\n{}\n", args.join(" "), said(dir, args));
    let text: String = steps.iter().map(line).collect();
    without_times(&text.replace(dir.to_str().unwrap(), "[DIR]"))
}

/// The same with `5.91 ms` and `0.000591` as `[time]`; what follows in the line moves to one place.
fn without_times(text: &str) -> String {
    let is_number = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut words: Vec<&str> = line.split(' ').collect();
        let timed = words.windows(2).any(|pair| is_number(pair[0]) && matches!(pair[1], "ms" | "s"));
        if timed {
            words.retain(|word| !word.is_empty());
            let unit = |at: usize| matches!(words.get(at), Some(&"ms" | &"s"));
            let shown = (0..words.len()).filter(|at| !unit(*at));
            let word = |at: usize| if unit(at + 1) && is_number(words[at]) { "[time]" } else { words[at] };
            lines.push(shown.map(word).collect::<Vec<_>>().join("  "));
        } else {
            lines.push(line.to_string());
        }
    }
    lines.join("\n") + "\n"
}

/// The commands that a help text lists.
fn commands(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = lines.take_while(|line| !line.is_empty()).filter_map(|line| {
        let name = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '))?;
        name.split_whitespace().next().map(str::to_string)
    });
    names.filter(|name| name != "help").collect()
}

fn check_help(dir: &Path, command: &[&str]) -> usize {
    let text = said(dir, &[command, &["--help"]].concat());
    let name = ["help"].iter().chain(command).copied().collect::<Vec<_>>().join("-");
    assert_data_eq!(text.clone(), snapshot(&format!("{name}.txt")));
    let below = commands(&text);
    1 + below.iter().map(|name| check_help(dir, &[command, &[name]].concat())).sum::<usize>()
}

#[test]
fn help_of_every_command() {
    let dir = tempfile::tempdir().unwrap();
    assert!(check_help(dir.path(), &[]) >= 33);
}

#[test]
fn doctor_without_tools() {
    let dir = tempfile::tempdir().unwrap();
    // What installs a tool depends on the system.
    let text = said(dir.path(), &["doctor", "spirv64", "amdgcn:gfx90a", "cubin:sm_90", "host"]);
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

/// What a command says on a terminal of so many columns.
#[cfg(target_os = "linux")]
fn on_terminal(dir: &Path, columns: u32, args: &str) -> String {
    let program = env!("CARGO_BIN_EXE_cargo-offload");
    let line = format!("stty cols {columns} rows 50; exec '{program}' offload --color never {args}");
    let mut command = std::process::Command::new("script");
    command
        .args(["-qec", &line, "/dev/null"])
        .current_dir(dir)
        .env_remove("COLUMNS")
        .env("TERM", "dumb")
        .env("NO_COLOR", "1");
    let output = command.stdin(std::process::Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{args}: {}", support::said(&output));
    format!("$ cargo offload {args}\n{}\n", support::stdout(&output).replace("\r\n", "\n"))
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
