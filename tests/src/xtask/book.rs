//! `book`: the book as pages for a browser, by mdBook.

use std::path::Path;
use std::process::ExitCode;

use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;

use crate::cargo_tool::CargoTool;

pub(crate) const HELP: &str =
    "book            build the book with mdBook; fails on a warning or a missing page

mdBook is compiled once, under the target directory.";

const MDBOOK: CargoTool = CargoTool {
    package: "mdbook",
    version: "0.5.4",
    arguments: &["--no-default-features", "--features", "search"],
    is_unoptimized: false,
};

pub(crate) fn run(workspace: &Workspace, _args: &[String]) -> Result<ExitCode> {
    let mdbook = MDBOOK.install(workspace)?;
    let pages = workspace.target_dir.join("book");
    workspace.shell.remove_path(&pages)?;
    let built = workspace.shell.cmd(mdbook).args(["build", "docs", "--dest-dir"]).arg(&pages);
    let output = built.ignore_status().output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || stderr.contains("WARN") || stderr.contains("ERROR") {
        return Err(Error::new(format!("mdBook failed:\n{}", stderr.trim_end())));
    }
    let expected = pages_of(&workspace.shell.read_file(workspace.root.join("docs/SUMMARY.md"))?);
    let missing: Vec<&String> = expected.iter().filter(|page| !is_page(&pages.join(page))).collect();
    if expected.is_empty() || !missing.is_empty() {
        return Err(Error::new(format!("of {} pages mdBook made all but {missing:?}", expected.len())));
    }
    println!("{} pages: {}", expected.len(), pages.join("index.html").display());
    Ok(ExitCode::SUCCESS)
}

/// The files that a summary's entries become.
fn pages_of(summary: &str) -> Vec<String> {
    let links = summary.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    links.filter_map(|(target, _)| Some(format!("{}.html", target.strip_suffix(".md")?))).collect()
}

/// Whether there is a page with a title of its own.
fn is_page(file: &Path) -> bool {
    std::fs::read_to_string(file).is_ok_and(|text| text.contains("<h1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_become_pages() {
        let summary = "# Book\n\n[Start](start.md)\n\n- [One](tasks/one.md)\n- [Elsewhere](https://a.b)\n";
        assert_eq!(pages_of(summary), ["start.html", "tasks/one.html"]);
    }
}
