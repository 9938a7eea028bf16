//! Exactly what depends on an edit is built again. Every compiler call is recorded by fake tools.

use crate::support::Project;

/// Calls of a build from an empty cache: each file's front end once, then each target's own steps. What comes in
/// through standard input is the shim for SPIR-V and the merged source, which is checked.
const ALL: [&str; 11] = [
    "clang ask",
    "clang ask",
    "clang check",
    "clang check",
    "clang codegen",
    "clang kernels/a.cl",
    "clang kernels/b.cl",
    "clang merge",
    "llvm-link ask",
    "llvm-link run",
    "ocloc run",
];

fn without_checks(mut calls: Vec<String>) -> Vec<String> {
    calls.retain(|call| !call.starts_with("spirv-val"));
    calls
}

#[test]
fn an_unchanged_build_starts_no_compiler() {
    let project = Project::with_fake_tools("two-files");
    let first = project.run(&[]);
    assert_eq!(without_checks(project.calls()), ALL);
    assert_eq!(project.run(&[]), first);
    assert_eq!(project.calls(), [""; 0]);
    // A build script that runs again for another reason finds everything in the cache.
    project.write("flags.txt", "");
    assert_eq!(project.run(&[]), first);
    assert_eq!(project.calls(), [""; 0]);
}

/// The directory that cargo builds in lies outside of the workspace, as `CARGO_TARGET_DIR` has it.
#[test]
fn cargo_and_this_program_build_in_turns_without_running_the_build_script_again() {
    let project = Project::with_fake_tools("two-files");
    // While it is missing, cargo runs the build script each time.
    project.write("flags.txt", "");
    assert!(!project.target_dir().starts_with(project.path("")));
    let args = ["build", "--offline", "-v"];
    assert!(project.cargo(&args).success);
    for _ in 0..2 {
        for built in [project.offload(&args), project.cargo(&args)] {
            assert!(built.success && built.text.contains("Fresh"), "{}", built.text);
            assert!(!built.text.contains("build-script-build`"), "{}", built.text);
        }
    }
}

#[test]
fn a_header_rebuilds_the_files_that_include_it() {
    let project = Project::with_fake_tools("two-files");
    project.run(&[]);
    project.calls();
    project.write("kernels/common.h", "#define COMMON 2\n");
    project.run(&[]);
    let calls = without_checks(project.calls());
    assert!(calls.contains(&"clang kernels/a.cl".to_string()), "{calls:?}");
    assert!(!calls.contains(&"clang kernels/b.cl".to_string()), "{calls:?}");
    // The old text again: every result is still there.
    project.write("kernels/common.h", "#define COMMON 1\n");
    project.run(&[]);
    assert_eq!(project.calls(), [""; 0]);
}

#[test]
fn a_source_rebuilds_itself_alone() {
    let project = Project::with_fake_tools("two-files");
    project.run(&[]);
    project.calls();
    project.write("kernels/b.cl", "__kernel void gamma(__global int *x) {\n}\n");
    project.run(&[]);
    let calls = without_checks(project.calls());
    assert!(calls.contains(&"clang kernels/b.cl".to_string()), "{calls:?}");
    assert!(!calls.contains(&"clang kernels/a.cl".to_string()), "{calls:?}");
}

#[test]
fn a_flag_rebuilds_everything() {
    let project = Project::with_fake_tools("two-files");
    project.run(&[]);
    project.calls();
    project.write("flags.txt", "-DMORE=1\n");
    project.run(&[]);
    let calls = without_checks(project.calls());
    for file in ["clang kernels/a.cl", "clang kernels/b.cl", "clang merge"] {
        assert!(calls.contains(&file.to_string()), "{calls:?}");
    }
}

