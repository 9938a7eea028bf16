//! Installed and synthetic programs.

use super::*;

fn program(path: &str) -> Program {
    Program { path: path.into(), library_directories: Vec::new(), opened: Vec::new(), others: Vec::new() }
}

fn names(found: &[FileIdentity]) -> Vec<&str> {
    found.iter().map(|file| file.path.rsplit('/').next().unwrap()).collect()
}

#[test]
fn a_real_program_has_the_libraries_that_it_loads() {
    let found = identify(&program("/bin/ls"), &Files::default()).unwrap();
    let names = names(&found);
    for start in ["ls", "libc.so.6", "ld-linux"] {
        assert!(names.iter().any(|name| name.starts_with(start)), "{start}: {names:?}");
    }
    assert!(
        found.is_sorted_by_key(|file| file.path.clone())
            && found.iter().all(|file| Path::new(&file.path).is_absolute())
    );
    let ls =
        std::fs::read(found.iter().find(|file| file.path.ends_with("/ls")).unwrap().path.as_str()).unwrap();
    let digest = crate::digest::Digest::from_bytes(&ls).sha256;
    assert!(found.iter().any(|file| file.sha256 == digest));
}

#[test]
fn what_a_program_opens_and_reads_counts_too() {
    let dir = tempfile::tempdir().unwrap();
    let tool = dir.path().join("tool");
    std::fs::write(&tool, "#!/bin/sh\n").unwrap();
    std::fs::write(dir.path().join("libplugin.so.1"), "one").unwrap();
    std::os::unix::fs::symlink("libplugin.so.1", dir.path().join("libplugin.so")).unwrap();
    std::fs::write(dir.path().join("libother.so"), "two").unwrap();
    let data = dir.path().join("data");
    std::fs::write(&data, "three").unwrap();
    let program = Program {
        library_directories: vec![dir.path().display().to_string()],
        opened: vec!["libplugin.so".into()],
        others: vec![data.canonicalize().unwrap().display().to_string()],
        ..program(&tool.canonicalize().unwrap().display().to_string())
    };
    let found = identify(&program, &Files::default()).unwrap();
    assert_eq!(names(&found), ["data", "libplugin.so.1", "tool"]);
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let fault = identify(&program("/usr/bin/no such tool"), &Files::default()).unwrap_err();
    assert!(fault.message.contains("`/usr/bin/no such tool`"), "{fault:?}");
    assert!(identify(&program("clang"), &Files::default()).unwrap_err().message.contains("absolute"));
}

#[test]
fn a_damaged_program_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tool");
    let ls = std::fs::read("/bin/ls").unwrap();
    std::fs::write(&path, &ls[..70]).unwrap();
    let fault = identify(&program(path.to_str().unwrap()), &Files::default()).unwrap_err();
    assert!(fault.message.contains("tool"), "{fault:?}");
}
