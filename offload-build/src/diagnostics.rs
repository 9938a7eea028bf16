//! Compiler diagnostics, edited for reading: duplicates removed, candidates limited, paths clickable, colours kept.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How diagnostics are shown.
#[derive(Clone, Debug)]
pub(crate) struct View {
    /// The package's directory: compilers name its files relative to it.
    pub(crate) package: PathBuf,
    /// Where cargo was started, if that is known.
    pub(crate) cargo: Option<PathBuf>,
    pub(crate) colour: Colour,
}

/// Whether text has the escapes of a terminal. Cargo removes them from captured output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Ansi,
    Never,
}

/// A diagnostic with its notes and source lines, or a line of other text.
#[derive(Debug)]
pub(crate) struct Group {
    /// Two groups with one key say the same; other text has none.
    pub(crate) key: Option<String>,
    pub(crate) lines: Vec<String>,
}

/// A line of a compiler's.
enum Line<'a> {
    /// An inclusion that led to the file of the next diagnostic.
    Include(&'a str),
    Diagnostic(Diagnostic<'a>),
    /// Source code or marks below it.
    Source(&'a str),
    /// How many diagnostics there were.
    Summary,
    Other(&'a str),
}

/// `PATH:LINE:COLUMN: LABEL: MESSAGE`; without a label for text of ours that names a place.
struct Diagnostic<'a> {
    path: &'a str,
    /// With its colons.
    position: &'a str,
    label: &'a str,
    message: &'a str,
}

/// The labels of clang, with the colours that it gives them.
const LABELS: [(&str, &str); 5] = [
    ("fatal error", "\x1b[1;31m"),
    ("error", "\x1b[1;31m"),
    ("warning", "\x1b[1;35m"),
    ("note", "\x1b[1;36m"),
    ("remark", "\x1b[1;34m"),
];
const BOLD: &str = "\x1b[1m";
const MARKS: &str = "\x1b[1;32m";
const RESET: &str = "\x1b[0m";

/// A pragma that clang recommends wherever it read a header of the host's, and that seldom is the cure.
const MISLEADING: &str = "#pragma clang force_cuda_host_device";

/// Of functions that do not fit a call, this many are shown.
const CANDIDATES: usize = 3;

/// The files that errors in a compiler's text name, as it names them.
#[cfg(feature = "compiler")]
pub(crate) fn error_files(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| match parsed(line) {
        Line::Diagnostic(Diagnostic { path, label: "error" | "fatal error", .. }) => Some(path),
        _ => None,
    })
}

impl View {
    /// All of an error's text; a diagnostic that several compilers repeat is there once.
    pub(crate) fn text(&self, text: &str) -> String {
        let mut seen = BTreeSet::new();
        let groups = self.groups(text).into_iter();
        let new = groups.filter(|group| group.key.as_ref().is_none_or(|key| seen.insert(key.clone())));
        new.flat_map(|group| group.lines).collect::<Vec<_>>().join("\n")
    }

    /// `text` in its groups, without counts of diagnostics.
    pub(crate) fn groups(&self, text: &str) -> Vec<Group> {
        let mut reader = Reader::default();
        for line in text.lines() {
            match parsed(line) {
                Line::Include(path) if path.starts_with('<') => {}
                Line::Include(_) => reader.includes.push(self.include(line)),
                Line::Diagnostic(diagnostic) => reader.diagnostic(self, &diagnostic),
                Line::Source(text) => reader.source(self.source(text)),
                Line::Summary => {}
                Line::Other(text) => reader.other(text),
            }
        }
        reader.finish()
    }

    fn include(&self, line: &str) -> String {
        let parts = line.split_once(" from ").and_then(|(start, rest)| Some((start, place(rest)?)));
        parts.map_or_else(
            || line.to_string(),
            |(start, (path, position))| format!("{start} from {}{position}", self.path(path)),
        )
    }

    fn diagnostic(&self, diagnostic: &Diagnostic<'_>) -> String {
        let Diagnostic { path, position, label, message } = diagnostic;
        let place = format!("{}{position}", self.path(path));
        let escape = LABELS.iter().find(|(name, _)| name == label).map(|(_, escape)| *escape);
        match (escape, self.colour) {
            (None, _) => format!("{place} {message}"),
            (Some(_), Colour::Never) => format!("{place} {label}: {message}"),
            // Of a note clang shows the label alone in another way.
            (Some(escape), Colour::Ansi) if *label == "note" => {
                format!("{BOLD}{place}{RESET} {escape}{label}:{RESET} {message}")
            }
            (Some(escape), Colour::Ansi) => {
                format!("{BOLD}{place} {RESET}{escape}{label}: {RESET}{BOLD}{message}{RESET}")
            }
        }
    }

    /// Marks below source code in their colour.
    fn source(&self, text: &str) -> String {
        match text.split_once('|') {
            Some((before, marks)) if self.colour == Colour::Ansi && before.trim().is_empty() => {
                format!("{before}|{MARKS}{marks}{RESET}")
            }
            _ => text.to_string(),
        }
    }

    /// A file of the package from where cargo was started; whole if it does not lie below.
    fn path(&self, written: &str) -> String {
        let relative = Path::new(written.strip_prefix("./").unwrap_or(written));
        let whole = self.package.join(relative);
        if relative.is_absolute() || !whole.is_file() {
            return written.to_string();
        }
        let below = self.cargo.as_deref().and_then(|cargo| whole.strip_prefix(cargo).ok());
        below.unwrap_or(&whole).display().to_string()
    }
}

/// Groups while lines are read.
#[derive(Default)]
struct Reader {
    groups: Vec<Group>,
    /// Inclusions of a diagnostic that is still to come.
    includes: Vec<String>,
    /// Candidates of the last diagnostic so far.
    candidates: usize,
    hides: bool,
}

impl Reader {
    fn diagnostic(&mut self, view: &View, diagnostic: &Diagnostic<'_>) {
        let line = view.diagnostic(diagnostic);
        let is_note = diagnostic.label == "note";
        let is_candidate = is_note && diagnostic.message.starts_with("candidate");
        let mut lines = std::mem::take(&mut self.includes);
        self.hides = false;
        if is_note && diagnostic.message.contains(MISLEADING) {
            self.hides = true;
        } else if is_candidate {
            self.candidates = self.candidates.saturating_add(1);
            self.hides = self.candidates > CANDIDATES;
        } else {
            self.fold();
        }
        lines.push(line);
        match self.groups.last_mut().filter(|group| is_note && group.key.is_some()) {
            Some(_) if self.hides => {}
            Some(group) => group.lines.extend(lines),
            None => {
                let Diagnostic { path, position, message, .. } = diagnostic;
                let key = Some(format!("{}{position} {message}", view.path(path)));
                self.groups.push(Group { key, lines });
            }
        }
    }

    /// Says how many candidates are not shown.
    fn fold(&mut self) {
        let hidden = std::mem::take(&mut self.candidates).saturating_sub(CANDIDATES);
        if let Some(group) = self.groups.last_mut().filter(|_| hidden > 0) {
            let s = if hidden == 1 { "" } else { "s" };
            group.lines.push(format!("note: {hidden} more candidate{s} not shown"));
        }
    }

    fn source(&mut self, line: String) {
        match self.groups.last_mut() {
            _ if self.hides => {}
            Some(group) if group.key.is_some() => group.lines.push(line),
            _ => self.other(&line),
        }
    }

    fn other(&mut self, line: &str) {
        self.fold();
        self.hides = false;
        let mut lines = std::mem::take(&mut self.includes);
        lines.push(line.to_string());
        self.groups.push(Group { key: None, lines });
    }

    fn finish(mut self) -> Vec<Group> {
        self.fold();
        self.groups
    }
}

fn parsed(line: &str) -> Line<'_> {
    if let Some(path) = line.strip_prefix("In file included from ") {
        return Line::Include(path);
    }
    if is_summary(line) {
        return Line::Summary;
    }
    let number = line.split_once('|').map(|(number, _)| number);
    if number.is_some_and(|number| number.ends_with(' ') && is_number_or_empty(number.trim())) {
        return Line::Source(line);
    }
    diagnostic(line).map_or(Line::Other(line), Line::Diagnostic)
}