#[test]
fn a_removed_target_leaves_the_program_without_a_compiler() {
    let project = Project::with_fake_tools("two-files");
    let all = project.run(&[]);
    assert_eq!(all.lines().count(), 3, "{all}");
    project.calls();
    project.write("offload.toml", "targets = [\"spirv64\", \"opencl-c\"]\n");
    let fewer = project.run(&[]);
    assert!(!fewer.contains("intel") && fewer.lines().count() == 2, "{fewer}");
    assert_eq!(project.calls(), [""; 0]);
    project.write("offload.toml", "targets = [\"spirv64\", \"intel:pvc\", \"opencl-c\"]\n");
    assert_eq!(project.run(&[]), all);
    assert_eq!(project.calls(), [""; 0]);
}

#[test]
fn a_new_target_builds_nothing_else() {
    let project = Project::with_fake_tools("two-files");
    project.run(&[]);
    project.calls();
    project
        .write("offload.toml", "targets = [\"spirv64\", \"intel:pvc\", \"intel:acm-g10\", \"opencl-c\"]\n");
    let text = project.run(&[]);
    assert!(text.contains("intel:acm-g10"), "{text}");
    assert_eq!(without_checks(project.calls()), ["ocloc run"]);
}

#[test]
fn another_compiler_rebuilds_everything() {
    let project = Project::with_fake_tools("two-files");
    project.run(&[]);
    project.calls();
    let clang = project.path("tools/clang");
    let mut bytes = std::fs::read(&clang).unwrap();
    bytes.extend(b"a later release");
    std::thread::sleep(std::time::Duration::from_millis(20));
    std::fs::write(&clang, bytes).unwrap();
    project.run(&[]);
    let calls = without_checks(project.calls());
    for call in ["clang ask", "clang kernels/a.cl", "clang kernels/b.cl", "clang merge", "clang codegen"] {
        assert!(calls.contains(&call.to_string()), "{calls:?}");
    }
    // What has the same input as before is not made again.
    assert!(!calls.contains(&"ocloc run".to_string()), "{calls:?}");
}

#[test]
fn a_damaged_or_emptied_cache_is_made_anew() {
    let project = Project::with_fake_tools("two-files");
    let first = project.run(&[]);
    assert_eq!(without_checks(project.calls()), ALL);
    let blobs = project.blobs();
    assert!(blobs.len() >= ALL.len(), "{blobs:?}");
    for blob in &blobs {
        let mut bytes = std::fs::read(blob).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(blob, bytes).unwrap();
    }
    // Another reason to run the build script.
    project.write("flags.txt", "");
    assert_eq!(project.run(&[]), first);
    // Damage is detected when the file is read, not before.
    assert!(!project.calls().is_empty());
    for blob in project.blobs() {
        std::fs::remove_file(blob).unwrap();
    }
    project.write("flags.txt", "");
    assert_eq!(project.run(&[]), first);
    assert_eq!(without_checks(project.calls()), ALL);
}

/// Each is whole and undamaged, and still the wrong one: of another file, or for another target.
#[test]
fn exchanged_entries_of_the_cache_are_made_anew() {
    let project = Project::with_fake_tools("two-files");
    let first = project.run(&[]);
    let program = std::fs::read(project.program()).unwrap();
    assert_eq!(without_checks(project.calls()), ALL);
    let mut blobs = project.blobs();
    blobs.sort();
    let mut contents: Vec<Vec<u8>> = blobs.iter().map(|blob| std::fs::read(blob).unwrap()).collect();
    contents.rotate_left(1);
    blobs.iter().zip(&contents).for_each(|(blob, content)| std::fs::write(blob, content).unwrap());
    project.write("flags.txt", "");
    assert_eq!(project.run(&[]), first);
    assert_eq!(without_checks(project.calls()), ALL);
    assert!(std::fs::read(project.program()).unwrap() == program);
}

