//! The setting `strip`: what leaves the images for AMD, and what stays.

use crate::support::Project;
use offload_format::codec;
use offload_format::pack::{Pack, Pages};
use offload_images::code_object::{CodeObject, info};

/// The image for AMD in the program.
fn image(project: &Project) -> (Vec<u8>, CodeObject) {
    let program = std::fs::read(project.program()).unwrap();
    let magic = offload_format::pack::layout::MAGIC;
    let starts = (0..program.len() - 8).filter(|at| program[*at..].starts_with(&magic));
    let pages = Pages::default();
    let pack = starts.filter_map(|at| Pack::parse(&program[at..], &pages).ok()).next().unwrap();
    let image =
        pack.images().map(Result::unwrap).find(|image| image.target_text == "amdgcn:gfx1030").unwrap();
    let bytes = codec::decode(&pack, &image).unwrap();
    let described = info(&bytes).unwrap();
    (bytes, described)
}

fn has(image: &[u8], text: &str) -> bool {
    image.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn symbols_and_comments_leave_and_kernels_stay() {
    let project = Project::new("two-files");
    let list = "targets = [\"host\", \"amdgcn:gfx1030\"]\n";
    project.write("offload.toml", list);
    let (whole, before) = image(&project);
    assert!(has(&whole, ".symtab") && has(&whole, ".comment") && !before.kernels.is_empty());
    for setting in ["strip = true\n", "strip = false\n[modules.two]\nstrip = true\n"] {
        project.write("offload.toml", &format!("{list}{setting}"));
        let (stripped, after) = image(&project);
        assert!(!has(&stripped, ".symtab") && !has(&stripped, ".comment") && stripped.len() < whole.len());
        assert_eq!(after, before);
    }
    project.write("offload.toml", &format!("{list}strip = true\n[modules.two]\nstrip = false\n"));
    assert_eq!(image(&project).0, whole);
}

#[test]
fn a_missing_tool_is_an_error() {
    let mut project = Project::new("two-files");
    project.write("offload.toml", "targets = [\"amdgcn:gfx1030\"]\nstrip = true\n");
    project.set("OFFLOAD_STRIP", "/nowhere/llvm-strip");
    let text = project.fail();
    assert!(
        text.contains("llvm-strip") && text.contains("OFFLOAD_STRIP") && text.contains("hint:"),
        "{text}"
    );
}
