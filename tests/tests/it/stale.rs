//! Edits of the configuration, one after another in one `OUT_DIR`: what is built is what a build from nothing makes, and
//! nothing of an earlier one is left in it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::Project;
use crate::support::script::{Files, Places, Script, differences, files, succeed};

/// A file of the package, and what is written to it.
struct Edit {
    file: &'static str,
    text: &'static str,
}

const fn toml(text: &'static str) -> Edit {
    Edit { file: "offload.toml", text }
}

const ALPHA: &str = "__kernel void alpha(__global int *x) {\n}\n";

const EDITS: [Edit; 16] = [
    toml("targets = [\"spirv64\", \"intel:pvc\", \"opencl-c\"]\n"),
    toml("targets = [\"spirv64\", \"intel:pvc\", \"intel:acm-g10\", \"opencl-c\"]\n"),
    toml("targets = [\"intel:acm-g10\", \"opencl-c\"]\n"),
    toml("targets = [\"opencl-c\"]\n"),
    toml("targets = [\"spirv64\", \"intel:pvc\"]\ncompression = \"none\"\n"),
    toml("targets = [\"spirv64\", \"intel:pvc\"]\ncompression = \"max\"\n"),
    toml("targets = [\"spirv64\", \"intel:pvc\"]\ncompression = \"fast\"\n"),
    Edit { file: "kernels/a.cl", text: "__kernel void renamed(__global int *x) {\n}\n" },
    Edit { file: "kernels/a.cl", text: ALPHA },
    Edit {
        file: "kernels/b.cl",
        text: "__kernel void one(__global int *x) {\n}\n__kernel void two(__global int *x) {\n}\n",
    },
    Edit { file: "flags.txt", text: "-DMORE=1\n" },
    toml("targets = [\"spirv64\", \"intel:pvc\"]\n[modules.two]\nsplit = \"kernel\"\n"),
    toml("targets = [\"spirv64\", \"intel:pvc\"]\n[modules.two]\nsplit = \"source\"\ndefines = { N = 3 }\n"),
    toml("targets = [\"spirv64\", { name = \"intel:pvc\", optional = true }]\n"),
    Edit { file: "flags.txt", text: "" },
    toml("targets = [\"spirv64\", \"intel:pvc\", \"opencl-c\"]\n"),
];

/// The files that go into the program: the archives that cargo links, and the included Rust.
fn linked(out: &Path, output_text: &str) -> Files {
    const LINK: &str = "cargo::rustc-link-lib=static:-bundle,+whole-archive=";
    let archives: Vec<PathBuf> = output_text
        .lines()
        .filter_map(|line| line.strip_prefix(LINK))
        .map(|name| format!("lib{name}.a").into())
        .collect();
    assert!(!archives.is_empty(), "{output_text}");
    let mut all = files(out);
    all.retain(|path, _| archives.contains(path) || path.extension().is_some_and(|it| it == "rs"));
    all
}

/// The instructions for rustc, without the paths of this run. The other instructions are files to watch: a build with cache
/// hits has fewer of them, because it runs no validator.
fn rustc_instructions(output_text: &str, places: &Places) -> Vec<String> {
    let lines = output_text.lines().filter(|line| line.starts_with("cargo::rustc-"));
    lines.map(|line| line.replace(places.out.to_str().unwrap(), "OUT")).collect()
}

#[test]
fn after_any_edit_a_program_is_what_a_build_from_nothing_makes() {
    let project = Project::with_fake_tools("two-files");
    let script = Script::for_project(&project);
    let kept = Places { package: project.path(""), out: project.path("out"), cache: project.path("kept") };
    for (number, Edit { file, text }) in EDITS.iter().enumerate() {
        let when = format!("edit {number}: {file}: {text}");
        project.write(file, text);
        let output_text = succeed(&mut script.command(&kept));
        let fresh = tempfile::tempdir().unwrap();
        let out = fresh.path().join("out");
        let cache = fresh.path().join("cache");
        let clean = Places { out, cache, ..kept.clone() };
        let clean_output = succeed(&mut script.command(&clean));
        let found = differences(&linked(&kept.out, &output_text), &linked(&clean.out, &clean_output));
        assert!(found.is_empty(), "{when}: {found:?}");
        let instructions = rustc_instructions(&output_text, &kept);
        assert_eq!(instructions, rustc_instructions(&clean_output, &clean), "{when}");
        // Once more, with nothing changed.
        project.calls();
        let again = succeed(&mut script.command(&kept));
        assert_eq!(rustc_instructions(&again, &kept), instructions, "{when}");
        assert_eq!(project.calls(), [""; 0], "{when}");
    }
    let left = fs::read_dir(&kept.out).unwrap().count();
    assert!(left <= 8, "{left} files are left in OUT_DIR");
    let tried = format!("{} edits", EDITS.len());
    offload_tests::figure(tried, "0 programs with anything of before, 0 compilers in unchanged builds");
}
