//! Host functions of CUDA C++ that launch kernels, in a program that calls them through C.

use std::process::Command;

use crate::support::script::succeed;
use crate::support::{Project, program, root};

/// A library that prints what it is asked, in the place of a driver's.
struct StandIn {
    source: &'static str,
    library: &'static str,
}

const CUDA: StandIn = StandIn { source: "driver.c", library: "libcuda.so.1" };
const HIP: StandIn = StandIn { source: "runtime.c", library: "libamdhip64.so.7" };

fn use_stand_in(project: &mut Project, stand_in: &StandIn) {
    let directory = project.path("driver");
    std::fs::create_dir_all(&directory).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(directory.join(stand_in.library));
    assert!(compiler.arg(project.path(stand_in.source)).status().unwrap().success());
    project.set("LD_LIBRARY_PATH", directory.to_str().unwrap());
}

/// The launches of the program, as a driver sees them; `finish` is in both files.
const LAUNCHES: [&str; 5] = [
    "_Z5scaleIfEvPT_iS0_<<<(3, 1, 1), (128, 1, 1), 0, 0x77000>>>(0x1000, 300, 2.5)",
    "_ZL6finishPfi__static__FIRST<<<(1, 1, 1), (64, 1, 1), 0, (nil)>>>(0x1000, 10)",
    "_Z3sumPKfPf<<<(1, 1, 1), (256, 1, 1), 100000, 0x77000>>>(0x1000, 0x1000)",
    "_ZL6finishPfi__static__SECOND<<<(2, 3, 1), (4, 2, 2), 0, 0x77000>>>(0x1000, 7)",
    "_Z5scaleIfEvPT_iS0_<<<(3, 1, 1), (128, 1, 1), 0, 0x77000>>>(0x1000, 300, 2.5)",
];

/// The suffixes of names that are distinct for their file.
fn suffixes<'a>(launches: &[&'a str]) -> Vec<&'a str> {
    let names = launches.iter().filter_map(|launch| launch.split_once("__static__"));
    names.map(|(_, rest)| rest.split("<<<").next().unwrap()).collect()
}

/// Compares the launches in `text` with [`LAUNCHES`].
fn assert_launches(text: &str) {
    let launches: Vec<&str> =
        text.lines().filter(|line| line.starts_with("_Z") && line.contains("<<<")).collect();
    let suffixes = suffixes(&launches);
    assert!(suffixes.len() == 2 && suffixes[0] != suffixes[1], "{text}");
    let expected = LAUNCHES.map(|line| line.replace("FIRST", suffixes[0]).replace("SECOND", suffixes[1]));
    assert_eq!(launches, expected, "{text}");
}

#[test]
fn the_driver_gets_what_the_host_functions_launch() {
    let profiles: &[&[&str]] = if offload_tests::is_full() { &[&[], &["--release"]] } else { &[&[]] };
    for profile in profiles {
        let mut project = Project::with_shared_cache("launchers");
        use_stand_in(&mut project, &CUDA);
        let text = project.run(&[profile, &["--", "calls"][..]].concat());
        assert_launches(&text);
        assert!(text.contains("attribute 8 of _Z3sumPKfPf is 100000\n"), "{text}");
        // Loaded once, from both files.
        assert_eq!(text.matches("module of PTX").count(), 1, "{text}");
        assert!(text.contains("nothing: 9\n") && text.contains("has no block or no thread"), "{text}");
        assert!(text.contains("again: 0\n"), "{text}");
        assert!(text.contains("archs: 800\n"), "{text}");
    }
}

#[test]
fn hip_gets_what_the_host_functions_launch() {
    let mut project = Project::with_shared_cache("launchers");
    use_stand_in(&mut project, &HIP);
    project.set("OFFLOAD_TARGETS", "amdgcn:gfx1100");
    let text = project.run(&["--", "calls"]);
    assert_launches(&text);
    assert_eq!(text.matches("module of a code object").count(), 1, "{text}");
    assert!(text.contains("nothing: 9\n") && text.contains("again: 0\n"), "{text}");
    assert!(
        text.contains("offsets: 0\n") && text.contains("copy of 8 bytes from memory to 0x5000\n"),
        "{text}"
    );
}

/// A capture in the global mode forbids to load, unless the thread's own is relaxed. The stand-in of CUDA refuses the
/// update.
#[test]
fn drivers_get_the_captures_and_graphs_of_host_functions() {
    let again = ["graph: not updated", "graph: executable destroyed", "graph: instantiated with 0"];
    let cases = [(&CUDA, "nvptx:sm_80", &again[..]), (&HIP, "amdgcn:gfx1100", &["graph: updated"][..])];
    for (stand_in, target, updated) in cases {
        let mut project = Project::with_shared_cache("launchers");
        use_stand_in(&mut project, stand_in);
        project.set("OFFLOAD_TARGETS", target);
        let text = project.run(&["--", "graph"]);
        let found: Vec<&str> =
            text.lines().filter(|line| line.starts_with("graph: ") || line.contains("<<<")).collect();
        let capture = "graph: capture of 0x77000 in mode 0";
        let launch = "_Z4growPfi4Step<<<(1, 1, 1), (64, 1, 1), 0, 0x77000>>>(0x1000, 10)";
        let launched = "graph: launched in 0x77000";
        let before = [capture, launch, "graph: instantiated with 0", launched, launched, "graph: destroyed"];
        let after = [launched, "graph: executable destroyed", "graph: destroyed"];
        let expected = [&before[..], &[capture, launch], updated, &after].concat();
        assert_eq!(found, expected, "{text}");
        assert!(text.contains("result: 0\n"), "{text}");
    }
}