fn is_number_or_empty(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit())
}

/// `2 warnings and 1 error generated when compiling for sm_75.`
fn is_summary(line: &str) -> bool {
    let count = line.split(' ').next().unwrap_or_default();
    let counts = !count.is_empty() && is_number_or_empty(count);
    counts && (line.ends_with(" generated.") || line.contains(" generated when compiling for "))
}

fn diagnostic(line: &str) -> Option<Diagnostic<'_>> {
    let (path, rest) = place(line)?;
    let (position, text) = rest.split_once(": ")?;
    let position = rest.get(..position.len().saturating_add(1))?;
    let label = LABELS.iter().find(|(label, _)| text.starts_with(&format!("{label}: ")));
    let label = label.map_or("", |(label, _)| label);
    let message = text.strip_prefix(label)?;
    Some(Diagnostic { path, position, label, message: message.strip_prefix(": ").unwrap_or(message) })
}

/// A path, and what follows from the colon before the number of a line.
fn place(text: &str) -> Option<(&str, &str)> {
    let (at, _) = text.match_indices(':').find(|(at, _)| {
        let after = text.get(at.saturating_add(1)..).unwrap_or_default();
        let digits = after.chars().take_while(char::is_ascii_digit).count();
        digits > 0 && after.get(digits..).is_some_and(|rest| rest.starts_with(':'))
    })?;
    text.split_at_checked(at).filter(|(path, _)| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(colour: Colour) -> View {
        let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let cargo = package.parent().map(Path::to_path_buf);
        View { package, cargo, colour }
    }

    #[test]
    fn paths_are_from_where_cargo_was_started() {
        let mut view = view(Colour::Never);
        let printed = "In file included from src/build.rs:2:\n./src/lib.rs:3:4: error: no\nsrc/lib.rs:5: `f` is missing";
        assert_eq!(
            view.text(printed),
            "In file included from offload-build/src/build.rs:2:\noffload-build/src/lib.rs:3:4: error: no\n\
             offload-build/src/lib.rs:5: `f` is missing"
        );
        view.cargo = Some("/elsewhere".into());
        let whole = view.package.join("src/lib.rs");
        assert_eq!(view.text("src/lib.rs:3:4: error: no"), format!("{}:3:4: error: no", whole.display()));
        // No file of the package.
        assert_eq!(view.text("<built-in>:3:4: error: no"), "<built-in>:3:4: error: no");
    }

    #[test]
    fn each_diagnostic_is_said_once_and_counts_never() {
        let printed = "In file included from <stdin>:76:\n./src/lib.rs:1:2: warning: w\n    1 | code\n      | ^\n\
                    1 warning generated.\nsrc/lib.rs:1:2: warning: w\n    1 | code\n      | ^\n\
                    2 warnings and 1 error generated when compiling for sm_75.\nexit status: 1";
        assert_eq!(
            view(Colour::Never).text(printed),
            "offload-build/src/lib.rs:1:2: warning: w\n    1 | code\n      | ^\nexit status: 1"
        );
    }

    #[test]
    fn files_of_errors_are_those_with_a_line() {
        let printed = "a.cl:1:2: warning: w\nb.cl:3:4: fatal error: no\nc.cl:5:6: note: n\nerror: unable to execute command\n\
                    fatal error: error in backend: cannot select\nd.cl:7:8: error: no";
        assert_eq!(error_files(printed).collect::<Vec<_>>(), ["b.cl", "d.cl"]);
    }

    #[test]
    fn candidates_are_folded_after_three() {
        let mut printed = "a.cl:9:1: error: no matching function\n    9 | f();\n".to_string();
        for line in 1..6 {
            printed += &format!("a.cl:{line}:1: note: candidate function not viable\n    {line} | f\n");
        }
        printed += "a.cl:20:1: error: another\n";
        let text = view(Colour::Never).text(&printed);
        assert!(
            text.ends_with("    3 | f\nnote: 2 more candidates not shown\na.cl:20:1: error: another"),
            "{text}"
        );
        assert_eq!(text.matches("note: candidate").count(), 3);
    }

    #[test]
    fn notes_that_lead_away_are_hidden_with_their_source() {
        let printed = "a.cu:9:1: error: reference to __host__ function 'f'\n    9 | f();\n\
                    a.h:1:1: note: 'f' declared here\n    1 | void f();\n\
                    a.h:2:1: note: use '#pragma clang force_cuda_host_device' to make it so\n    2 | x\nexit status: 1";
        let text = view(Colour::Never).text(printed);
        assert!(!text.contains("force_cuda") && !text.contains("2 | x"), "{text}");
        assert!(text.contains("1 | void f();\nexit status: 1"), "{text}");
    }

    #[test]
    fn colours_are_clangs() {
        let text = view(Colour::Ansi).text("a.cl:1:2: error: no\n    1 | code\n      | ^~\nexit status: 1");
        assert_eq!(
            text,
            "\x1b[1ma.cl:1:2: \x1b[0m\x1b[1;31merror: \x1b[0m\x1b[1mno\x1b[0m\n    1 | code\n      \
             |\x1b[1;32m ^~\x1b[0m\nexit status: 1"
        );
    }
}
