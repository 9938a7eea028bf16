//! Host functions of CUDA C++ that launch kernels, in a program that calls them through C.

use std::process::Command;

use crate::support::{Project, root};

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
        let mut project = Project::new("launchers");
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
    let mut project = Project::new("launchers");
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

#[test]
fn without_a_gpu_calls_without_a_stream_fail_unless_the_cpu_is_chosen() {
    let mut project = Project::new("launchers");
    project.set("OFFLOAD_TARGETS", "host");
    project.set("LD_LIBRARY_PATH", project.path("nothing").to_str().unwrap());
    let text = project.run(&["--", "offsets"]);
    assert!(text.contains("offsets: 35\n") && text.contains("launchers::set_device"), "{text}");
    assert!(text.contains("devices: 1\n"), "{text}");
}

#[test]
fn host_functions_work_on_the_cpu() {
    let mut project = Project::new("launchers");
    project.set("OFFLOAD_TARGETS", "host");
    let text = project.run(&["--", "results"]);
    assert!(text.contains("results are right"), "{text}");
    project.set("OFFLOAD_SANITIZE", "1");
    let text = project.run(&["--", "results"]);
    assert!(text.contains("results are right"), "{text}");
}

#[test]
fn a_launch_without_an_image_for_the_device_says_why() {
    let mut project = Project::new("launchers");
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
    let project = Project::new("launchers");
    let source = std::fs::read_to_string(root().join("tests/fixtures/launchers/kernels/sum.cu")).unwrap();
    let more = "extern \"C\" int graph(cudaGraphExec_t graph, cudaStream_t stream) { return cudaGraphLaunch(graph, stream); }\n";
    let declared = "extern \"C\" cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);\n";
    project.write("kernels/sum.cu", &format!("{source}{declared}{more}"));
    let text = project.fail();
    for part in ["`kernels/sum.cu`", "`cudaGraphLaunch`", "hint: ", "docs/languages.md"] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn launchers_of_other_languages_and_of_variants_are_refused() {
    let project = Project::new("launchers");
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
