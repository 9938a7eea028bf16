//! The pages that people read: links and anchors lead somewhere, the book lists its pages, and its table of environment
//! variables is that of the code.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use offload_tests::workspace_root;

/// What a block may be marked as. Other tests compile `rust`, parse `toml`, and parse the command lines of the rest.
const LANGUAGES: [&str; 8] = ["c", "console", "python", "rust", "rust,ignore", "text", "toml", "yaml"];

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
        let anchor = |heading: &String| {
            let text = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
            text.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
        };
        headings.map(anchor).collect()
    }
}

/// What is wrong with the links of the page at `path`.
fn broken(path: &Path) -> Vec<String> {
    let at = |what: String| format!("{}: {what}", path.display());
    let page = match fs::read_to_string(path).map_err(|e| e.to_string()).and_then(|text| Page::parse(&text)) {
        Ok(page) => page,
        Err(problem) => return vec![at(problem)],
    };
    let mut problems = Vec::new();
    for link in page.links().into_iter().filter(|link| !link.contains("://")) {
        let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
        let target = if file.is_empty() { path.to_path_buf() } else { path.parent().unwrap().join(file) };
        let there = target.exists()
            && (anchor.is_empty()
                || Page::parse(&fs::read_to_string(&target).unwrap()).unwrap().anchors().contains(anchor));
        if !there {
            problems.push(at(format!("the link `{link}` leads nowhere")));
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
    let directories = ["", "docs", "offload-containers", "offload-sycl"].into_iter().chain(crates);
    let pages: Vec<PathBuf> = directories.flat_map(pages).collect();
    assert!(pages.len() > 25, "{pages:?}");
    let problems: Vec<String> = pages.iter().flat_map(|page| broken(page)).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn broken_links_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("a.md");
    let problems = |text: &str| {
        fs::write(&page, text).unwrap();
        broken(&page).len()
    };
    assert_eq!(problems("# The `word`, here\n[a](a.md#the-word-here) [b](https://example.org/none)\n"), 0);
    assert_eq!(problems("# One\n[a](#two) [b](b.md) ![c](c.png)\n```text\n[d](d.md)\n```\n"), 3);
    assert_eq!(problems("```text\nno end\n"), 1);
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
    let words = text.split(|c: char| !c.is_ascii_uppercase() && !c.is_ascii_digit() && c != '_');
    words.filter(|word| word.starts_with("OFFLOAD_")).map(str::to_string).collect()
}

/// Text constants of Rust code that are the name of a variable and nothing else, outside of tests.
fn declared(directory: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            declared(&path, names);
        } else if path.extension().is_some_and(|it| it == "rs") && !path.ends_with("tests.rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let quoted = code.split('"').filter(|part| variables(part).contains(*part));
            names.extend(quoted.map(str::to_string));
        }
    }
}

#[test]
fn the_table_of_environment_variables_is_that_of_the_code() {
    let mut code = BTreeSet::new();
    for package in ["offload-build", "offload-format", "offload-rt", "offload-sycl", "cargo-offload"] {
        declared(&workspace_root().join(package).join("src"), &mut code);
    }
    // A mark in the page of `report --html`.
    assert!(code.remove("OFFLOAD_DATA"));
    let text = fs::read_to_string(workspace_root().join("docs/environment.md")).unwrap();
    let rows: String = text.lines().filter(|line| line.starts_with("| `")).collect();
    let first = rows.split("| `").map(|row| row.split(" |").next().unwrap()).collect::<Vec<_>>().join(" ");
    assert!(code.len() > 25, "{code:?}");
    assert_eq!(variables(&first), code);
}

/// What cargo sets for build scripts
/// (<https://doc.rust-lang.org/cargo/reference/environment-variables.html#environment-variables-cargo-sets-for-build-scripts>).
const CARGO_S: [&str; 6] = ["DEBUG", "HOST", "OPT_LEVEL", "OUT_DIR", "PROFILE", "TARGET"];

/// The files that read the environment, as ARCHITECTURE.md lists them, and what decides where the cache is.
fn environment_files() -> Vec<PathBuf> {
    let text = fs::read_to_string(workspace_root().join("ARCHITECTURE.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| environment |"));
    let names =
        rows.flat_map(|row| row.split('`').skip(1).step_by(2).map(str::to_string).collect::<Vec<_>>());
    let cache = "offload-format/src/pack/cached.rs".to_string();
    names.chain([cache]).map(|name| workspace_root().join(name)).collect()
}

/// Quoted words in capitals.
fn capitals(code: &str) -> BTreeSet<&str> {
    let is_name = |part: &&str| {
        let plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        part.len() > 2 && part.starts_with(|c: char| c.is_ascii_uppercase()) && part.chars().all(plain)
    };
    code.split('"').filter(is_name).collect()
}

#[test]
fn the_page_of_environment_variables_names_those_of_others() {
    let page = fs::read_to_string(workspace_root().join("docs/environment.md")).unwrap();
    let files = environment_files();
    assert!(files.len() > 10, "{files:?}");
    let mut count = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        // Others ask for the processor's architecture or the temporary directory.
        if !["env::var", "var(name)"].iter().any(|read| code.contains(read)) {
            continue;
        }
        let of_cargo = |name: &&str| {
            let prefixes = ["CARGO_CFG_", "CARGO_PKG_", "CARGO_MANIFEST_"];
            CARGO_S.contains(name) || prefixes.iter().any(|prefix| name.starts_with(prefix))
        };
        for name in capitals(code).into_iter().filter(|name| !of_cargo(name)) {
            count += 1;
            let shown = [format!("`{name}`"), format!("`{name}=")].iter().any(|text| page.contains(text));
            assert!(shown, "{}: `{name}` is not in docs/environment.md", file.display());
        }
    }
    assert!(count > 30, "{count}");
}

#[test]
fn names_in_capitals_are_found() {
    assert_eq!(capitals("var(\"PATH\"); x(\"no\", \"No\", \"A_B2\")"), BTreeSet::from(["A_B2", "PATH"]));
}
