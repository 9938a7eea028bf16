//! Planted import cycles are found, and nothing else; the published crates have none.

use std::fs;

use offload_tidy::{cycles, modules, packages};

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
    let directory = package(files);
    cycles::find(&modules::of_crate(&directory.path().join("src/lib.rs")).unwrap())
}

#[test]
fn the_published_crates_have_no_import_cycles() {
    let published = packages::published(&offload_tests::workspace_root()).unwrap();
    assert!(published.len() >= 8, "{published:?}");
    for package in published {
        let cycles = packages::import_cycles(&package).unwrap();
        assert!(cycles.is_empty(), "{}: {cycles:?}", package.display());
    }
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
fn cycles_through_re_exports_macros_and_folders_are_found() {
    let root = ("lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::B;\n");
    let passed_on = [root, ("a.rs", "use crate::B;\npub struct A;"), ("b.rs", "fn f() { check!(crate::A) }")];
    assert_eq!(cycles(&passed_on), [["crate::a", "crate::b"]]);
    let folder = [("lib.rs", "mod a;"), ("a.rs", "mod b;\nfn f() { b::g() }"), ("a/b.rs", "use super::f;")];
    assert_eq!(cycles(&folder), [["crate::a", "crate::a::b"]]);
    let root_alone = [("lib.rs", "mod a;\npub use a::A;\n"), ("a.rs", "use crate::A;")];
    assert_eq!(cycles(&root_alone), [[""; 0]; 0]);
}

#[test]
fn tests_and_comments_do_not_count() {
    let tested = "// use crate::b::B;\n#[cfg(test)]\nmod tests {\nuse crate::b::B;\n}\n";
    let files = [("lib.rs", "mod a;\nmod b;\n"), ("a.rs", tested), ("b.rs", "use crate::a::A;")];
    assert_eq!(cycles(&files), [[""; 0]; 0]);
}

#[test]
fn what_is_no_rust_is_an_error() {
    let directory = package(&[("lib.rs", "fn {")]);
    let error = packages::import_cycles(directory.path()).unwrap_err().to_string();
    assert!(error.contains("lib.rs"), "{error}");
}
