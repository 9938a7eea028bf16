//! `ARCHITECTURE.md` lists the files that one image goes through: each function is there, and called on the path.

use std::collections::BTreeSet;
use std::fs;

use offload_tests::workspace_root;

/// More files than this a path may not have.
const MOST: [usize; 2] = [20, 13];

struct Row {
    file: String,
    functions: Vec<String>,
}

/// The tables of a page's section, by their rows.
fn paths(page: &str) -> Vec<Vec<Row>> {
    let section = page.split("\n## One image, file by file\n").nth(1).expect("the section");
    let section = section.split("\n## ").next().unwrap();
    let tables = section.split("|---|---|---|\n").skip(1);
    tables.map(|table| table.lines().take_while(|line| line.starts_with('|')).map(row).collect()).collect()
}

fn row(line: &str) -> Row {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let name = |text: &str| text.trim().trim_matches('`').to_string();
    Row { file: name(cells[1]), functions: cells[2].split(',').map(name).collect() }
}

/// What of `path` is not so; `read` gives the text of a file.
fn faults(path: &[Row], read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let code =
        |row: &Row| read(&row.file).map(|text| text.split("\n#[cfg(test)]").next().unwrap().to_string());
    let all: String = path.iter().filter_map(code).collect();
    let (mut faults, mut seen, mut above) = (Vec::new(), BTreeSet::new(), String::new());
    for row in path {
        let Row { file, functions } = row;
        let Some(code) = code(row) else {
            faults.push(format!("{file} does not exist"));
            continue;
        };
        if !seen.insert(file) {
            faults.push(format!("{file} is listed twice"));
        }
        for (index, function) in functions.iter().enumerate() {
            let defined = [format!("fn {function}("), format!("fn {function}<")];
            if !defined.iter().any(|start| code.contains(start)) {
                faults.push(format!("{file} has no function `{function}`"));
            }
            // The user calls the first of all. The path comes back to a file for its other functions.
            let callers = if index == 0 { &above } else { &all };
            if !above.is_empty() && !is_called(callers, function) {
                faults.push(format!("no file calls `{function}` of {file}"));
            }
        }
        above.push_str(&code);
    }
    faults
}

/// Whether code mentions `name` otherwise than to define it.
fn is_called(code: &str, name: &str) -> bool {
    let part = |char: char| char.is_alphanumeric() || char == '_';
    code.lines().filter(|line| !line.trim_start().starts_with("//")).any(|line| {
        line.match_indices(name).any(|(at, _)| {
            let (before, behind) = (&line[..at], &line[at + name.len()..]);
            let whole = !before.ends_with(part) && !behind.starts_with(part);
            whole
                && !before.ends_with("fn ")
                && (behind.starts_with(['(', ':', ')', ',']) || before.ends_with("::"))
        })
    })
}

#[test]
fn the_path_of_an_image_is_as_listed() {
    let page = fs::read_to_string(workspace_root().join("ARCHITECTURE.md")).unwrap();
    let paths = paths(&page);
    assert_eq!(paths.len(), MOST.len());
    for (path, most) in paths.iter().zip(MOST) {
        let faults = faults(path, |file| fs::read_to_string(workspace_root().join(file)).ok());
        assert!(faults.is_empty(), "{faults:#?}");
        assert!(path.len() <= most, "the path has {} files, and had {most}", path.len());
    }
}

#[test]
fn planted_faults_are_found() {
    let page = "\n## One image, file by file\n\n| f | g | h |\n|---|---|---|\n| `a.rs` | `one` | x |\n| `b.rs` | `two`, `gone` | x |\n| `c.rs` | `three` | x |\n| `d.rs` | `four` | x |\n";
    let read = |file: &str| match file {
        "a.rs" => Some("fn one() { two() }".to_string()),
        "b.rs" => Some("fn two() { four_more() }\n// three()".to_string()),
        "c.rs" => Some("fn three() {}".to_string()),
        _ => None,
    };
    let found = faults(&paths(page)[0], read);
    let wanted = [
        "b.rs has no function `gone`",
        "no file calls `gone` of b.rs",
        "no file calls `three` of c.rs",
        "d.rs does not exist",
    ];
    assert_eq!(found, wanted);
}
