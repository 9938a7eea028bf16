//! Host functions of CUDA C++ that launch kernels, in a program that calls them through C.

use std::process::Command;

use crate::support::{Project, root};

/// Puts a stand-in that prints what it is asked into the place of CUDA's driver.
fn use_stand_in(project: &mut Project) {
    let directory = project.path("driver");
    std::fs::create_dir_all(&directory).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(directory.join("libcuda.so.1"));
    assert!(compiler.arg(project.path("driver.c")).status().unwrap().success());
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

#[test]
fn the_driver_gets_what_the_host_functions_launch() {
    let profiles: &[&[&str]] = if offload_tests::is_full() { &[&[], &["--release"]] } else { &[&[]] };
    for profile in profiles {
        let mut project = Project::new("launchers");
        use_stand_in(&mut project);
        let text = project.run(&[profile, &["--", "calls"][..]].concat());
        let launches: Vec<&str> =
            text.lines().filter(|line| line.starts_with("_Z") && line.contains("<<<")).collect();
        let suffixes = suffixes(&launches);
        assert!(suffixes.len() == 2 && suffixes[0] != suffixes[1], "{text}");
        let expected = LAUNCHES.map(|line| line.replace("FIRST", suffixes[0]).replace("SECOND", suffixes[1]));
        assert_eq!(launches, expected, "{text}");
        assert!(text.contains("attribute 8 of _Z3sumPKfPf is 100000\n"), "{text}");
        // Loaded once, from both files.
        assert_eq!(text.matches("module of PTX").count(), 1, "{text}");
        assert!(text.contains("nothing: 9\n") && text.contains("has no block or no thread"), "{text}");
        assert!(text.contains("again: 0\n"), "{text}");
    }
}

#[test]
fn a_launch_without_an_image_for_the_device_says_why() {
    let mut project = Project::new("launchers");
    use_stand_in(&mut project);
    project.set("OFFLOAD_TARGETS", "nvptx:sm_100");
    let text = project.run(&["--", "calls"]);
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