#[test]
fn limits_of_the_cache_rerun_nothing_and_mistakes_are_named() {
    let mut project = Project::with_fake_tools("two-files");
    project.write("flags.txt", "");
    let first = project.run(&[]);
    project.calls();
    project.set("OFFLOAD_CACHE_SIZE", "much");
    assert_eq!(project.run(&[]), first, "the build script is not run again");
    project.write("flags.txt", "");
    let error = project.fail();
    assert!(error.contains("the value `much` of `OFFLOAD_CACHE_SIZE` is not understood"), "{error}");
    project.set("OFFLOAD_CACHE_SIZE", "1");
    assert_eq!(project.run(&[]), first);
    assert_eq!(project.calls(), [""; 0]);
    // The sweep of today is done; with an old stamp it is due, and takes everything.
    let day = std::time::Duration::from_secs(86400);
    let stamp = project.stamp();
    std::fs::File::open(stamp).unwrap().set_modified(std::time::SystemTime::now() - 2 * day).unwrap();
    project.write("flags.txt", "");
    assert_eq!(project.run(&[]), first);
    assert_eq!(project.blobs(), [""; 0].map(std::path::PathBuf::from));
}

#[test]
fn another_profile_compiles_no_kernel() {
    // Everything that programs depend on is compiled twice.
    if !offload_tests::is_nightly() {
        return;
    }
    let project = Project::with_fake_tools("two-files");
    let dev = project.run(&[]);
    project.calls();
    assert_eq!(project.run(&["--profile", "bench"]), dev);
    assert_eq!(project.calls(), [""; 0]);
}

/// The same with the real compilers: clang is called through a script that records it.
#[test]
fn the_real_compilers_follow_a_header() {
    let mut project = Project::new("two-files");
    project.record_clang();
    project.write("offload.toml", "targets = [\"host\", \"spirv64\", \"opencl-c\"]\n");

    let first = project.run(&[]);
    assert_eq!(first.lines().count(), 3, "{first}");
    assert!(project.calls().contains(&"clang kernels/b.cl".to_string()));
    project.write("kernels/common.h", "#define COMMON 4711\n");
    let second = project.run(&[]);
    for (old, new) in first.lines().zip(second.lines()) {
        assert_ne!(old, new, "every image has the new header");
        assert_eq!(old.split(' ').next(), new.split(' ').next());
    }
    let calls = project.calls();
    assert!(calls.contains(&"clang kernels/a.cl".to_string()), "{calls:?}");
    assert!(!calls.contains(&"clang kernels/b.cl".to_string()), "{calls:?}");
    assert_eq!(project.run(&[]), second);
    assert_eq!(project.calls(), [""; 0]);
}

/// What is remembered of a compile is what the compiler has read, not what was written while it ran.
#[test]
fn an_edit_during_the_build_is_not_lost() {
    let mut project = Project::new("two-files");
    // After the first compile of the file, as an editor might: 1 becomes 2.
    let edit = "clang-22 \"$@\" || exit\nfor last; do :; done\n\
        if [ \"$last\" = kernels/a.cl ] && [ -e edit ]; then rm edit; echo '#define COMMON 2' > kernels/common.h; fi\n";
    project.script_clang(edit);
    project.write("offload.toml", "targets = [\"spirv64\"]\n");
    project.write("kernels/common.h", "#define COMMON 2\n");
    let two = project.run(&[]);
    project.write("kernels/common.h", "#define COMMON 1\n");
    let one = project.run(&[]);
    assert_ne!(one, two);
    for blob in project.blobs() {
        std::fs::remove_file(blob).unwrap();
    }
    project.write("kernels/common.h", "#define COMMON 1\n");
    project.write("edit", "");
    project.run(&[]);
    // Whatever the build with the edit in it made, the next one has the new text.
    project.write("flags.txt", "");
    assert_eq!(project.run(&[]), two);
}

/// With one job the jobserver has no token to give: all compilers share the build script's own.
#[test]
fn one_job_is_enough() {
    let project = Project::with_fake_tools("two-files");
    let build = std::thread::spawn(move || {
        let outcome = project.cargo(&["build", "--offline", "-j1"]);
        (outcome, project)
    });
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(300);
    while !build.is_finished() {
        assert!(std::time::Instant::now() < patience, "the build waits for a job token for ever");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let (outcome, project) = build.join().unwrap();
    assert!(outcome.success, "{}", outcome.text);
    assert_eq!(without_checks(project.calls()), ALL);
}
