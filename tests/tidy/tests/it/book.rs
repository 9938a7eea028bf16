//! The pages that people read: links and anchors lead somewhere, the book lists its pages, and its tables of environment
//! variables are those of the code.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use offload_protocol::variable::{self, Purpose, Reader};
use offload_tests::workspace_root;

/// What a block may be marked as. Other tests compile `rust`, parse `toml`, and parse the command lines of the rest.
const LANGUAGES: [&str; 9] =
    ["c", "console", "diff", "python", "rust", "rust,ignore", "text", "toml", "yaml"];

/// A page without its code blocks, and the languages of these.
#[derive(Debug, Default)]
struct Page {
    lines: Vec<String>,
    languages: Vec<String>,
}

impl Page {
    fn parse(text: &str) -> Result<Page, String> {
        let mut page = Page::default();
        let mut open = false;
        for line in text.lines() {
            match line.trim_start().strip_prefix("```") {
                Some("") if open => open = false,
                Some(language) if !open => {
                    open = true;
                    page.languages.push(language.to_string());
                }
                Some(_) => return Err(format!("`{line}` lies in a block")),
                None if open => {}
                None => page.lines.push(line.to_string()),
            }
        }
        if open { Err("a block has no end".to_string()) } else { Ok(page) }
    }

    /// Where its links lead.
    fn links(&self) -> Vec<String> {
        let links = self.lines.iter().flat_map(|line| line.split("](").skip(1));
        links.filter_map(|rest| rest.split_once(')').map(|(link, _)| link.to_string())).collect()
    }

    /// The names that browsers know its headings by.
    fn anchors(&self) -> BTreeSet<String> {
        let headings = self.lines.iter().filter(|line| line.starts_with('#'));
        headings.map(|heading| anchor(heading)).collect()
    }
}

fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
    text.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

/// What is wrong with the links of the page at `path`.
fn broken(path: &Path) -> Vec<String> {
    let page = match fs::read_to_string(path).map_err(|e| e.to_string()).and_then(|text| Page::parse(&text)) {
        Ok(page) => page,
        Err(problem) => return vec![format!("{}: {problem}", path.display())],
    };
    let mut problems = Vec::new();
    for link in page.links().into_iter().filter(|link| !link.contains("://")) {
        let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
        let target = if file.is_empty() { path.to_path_buf() } else { path.parent().unwrap().join(file) };
        let there = target.exists()
            && (anchor.is_empty()
                || Page::parse(&fs::read_to_string(&target).unwrap()).unwrap().anchors().contains(anchor));
        if !there {
            problems.push(format!("{}: the link `{link}` leads nowhere", path.display()));
        }
    }
    problems
}

/// The Markdown files of a directory of the workspace.
fn pages(directory: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(workspace_root().join(directory)).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let crates = ["cargo-offload", "offload-build", "offload-format", "offload-images", "offload-rt"];
    let directories = [
        "",
        "docs",
        "offload-containers",
        "offload-packer",
        "offload-protocol",
        "offload-sycl",
        "offload-workgroup",
        "offload-cache",
        "offload-clang",
        "offload-embed",
        "offload-files",
        "offload-ir",
        "offload-jobs",
        "offload-signatures",
    ]
    .into_iter()
    .chain(crates);
    let pages: Vec<PathBuf> = directories.flat_map(pages).collect();
    assert!(pages.len() > 25, "{pages:?}");
    let problems: Vec<String> = pages.iter().flat_map(|page| broken(page)).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn count_broken(page: &Path, text: &str) -> usize {
    fs::write(page, text).unwrap();
    broken(page).len()
}

#[test]
fn broken_links_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("a.md");
    assert_eq!(
        count_broken(&page, "# The `word`, here\n[a](a.md#the-word-here) [b](https://example.org/none)\n"),
        0
    );
    assert_eq!(count_broken(&page, "# One\n[a](#two) [b](b.md) ![c](c.png)\n```text\n[d](d.md)\n```\n"), 3);
    assert_eq!(count_broken(&page, "```text\nno end\n"), 1);
}

