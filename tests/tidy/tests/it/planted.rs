//! A package with planted faults: each is found, and nothing else.

use std::fs;

use offload_tidy::cycles::{self, Uses};
use offload_tidy::figures::{self, Figures};
use offload_tidy::modules;

/// A package of these files, measured.
fn measured(files: &[(&str, &str)]) -> Figures {
    let directory = package(files);
    figures::of_package(directory.path()).unwrap()
}

fn package(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = directory.path().join("src").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    directory
}

fn cycles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    found(files, Uses::All)
}

fn found(files: &[(&str, &str)], uses: Uses) -> Vec<Vec<String>> {
    let directory = package(files);
    cycles::find(&modules::of_crate(&directory.path().join("src/lib.rs")).unwrap(), uses)
}

fn lines(count: usize) -> String {
    format!("fn f() {{\n{}}}\n", "    g();\n".repeat(count - 2))
}

#[test]
fn long_functions_are_named() {
    assert_eq!(measured(&[("lib.rs", &lines(60))]).long, [""; 0]);
    assert_eq!(measured(&[("lib.rs", &lines(61))]).long, ["src/lib.rs: f"]);
    let method = format!("struct S;\nimpl S {{\n{}}}\n", lines(61));
    assert_eq!(measured(&[("lib.rs", "mod a;"), ("a.rs", &method)]).long, ["src/a.rs: f"]);
}

#[test]
fn parameters_count_and_tuples_count_as_what_is_in_them() {
    let text = "fn four(a: u8, b: u8, c: u8, d: u8) {}\n\
                fn five(a: u8, b: u8, c: u8, d: u8, e: u8) {}\n\
                fn hidden((a, b): (u8, u8), c: u8, d: &(u8, (u8, u8))) {}\n\
                fn pair(p: (u8, u8)) {}\nfn list(p: &[(u8, u8)], unit: ()) {}\n\
                struct S;\nimpl S { fn four(&self, a: u8, b: u8, c: u8, d: u8) {} }\n\
                impl Other for S { fn as_asked(&self, p: (u8, u8)) {} }\n\
                trait T { fn asked(&self, p: (u8, u8)); }\n";
    let figures = measured(&[("lib.rs", text)]);
    assert_eq!(figures.many, ["src/lib.rs: five", "src/lib.rs: hidden"]);
    assert_eq!(figures.tuples, ["src/lib.rs: hidden", "src/lib.rs: pair", "src/lib.rs: asked"]);
}

#[test]
fn modules_that_use_each_other_are_found() {
    let root = ("lib.rs", "mod a;\nmod b;\nmod c;\n");
    let circle = [
        root,
        ("a.rs", "use crate::b::B;"),
        ("b.rs", "use super::c::C;"),
        ("c.rs", "fn f() { crate::a::g() }"),
    ];
    assert_eq!(cycles(&circle), [["crate::a", "crate::b", "crate::c"]]);
    let line = [root, ("a.rs", "use crate::b::B;"), ("b.rs", "use super::c::C;"), ("c.rs", "")];
    assert_eq!(cycles(&line), [[""; 0]; 0]);
}

#[test]
fn circles_through_re_exports_macros_and_folders_are_found() {
    let root = ("lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::B;\n");
    let passed_on = [root, ("a.rs", "use crate::B;\npub struct A;"), ("b.rs", "fn f() { check!(crate::A) }")];
    assert_eq!(cycles(&passed_on), [["crate::a", "crate::b"]]);
    let folder = [("lib.rs", "mod a;"), ("a.rs", "mod b;\nfn f() { b::g() }"), ("a/b.rs", "use super::f;")];
    assert_eq!(cycles(&folder), [["crate::a", "crate::a::b"]]);
    assert_eq!(found(&folder, Uses::NotOfParents), [[""; 0]; 0]);
    assert_eq!(found(&passed_on, Uses::NotOfParents), [["crate::a", "crate::b"]]);
    let root_alone = [("lib.rs", "mod a;\npub use a::A;\n"), ("a.rs", "use crate::A;")];
    assert_eq!(cycles(&root_alone), [[""; 0]; 0]);
}

#[test]
fn tests_and_comments_do_not_count() {
    let text = format!("// unsafe\n#[cfg(test)]\nmod tests {{\nuse super::*;\npub {}}}\n", lines(70));
    let figures = measured(&[("lib.rs", &text), ("other.rs", "fn f() { unsafe { g() } }")]);
    assert_eq!((figures.files, figures.unsafe_files), (2, 1));
    assert!(
        figures.long.is_empty() && figures.cycles.is_empty() && figures.undocumented.is_empty(),
        "{figures:?}"
    );
}

#[test]
fn public_items_need_documentation() {
    let text = "/// Told.\npub struct S {\n    pub told_not: u8,\n    own: u8,\n}\n\
                pub(crate) fn inner() {}\npub fn bare() {}\nimpl S { pub fn method(&self) {} }\n";
    assert_eq!(
        measured(&[("lib.rs", text)]).undocumented,
        ["src/lib.rs: told_not", "src/lib.rs: bare", "src/lib.rs: method"]
    );
}

#[test]
fn what_is_no_rust_is_an_error() {
    let directory = package(&[("lib.rs", "fn {")]);
    let error = figures::of_package(directory.path()).unwrap_err().to_string();
    assert!(error.contains("lib.rs"), "{error}");
}
