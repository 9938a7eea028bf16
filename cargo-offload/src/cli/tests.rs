//! Consistency of the definition, and its agreement with every command line in the README and the book.

use std::path::{Path, PathBuf};

use clap::error::ErrorKind;

use super::*;

#[test]
fn the_definition_is_consistent() {
    Options::command().debug_assert();
}

#[test]
fn every_command_and_option_has_help() {
    let mut program = command();
    program.build();
    let mut open = vec![&program];
    let mut count = 0;
    while let Some(command) = open.pop() {
        count += 1;
        let name = command.get_display_name().unwrap_or(command.get_name());
        let about = command.get_about().unwrap_or_else(|| panic!("{name} has no about line")).to_string();
        assert!(!about.ends_with('.'), "{name}: {about}");
        for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
            let help = arg.get_help().unwrap_or_else(|| panic!("{name}: {} has no help", arg.get_id()));
            assert!(!help.to_string().is_empty(), "{name}: {}", arg.get_id());
        }
        open.extend(
            command
                .get_subcommands()
                .filter(|command| !command.is_hide_set() && command.get_name() != "help"),
        );
    }
    assert!(count >= 33, "{count} commands");
}

/// The README and the pages of the book.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let book = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let book = book.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    book.chain([root.join("README.md"), root.join("cargo-offload/README.md")]).collect()
}

/// A command line, and whether it is whole.
#[derive(Debug)]
enum Line {
    /// From a code block, to be typed as it is.
    Typed(Vec<String>),
    /// From a sentence, which may leave out what it does not speak of.
    Mentioned(Vec<String>),
}

/// The words of a shell's line, up to a comment or another command.
pub(super) fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in line.chars() {
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (' ', None) => words.push(String::new()),
            _ => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    let end =
        words.iter().position(|word| word.starts_with(['#', '&', '|', '>', ';'])).unwrap_or(words.len());
    words.truncate(end);
    // `cargo offload verify app; echo $?`
    if let Some(at) = words.iter().position(|word| word.ends_with(';')) {
        words.truncate(at + 1);
        words[at].pop();
    }
    words
}

/// The command lines of a page: in blocks of shells and of CI, and in sentences between backticks.
fn command_lines(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut block = None;
    let mut found = Vec::new();
    for line in text.lines() {
        match (line.trim_start().strip_prefix("```"), block) {
            (Some(_), Some(_)) => block = None,
            (Some(language), None) => block = Some(language),
            (None, Some("console" | "yaml")) => {
                found.extend(line.find("cargo offload ").map(|at| &line[at..]));
            }
            (None, Some(_)) => {}
            (None, None) => {
                let spans = line.split('`').skip(1).step_by(2);
                let commands = spans.filter(|span| span.starts_with("cargo offload "));
                lines.extend(commands.map(|span| Line::Mentioned(words(span))));
            }
        }
    }
    lines.extend(found.into_iter().map(|line| Line::Typed(words(line))));
    lines
}

/// The parser's error for a line.
fn mistake(line: &Line) -> Option<String> {
    let (Line::Typed(words) | Line::Mentioned(words)) = line;
    let problem = Options::try_parse_from(words.iter().skip(1)).err()?;
    let left_out = [
        ErrorKind::MissingRequiredArgument,
        ErrorKind::InvalidValue,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
    ];
    let excused = match line {
        Line::Typed(_) => false,
        // `--format NAME` stands for any name.
        Line::Mentioned(_) => left_out.contains(&problem.kind()),
    };
    let shown = matches!(problem.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    (!excused && !shown).then(|| format!("{}\n{problem}", words.join(" ")))
}

#[test]
fn every_command_line_of_the_pages_is_known() {
    let mut mistakes = Vec::new();
    let mut count = 0;
    for page in pages() {
        let lines = command_lines(&std::fs::read_to_string(&page).unwrap());
        count += lines.len();
        mistakes.extend(lines.iter().filter_map(mistake).map(|text| format!("{}: {text}", page.display())));
    }
    assert!(count > 80, "{count} command lines");
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

#[test]
fn unknown_command_lines_are_found() {
    assert_eq!(mistakes("```console\n$ cargo offload prune a --keep 'intel:*' -o b && c  # d\n```\n"), 0);
    assert_eq!(mistakes("Say `cargo offload prune --in-place`, or `cargo build`.\n"), 0);
    assert_eq!(mistakes("```console\n$ cargo offload prune a --kept host -o b\n```\n"), 1);
    assert_eq!(mistakes("```yaml\n- run: cargo offload verfy\n```\n"), 1);
    assert_eq!(mistakes("Say `cargo offload prune --kept`.\n"), 1);
}

fn mistakes(text: &str) -> usize {
    command_lines(text).iter().filter_map(mistake).count()
}