#[test]
fn the_book_lists_its_pages() {
    let summary = fs::read_to_string(workspace_root().join("docs/SUMMARY.md")).unwrap();
    let listed: BTreeSet<String> = Page::parse(&summary).unwrap().links().into_iter().collect();
    let names = pages("docs").into_iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_string());
    let there: BTreeSet<String> = names.filter(|name| name != "SUMMARY.md").collect();
    assert_eq!(listed, there);
}

#[test]
fn every_block_is_of_a_language_that_is_tested() {
    let pages = pages("docs").into_iter().chain([workspace_root().join("README.md")]);
    for path in pages {
        let page = Page::parse(&fs::read_to_string(&path).unwrap()).unwrap();
        let unknown = page.languages.iter().find(|language| !LANGUAGES.contains(&language.as_str()));
        assert!(unknown.is_none(), "{}: a block of `{}`", path.display(), unknown.unwrap());
        // What is not compiled depends on a driver crate.
        assert!(
            !page.languages.contains(&"rust,ignore".to_string()) || path.ends_with("drivers.md"),
            "{path:?}"
        );
    }
}

/// Names of the form `OFFLOAD_...`.
fn variables(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words
        .filter(|word| word.starts_with("OFFLOAD_") && !word.contains(|c: char| c.is_ascii_lowercase()))
        .map(str::to_string)
        .collect()
}

/// The Rust files below `directory`, without their tests.
fn code(directory: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            code(&path, files);
        } else if path.extension().is_some_and(|it| it == "rs") && !path.ends_with("tests.rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_string();
            files.push((path, code));
        }
    }
}

/// Those of the published crates that read variables.
fn published() -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for package in
        ["offload-build", "offload-format", "offload-protocol", "offload-rt", "offload-sycl", "cargo-offload"]
    {
        code(&workspace_root().join(package).join("src"), &mut files);
    }
    files
}

/// Names of variables that `code` has as a text constant of their own; comments do not count.
fn spelled<'a>(code: &'a str, names: &BTreeSet<&str>) -> Vec<&'a str> {
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    // An option of the subcommand has the placeholder TARGET or PATH.
    let lines = lines.filter(|line| !line.contains("value_name"));
    lines.flat_map(|line| line.split('"').skip(1).step_by(2)).filter(|text| names.contains(text)).collect()
}

/// A row of the page's tables for each variable of this purpose.
fn table(purpose: Purpose) -> String {
    let mut table = "| variable | read by | meaning |\n|---|---|---|\n".to_string();
    for variable in variable::ALL.iter().filter(|variable| variable.purpose == purpose) {
        let readers: Vec<&str> = variable.readers.iter().map(shown).collect();
        table.push_str(&format!("| `{}` | {} | {} |\n", variable.name, readers.join(", "), variable.meaning));
    }
    table
}

fn shown(reader: &Reader) -> &'static str {
    match reader {
        Reader::BuildScript => "build scripts",
        Reader::Subcommand => "`cargo offload`",
        Reader::Program => "programs",
        Reader::Driver => "drivers",
        Reader::Compiler => "compilers",
        other => panic!("{other:?} has no name in the book"),
    }
}

/// The page with the tables of the code below its marks `<!-- variables: PURPOSE -->`.
fn with_tables(page: &str) -> String {
    let purposes: BTreeSet<Purpose> = variable::ALL.iter().map(|variable| variable.purpose).collect();
    let mut page = page.to_string();
    for purpose in purposes {
        let mark = format!("<!-- variables: {purpose:?} -->\n\n");
        let (before, after) = page.split_once(&mark).unwrap_or_else(|| panic!("no table for {purpose:?}"));
        let end = after.find("\n\n").map_or(after.len(), |end| end + 1);
        page = format!("{before}{mark}{}{}", table(purpose), &after[end..]);
    }
    page
}

#[test]
fn the_tables_of_environment_variables_are_those_of_the_code() {
    let path = workspace_root().join("docs/environment.md");
    let page = fs::read_to_string(&path).unwrap();
    let expected = with_tables(&page);
    if std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite") {
        fs::write(&path, &expected).unwrap();
        return;
    }
    assert_eq!(page, expected, "SNAPSHOTS=overwrite writes docs/environment.md again");
}

