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

/// What goes into the program: the archives that cargo is told to link, and the Rust that is included.
fn linked(out: &Path, said: &str) -> Files {
    const LINK: &str = "cargo::rustc-link-lib=static:-bundle,+whole-archive=";
    let archives: Vec<PathBuf> = said
        .lines()
        .filter_map(|line| line.strip_prefix(LINK))
        .map(|name| format!("lib{name}.a").into())
        .collect();
    assert!(!archives.is_empty(), "{said}");
    let mut all = files(out);
    all.retain(|path, _| archives.contains(path) || path.extension().is_some_and(|it| it == "rs"));
    all
}

/// What cargo is told for rustc, without the places of this run. The rest says what to look at before the next one, and of
/// that a build that finds results says less: it asks no validator.
fn told(said: &str, places: &Places) -> Vec<String> {
    let lines = said.lines().filter(|line| line.starts_with("cargo::rustc-"));
    lines.map(|line| line.replace(places.out.to_str().unwrap(), "OUT")).collect()
}

#[test]
fn after_any_edit_a_program_is_what_a_build_from_nothing_makes() {
    let project = Project::with_fake_tools("two-files");
    let script = Script::of(&project);
    let kept = Places { package: project.path(""), out: project.path("out"), cache: project.path("kept") };
    for (number, Edit { file, text }) in EDITS.iter().enumerate() {
        let when = format!("edit {number}: {file}: {text}");
        project.write(file, text);
        let said = succeed(&mut script.command(&kept));
        let fresh = tempfile::tempdir().unwrap();
        let (out, cache) = (fresh.path().join("out"), fresh.path().join("cache"));
        let anew = Places { out, cache, ..kept.clone() };
        let from_nothing = succeed(&mut script.command(&anew));
        let found = differences(&linked(&kept.out, &said), &linked(&anew.out, &from_nothing));
        assert!(found.is_empty(), "{when}: {found:?}");
        assert_eq!(told(&said, &kept), told(&from_nothing, &anew), "{when}");
        // Once more, with nothing changed.
        project.calls();
        let again = succeed(&mut script.command(&kept));
        assert_eq!(told(&again, &kept), told(&said, &kept), "{when}");
        assert_eq!(project.calls(), [""; 0], "{when}");
    }
    let left = fs::read_dir(&kept.out).unwrap().count();
    assert!(left <= 8, "{left} files are left in OUT_DIR");
    let tried = format!("{} edits", EDITS.len());
    offload_tests::figure(tried, "0 programs with anything of before, 0 compilers in unchanged builds");
}