#[test]
fn without_a_gpu_calls_without_a_stream_fail_unless_the_cpu_is_chosen() {
    let mut project = Project::with_shared_cache("launchers");
    project.set("OFFLOAD_TARGETS", "host");
    project.set("LD_LIBRARY_PATH", project.path("nothing").to_str().unwrap());
    let text = project.run(&["--", "offsets"]);
    assert!(text.contains("offsets: 35\n") && text.contains("launchers::set_device"), "{text}");
    assert!(text.contains("devices: 1\n"), "{text}");
}

#[test]
fn host_functions_work_on_the_cpu() {
    let mut project = Project::with_shared_cache("launchers");
    project.set("OFFLOAD_TARGETS", "host");
    let text = project.run(&["--", "results"]);
    assert!(text.contains("results are right"), "{text}");
    project.set("OFFLOAD_SANITIZE", "1");
    let text = project.run(&["--", "results"]);
    assert!(text.contains("results are right"), "{text}");
}

/// Settings of a profile, as cargo's environment has them.
type Settings = &'static [(&'static str, &'static str)];

/// Profiles that link in other ways than that of development. `ld` finds GNU's linker, where rustc takes LLVM's.
const LINKED: [Settings; 3] = [
    &[("CARGO_PROFILE_RELEASE_LTO", "fat")],
    &[("CARGO_PROFILE_RELEASE_LTO", "thin"), ("LINKER", "-fuse-ld=bfd")],
    &[
        ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1"),
        ("CARGO_PROFILE_RELEASE_PANIC", "abort"),
        ("CARGO_PROFILE_RELEASE_STRIP", "true"),
    ],
];

/// Runs the program of a project with launchers in a library crate and in two libraries that it opens, which have functions
/// and kernels of the same names.
fn run_linked(project: &Project, args: &[&str]) {
    let build = ["build", "--offline", "--workspace", "--message-format=json-render-diagnostics"];
    let outcome = project.cargo(&[&build[..], args].concat());
    assert!(outcome.success, "{}", outcome.text);
    let folder = project.path("libraries");
    std::fs::create_dir_all(&folder).unwrap();
    let mut program = None;
    for line in outcome.text.lines() {
        let Ok(message) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let target = &message["target"];
        if target["kind"][0] == "cdylib" {
            let copy = folder.join(format!("lib{}.so", target["name"].as_str().unwrap()));
            program::copy(message["filenames"][0].as_str().unwrap().as_ref(), &copy);
        }
        program = message["executable"].as_str().map(str::to_string).or(program);
    }
    let text = succeed(Command::new(program.unwrap()).arg(&folder));
    assert!(text.contains("results are right"), "{text}");
}

#[test]
fn libraries_and_library_crates_have_launchers() {
    let mut project = Project::with_shared_cache("launchers-linked");
    project.set("OFFLOAD_TARGETS", "host");
    run_linked(&project, &[]);
}

#[test]
fn launchers_are_linked_with_every_profile() {
    if !offload_tests::is_nightly() {
        return;
    }
    for settings in LINKED {
        let mut project = Project::with_shared_cache("launchers-linked");
        project.set("OFFLOAD_TARGETS", "host");
        for (name, value) in settings {
            if *name == "LINKER" {
                let script = project.path("linker");
                program::write(&script, format!("#!/bin/sh\nexec cc \"$@\" {value}\n"));
                project.set("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER", script.to_str().unwrap());
            } else {
                project.set(name, value);
            }
        }
        run_linked(&project, &["--release"]);
    }
}

#[test]
fn a_launch_without_an_image_for_the_device_says_why() {
    let mut project = Project::with_shared_cache("launchers");
    use_stand_in(&mut project, &CUDA);
    project.set("OFFLOAD_TARGETS", "nvptx:sm_100,amdgcn:gfx1100");
    let text = project.run(&["--", "calls"]);
    assert!(text.contains("archs: 800,1000\n"), "{text}");
    assert!(text.contains("scale: 209\n"), "{text}");
    assert!(text.contains("nvptx:sm_100") && text.contains("sm_90"), "{text}");
    assert!(!text.contains("<<<(3"), "{text}");
}

#[test]
fn a_function_that_programs_lack_is_an_error_of_the_build() {
    let project = Project::with_shared_cache("launchers");
    let source = std::fs::read_to_string(root().join("tests/fixtures/launchers/kernels/sum.cu")).unwrap();
    let more = "extern \"C\" int copy_graph(cudaGraph_t *to, cudaGraph_t graph) { return cudaGraphClone(to, graph); }\n";
    project.write("kernels/sum.cu", &format!("{source}{more}"));
    let text = project.fail();
    for part in ["`kernels/sum.cu`", "`cudaGraphClone`", "hint: ", "docs/languages.md"] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn launchers_of_other_languages_and_of_variants_are_refused() {
    let project = Project::with_shared_cache("launchers");
    project.write(
        "offload.toml",
        "targets = [\"nvptx:sm_80\"]\n[modules.launchers]\nvariants = { N = [1, 2] }\n",
    );
    let text = project.fail();
    assert!(text.contains("`launchers`") && text.contains("variants"), "{text}");
}

#[test]
fn the_book_lists_the_functions_that_programs_have() {
    let book = std::fs::read_to_string(root().join("docs/languages.md")).unwrap();
    let (_, section) = book.split_once("## Launchers").unwrap();
    let (_, table) = section.split_once("| for | functions |").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let mut listed: Vec<&str> = table.split('`').skip(1).step_by(2).collect();
    listed.sort_unstable();
    assert_eq!(listed, offload_format::launchers::FUNCTIONS);
}
