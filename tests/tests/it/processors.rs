//! Processors of one family share what their front ends do, and get the same images as if they did not.

use crate::support::Project;

/// The project, with clang called through a script that records it.
fn project() -> Project {
    let mut project = Project::new("two-files");
    project.record_clang();
    project
}

/// Calls of the front end for `kernels/a.cl`.
fn front_ends(calls: &[String]) -> usize {
    calls.iter().filter(|call| *call == "clang kernels/a.cl").count()
}

#[test]
fn amd_processors_have_the_same_images_with_a_front_end_of_their_own() {
    if !offload_tests::is_nightly() {
        return;
    }
    let project = project();
    project.write("offload.toml", "targets = [\"all-amd\"]\n");
    let shared = project.run(&["--release"]);
    let processors = shared.lines().count();
    assert!(processors > 20, "{shared}");
    let calls = front_ends(&project.calls());
    // For SPIR-V, which tells the kernels; for most processors; for generic ones; for those that are not like others.
    assert!((3..=6).contains(&calls), "{calls} of {processors}");
    // A word in a comment changes no code, but might be the name of a macro.
    let source = std::fs::read_to_string(project.path("kernels/a.cl")).unwrap();
    project.write("kernels/a.cl", &source.replacen('\n', " // gfx\n", 1));
    assert_eq!(project.run(&["--release"]), shared);
    // One for each, for SPIR-V, and the shared one for generic processors, whose IR was then of no use; the other shared
    // one is that of a processor.
    assert_eq!(front_ends(&project.calls()), processors + 2);
}

#[test]
fn a_file_that_asks_for_the_processor_gets_its_own() {
    let project = project();
    project.write("offload.toml", "targets = [\"amdgcn:gfx906\", \"amdgcn:gfx1030\", \"amdgcn:gfx1100\"]\n");
    project.write("kernels/common.h", "#define COMMON 7\n");
    let plain = project.run(&[]);
    assert_eq!(front_ends(&project.calls()), 2);
    project.write(
        "kernels/common.h",
        "#ifdef __gfx1030__\n#define COMMON 4711\n#else\n#define COMMON 7\n#endif\n",
    );
    let asking = project.run(&[]);
    assert_eq!(front_ends(&project.calls()), 5);
    for (one, other) in plain.lines().zip(asking.lines()) {
        assert_eq!(one == other, !one.starts_with("amdgcn:gfx1030 "), "{one}\n{other}");
    }
}
