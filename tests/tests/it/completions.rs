//! Completing `cargo offload` in the shells themselves, beside the completion that comes with cargo.
//!
//! PowerShell is not among them: no package index has it for Linux, and the free grammar of its language
//! (tree-sitter-powershell) takes a line that clap_complete always writes, `$completions.Where{ .. }`, for a mistake.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support;

/// The words of command lines, of which the last is completed, with something that is offered and something that is not.
const LINES: [(&[&str], &str, &str); 4] = [
    (&["cargo", "offload", "ins"], "inspect", "prune"),
    (&["cargo", "offload", "report", "--mat"], "--matrix", "--html"),
    (&["cargo", "offload", "inspect", "--color", "al"], "always", "auto"),
    (&["cargo-offload", "pru"], "prune", "inspect"),
];

/// A file with the script for `shell`.
fn script(directory: &Path, shell: &str) -> PathBuf {
    let output = Command::new(support::cargo_offload()).args(["completions", shell]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let path = directory.join("_cargo-offload");
    std::fs::write(&path, output.stdout).unwrap();
    path
}

/// What `command` prints, which must succeed.
fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Where the completions are that come with cargo; a cargo of a distribution may have none there.
fn of_cargo(file: &str) -> Option<PathBuf> {
    let sysroot = printed(Command::new("rustc").args(["--print", "sysroot"]));
    Some(Path::new(sysroot.trim()).join(file)).filter(|path| path.exists())
}

/// Completes the words of `$@` as bash does, without a terminal.
const BASH: &str = r#"
set -u
before=$1 script=$2; shift 2
. "$before"; . "$script"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
read -ra registered <<<"$(complete -p "$1")"
for at in "${!registered[@]}"; do
    [[ ${registered[at]} == -F ]] && function=${registered[at + 1]}
done
"$function" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

/// What bash offers for the last word, with another completion before.
fn complete_in_bash(script: &Path, before: &Path, words: &[&str]) -> String {
    printed(Command::new("bash").args(["-c", BASH, "bash"]).arg(before).arg(script).args(words))
}

#[test]
fn bash() {
    let dir = tempfile::tempdir().unwrap();
    let script = script(dir.path(), "bash");
    // A completion of cargo that says by what it was asked.
    let before = dir.path().join("cargo.bash");
    std::fs::write(&before, "_of_cargo() { COMPREPLY=(\"asked for $2\"); }\ncomplete -F _of_cargo cargo\n")
        .unwrap();
    for (words, offered, other) in LINES {
        let output_text = complete_in_bash(&script, &before, words);
        assert!(output_text.lines().any(|line| line == offered), "{words:?}: {output_text}");
        assert!(!output_text.lines().any(|line| line == other), "{words:?}: {output_text}");
    }
    assert_eq!(complete_in_bash(&script, &before, &["cargo", "+nightly", "offload", "extr"]), "extract\n");
    assert_eq!(complete_in_bash(&script, &before, &["cargo", "bui"]), "asked for bui\n");
    assert_eq!(complete_in_bash(&script, &before, &["cargo", "offload"]), "asked for offload\n");
    // Where nothing completes cargo, `cargo offload` is completed all the same.
    assert_eq!(
        complete_in_bash(&script, Path::new("/dev/null"), &["cargo", "offload", "inspec"]),
        "inspect\n"
    );
    assert_eq!(complete_in_bash(&script, Path::new("/dev/null"), &["cargo", "bui"]), "\n");
}

/// Types a line and the key for completion in a terminal of its own, and prints what is on the line then.
const ZSH: &str = r#"
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT= fpath=($1 $2 \$fpath); autoload -Uz compinit; compinit -u -D; bindkey '^I' complete-word; print rea''dy"
zpty -r -m shell output_text '*ready*'
zpty -w -n shell "$3"$'\t\x01print -r -- "line: \x05"\n'
zpty -r -m shell output_text '*line: *line: *
*'
print -r -- "$output_text"
"#;

#[test]
fn zsh() {
    let (Some(_), Some(cargo)) = (offload_tests::require("zsh"), of_cargo("share/zsh/site-functions")) else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    script(dir.path(), "zsh");
    for (words, offered, _) in LINES {
        let mut command = Command::new("timeout");
        command.args(["60", "zsh", "-f", "-c", ZSH, "zsh"]).arg(dir.path()).arg(&cargo);
        let output_text = printed(command.arg(words.join(" ")).env("TERM", "dumb"));
        assert!(
            output_text.contains(&format!("line: {}", words[0])) && output_text.contains(offered),
            "{words:?}: {output_text}"
        );
    }
}

#[test]
fn fish() {
    if offload_tests::require("fish").is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let script = script(dir.path(), "fish");
    for (words, offered, other) in LINES {
        let line = format!("source {}; complete -C '{}'", script.display(), words.join(" "));
        let output_text =
            printed(Command::new("fish").args(["--no-config", "-c", &line]).env("HOME", dir.path()));
        // Behind a tab is what the option does.
        let offers: Vec<&str> = output_text.lines().filter_map(|line| line.split('\t').next()).collect();
        assert!(offers.contains(&offered) && !offers.contains(&other), "{words:?}: {output_text}");
    }
}

/// What the script finds where a user types: without a terminal there is no module `edit:`. Elvish itself drops what does
/// not start as the word does.
const ELVISH: &str = r#"
var edit: = (ns [&completion:=(ns [&arg-completer=[&]]) &complex-candidate~={|text &display=''| echo $text }])
eval &ns=(ns [&edit:=$edit:]) (slurp < $args[0])
$edit:completion:arg-completer[cargo-offload] (all $args[1..])
"#;

fn complete_in_elvish(script: &Path, home: &Path, words: &[&str]) -> String {
    let mut elvish = Command::new("elvish");
    elvish.args(["-norc", "-c", ELVISH]).arg(script).args(words).env("HOME", home);
    printed(&mut elvish)
}

fn has_line(text: &str, line: &str) -> bool {
    text.lines().any(|other| other == line)
}

#[test]
fn elvish() {
    if offload_tests::require("elvish").is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let script = script(dir.path(), "elvish");
    let commands = complete_in_elvish(&script, dir.path(), &["cargo-offload", "ins"]);
    assert!(has_line(&commands, "inspect") && !has_line(&commands, "--matrix"), "{commands}");
    let options = complete_in_elvish(&script, dir.path(), &["cargo-offload", "report", "--mat"]);
    assert!(has_line(&options, "--matrix") && !has_line(&options, "inspect"), "{options}");
}
