//! The reader in Python that FORMAT.md shows, on a pack and on linked programs.

use std::path::Path;
use std::process::Command;

use crate::support::{self, Project};
use offload_containers::carrier::{self, FileKind};
use offload_format::Limits;
use offload_format::pack::{Pack, Pages};

/// What the reader prints of a file, without any module but Python's own.
fn printed(file: &Path) -> Option<String> {
    let python = offload_tests::require("python3")?;
    let document = std::fs::read_to_string(support::root().join("FORMAT.md")).unwrap();
    let [reader] = support::blocks(&document, "python").try_into().expect("FORMAT.md has one reader");
    assert!(reader.lines().count() <= 60, "{reader}");
    let output = Command::new(python).args(["-I", "-S", "-c", &reader]).arg(file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The same lines by this project's reader.
fn listed(file: &[u8]) -> String {
    let found = carrier::find(file, &Limits::default()).unwrap();
    let packs = found.iter().filter(|it| it.kind == Some(FileKind::Pack));
    let packs: Vec<(&[u8], Pages)> = packs.map(|it| (it.bytes, Pages::default())).collect();
    let packs: Vec<Pack<'_>> =
        packs.iter().map(|(bytes, pages)| Pack::parse(bytes, pages).unwrap()).collect();
    let images = packs.iter().flat_map(Pack::images).map(Result::unwrap);
    images
        .map(|image| {
            let stored = image.stored_size;
            let raw = image.raw_size;
            format!("{} {} stored {stored} raw {raw}\n", image.module, image.target_text)
        })
        .collect()
}

#[test]
fn the_reader_of_the_document_lists_a_pack() {
    let file = support::root().join("tests/data/sample.pack");
    let Some(text) = printed(&file) else { return };
    assert_eq!(text, listed(&std::fs::read(&file).unwrap()));
    assert!(text.lines().count() >= 2 && text.lines().all(|line| line.contains(" stored ")), "{text}");
}

#[test]
fn the_reader_of_the_document_lists_a_program() {
    let project = Project::with_fake_tools("two-files");
    let program = project.program();
    let Some(whole) = printed(&program) else { return };
    assert_eq!(whole, listed(&std::fs::read(&program).unwrap()));
    for target in ["spirv64", "intel:pvc", "opencl-c"] {
        assert!(whole.contains(&format!(" {target} stored ")), "{whole}");
    }
    let stripped = program.with_extension("stripped");
    let status = Command::new("objcopy").arg("--strip-all").arg(&program).arg(&stripped).status().unwrap();
    assert!(status.success());
    assert_eq!(printed(&stripped).unwrap(), whole);
}