#[test]
fn names_of_environment_variables_are_written_once() {
    let names: BTreeSet<&str> = variable::ALL.iter().map(|variable| variable.name).collect();
    let declarations = declarations();
    let mut mentioned = BTreeSet::new();
    for (path, code) in published() {
        mentioned.extend(variables(&code));
        if !declarations.contains(&path) {
            let again = spelled(&code, &names);
            assert!(again.is_empty(), "{}: declare {again:?} in one place", path.display());
        }
    }
    // A mark in the page of `report --html`, and the template of `offload.toml`.
    let others = ["OFFLOAD_DATA", "OFFLOAD_TOML"];
    let unknown =
        mentioned.iter().find(|name| !names.contains(name.as_str()) && !others.contains(&name.as_str()));
    assert_eq!(unknown, None, "no variable of this name is declared");
    assert!(mentioned.len() > 30, "{mentioned:?}");
}

#[test]
fn names_that_are_spelled_again_are_found() {
    let names = BTreeSet::from(["PATH", "OFFLOAD_SKIP"]);
    let code =
        "// var(\"PATH\")\nvar(\"OFFLOAD_SKIP\"); x(\"PATH is set\");\n#[arg(value_name = \"PATH\")]\n";
    assert_eq!(spelled(code, &names), ["OFFLOAD_SKIP"]);
    assert_eq!(
        variables("set OFFLOAD_SKIP=1, __OFFLOAD_RUN, OFFLOAD_x"),
        BTreeSet::from(["OFFLOAD_SKIP".to_string()])
    );
}

/// What cargo sets for build scripts
/// (<https://doc.rust-lang.org/cargo/reference/environment-variables.html#environment-variables-cargo-sets-for-build-scripts>).
const CARGO_S: [&str; 11] = [
    "CARGO_ENCODED_RUSTFLAGS",
    "DEBUG",
    "HOST",
    "NUM_JOBS",
    "OPT_LEVEL",
    "OUT_DIR",
    "PROFILE",
    "RUSTC",
    "RUSTC_LINKER",
    "RUSTDOC",
    "TARGET",
];

/// The files that declare variables. Programs do not link `offload-protocol`: the crates that they link have the names
/// that they read.
fn declarations() -> [PathBuf; 4] {
    let files = [
        "offload-protocol/src/variable.rs",
        "offload-rt/src/variable.rs",
        "offload-build/src/variable.rs",
        "offload-format/src/pack/cached.rs",
    ];
    files.map(|file| workspace_root().join(file))
}

/// The code of the published crates that reads the environment.
fn environment_readers() -> Vec<(PathBuf, String)> {
    let mut files = published();
    code(&workspace_root().join("offload-remote/src"), &mut files);
    let declarations = declarations();
    // Others read the processor's architecture or the temporary directory.
    files.retain(|(path, code)| {
        let reads = code.contains("env::var") || code.contains("std::env") && code.contains("var(name)");
        reads && !declarations.contains(path)
    });
    files
}

/// Quoted words in capitals.
fn capitals(code: &str) -> BTreeSet<&str> {
    code.split('"').filter(|part| is_name(part)).collect()
}

fn is_name(text: &str) -> bool {
    text.len() > 2
        && text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

fn is_cargo_s(name: &str) -> bool {
    let prefixes = ["CARGO_CFG_", "CARGO_FEATURE_", "CARGO_PKG_", "CARGO_MANIFEST_", "DEP_"];
    CARGO_S.contains(&name) || prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// A variable is read by its constant, so that the book has it; cargo's own for build scripts are exempt.
#[test]
fn variables_that_are_read_are_declared() {
    let files = environment_readers();
    assert!(files.len() > 5, "{files:?}");
    for (file, code) in files {
        let undeclared = capitals(&code).into_iter().find(|name| !is_cargo_s(name));
        assert_eq!(undeclared, None, "{}: declare it in offload-protocol/src/variable.rs", file.display());
    }
}

#[test]
fn names_in_capitals_are_found() {
    assert_eq!(capitals("var(\"PATH\"); x(\"no\", \"No\", \"A_B2\")"), BTreeSet::from(["A_B2", "PATH"]));
}
