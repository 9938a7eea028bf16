//! The tests again with a stand-in as HIP's runtime, and libraries that are not what they should be.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::found;

/// How the stand-in is made, and under which name it lies.
struct StandIn {
    define: &'static str,
    library: &'static str,
}

const NEW: StandIn = StandIn { define: "NEW", library: "libamdhip64.so.7" };

impl StandIn {
    /// Compiles it into `directory`.
    fn make(&self, directory: &Path) -> PathBuf {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hip");
        let library = directory.join(self.library);
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-pthread", "-o"]).arg(&library);
        compiler.args(["driver.c", "kernels.c"].map(|file| sources.join(file)));
        compiler.arg(format!("-D{}", self.define));
        assert!(compiler.status().unwrap().success());
        library
    }
}

/// Runs these tests again with the libraries of `directory`; returns what they print.
fn with(directory: &Path, arguments: &[&str]) -> String {
    let mut tests = Command::new(std::env::current_exe().unwrap());
    tests.args(arguments).args(["--include-ignored", "--nocapture", "--skip", "stand_in::"]);
    tests.env("LD_LIBRARY_PATH", directory).env("HIP_STAND_IN_CALLS", directory.join("calls"));
    let output = tests.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(output.status.success(), "{text}");
    text
}

#[test]
fn the_stand_in_passes_too_and_gets_everything_back() {
    if found().is_some() {
        return;
    }
    let old = StandIn { define: "OLD", library: "libamdhip64.so.6" };
    let plain = StandIn { define: "NEW", library: "libamdhip64.so" };
    for stand_in in [NEW, old, plain] {
        let directory = tempfile::tempdir().unwrap();
        stand_in.make(directory.path());
        let text = with(directory.path(), &["hip::"]);
        assert!(text.contains("test result: ok.") && text.contains("HIP device stand-in (gfx1100"), "{text}");
        assert!(text.contains("test hip::results_are_right ... ") && text.contains("; 0 ignored;"), "{text}");
        assert!(text.contains("0 say\n1 say\n0 say\n"), "{text}");
        assert!(!text.contains("left behind") && !text.contains("stand-in: "), "{text}");
    }
}

/// Names of the calls of one run, in order, each with the device that was current.
fn calls(directory: &Path) -> Vec<(String, usize)> {
    let text = fs::read_to_string(directory.join("calls")).unwrap();
    let mut calls = Vec::new();
    for line in text.lines() {
        let (name, device) = line.split_once(' ').unwrap();
        calls.push((name.to_string(), device.parse().unwrap()));
    }
    calls
}

#[test]
fn a_launch_is_one_call_and_what_goes_waits_first() {
    if found().is_some() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    NEW.make(directory.path());
    with(directory.path(), &["--exact", "hip::streams::data_stays_on_the_device_between_kernels"]);
    let calls = calls(directory.path());
    let names: Vec<&str> = calls.iter().map(|(name, _)| name.as_str()).collect();
    let launches: Vec<usize> = (0..names.len()).filter(|at| names[*at] == "hipModuleLaunchKernel").collect();
    assert_eq!(launches.len(), 30, "{names:?}");
    // Ten in a row, with nothing between them: the device was the thread's already.
    assert!(launches.windows(10).step_by(10).all(|ten| ten[9] - ten[0] == 9), "{names:?}");
    for (wait, end) in
        [("hipStreamSynchronize", "hipStreamDestroy"), ("hipDeviceSynchronize", "hipModuleUnload")]
    {
        let at = names.iter().position(|name| *name == end).unwrap();
        assert_eq!(names[at - 1], wait);
    }
}

#[test]
fn streams_have_the_lowest_and_highest_priority() {
    if found().is_some() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    NEW.make(directory.path());
    with(directory.path(), &["--exact", "hip::streams::streams_of_all_priorities_do_their_work"]);
    let calls = calls(directory.path());
    let made = calls.iter().map(|(name, _)| name.as_str());
    let made: Vec<&str> = made.filter(|name| name.starts_with("hipStreamCreateWithPriority")).collect();
    assert_eq!(made, ["hipStreamCreateWithPriority(1)", "hipStreamCreateWithPriority(-1)"]);
}

#[test]
fn a_cooperative_launch_is_one_call() {
    if found().is_some() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    NEW.make(directory.path());
    with(directory.path(), &["--exact", "hip::launches::all_groups_of_a_cooperative_launch_meet"]);
    let calls = calls(directory.path());
    let count = |name: &str| calls.iter().filter(|(called, _)| called == name).count();
    // The stand-in passes on what it does not refuse.
    assert_eq!((count("hipModuleLaunchCooperativeKernel"), count("hipModuleLaunchKernel")), (5, 4));
}

#[test]
fn images_are_released_when_their_work_is_done() {
    if found().is_some() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    NEW.make(directory.path());
    with(directory.path(), &["--exact", "hip::graphs::a_dropped_image_is_released_after_its_work"]);
    let calls = calls(directory.path());
    let names: Vec<&str> = calls.iter().map(|(name, _)| name.as_str()).collect();
    let first = names.iter().position(|name| *name == "hipArray3DCreate").unwrap();
    let waited = first + names[first..].iter().position(|name| *name == "hipStreamSynchronize").unwrap();
    let last = waited + names[waited..].iter().position(|name| *name == "hipModuleUnload").unwrap();
    let count =
        |from: usize, to: usize, name: &str| names[from..to].iter().filter(|called| **called == name).count();
    assert_eq!(count(first, waited, "hipDeviceSynchronize"), 0, "{names:?}");
    // The stand-in goes on with its work at each query.
    for (name, all) in [("hipArrayDestroy", 9), ("hipTexObjectDestroy", 8), ("hipDestroySurfaceObject", 8)] {
        let [before, after] = [count(first, waited, name), count(waited, last, name)];
        assert!(before + after == all && after > 0, "{name}: {names:?}");
    }
}

#[test]
fn advice_names_its_device_by_its_number() {
    if found().is_some() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    NEW.make(directory.path());
    with(directory.path(), &["--exact", "hip::managed::advice_reaches_the_driver"]);
    let calls = calls(directory.path());
    let advised = calls.iter().filter_map(|(name, _)| name.strip_prefix("hipMemAdvise"));
    let advised: Vec<&str> = advised.collect();
    let expected =
        ["(1,0)", "(2,0)", "(3,0)", "(4,0)", "(3,-1)", "(4,-1)", "(5,1)", "(6,1)", "(5,-1)", "(6,-1)"];
    assert_eq!(advised, expected, "{calls:?}");
}

#[test]
fn a_graph_of_a_pool_waits_for_the_one_before() {
    if found().is_some() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    NEW.make(directory.path());
    with(directory.path(), &["--exact", "hip::graphs::graphs_of_a_pool_run_one_after_the_other"]);
    let calls = calls(directory.path());
    let names: Vec<&str> = calls.iter().map(|(name, _)| name.as_str()).collect();
    let first = names.iter().position(|name| *name == "hipGraphLaunch").unwrap();
    let launched = names[first..].iter().take_while(|name| !name.starts_with("hipMemcpyDtoHAsync"));
    let around = ["hipGraphLaunch", "hipEventRecord", "hipStreamWaitEvent"];
    let order: Vec<&str> = launched.copied().filter(|name| around.contains(name)).collect();
    let again = &order[order.len() - 15..];
    assert_eq!(again, [["hipStreamWaitEvent", "hipGraphLaunch", "hipEventRecord"]; 5].concat(), "{names:?}");
}

#[test]
fn external_memory_and_semaphores_are_released_after_their_work() {
    if found().is_some() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    NEW.make(directory.path());
    // Nothing waits for a dropped buffer but the module at its end.
    let test = "hip::external::a_buffer_is_over_memory_of_another_interface";
    with(directory.path(), &["--exact", test]);
    let first = calls(directory.path());
    let names: Vec<&str> = first.iter().map(|(name, _)| name.as_str()).collect();
    let count = |name: &str| names.iter().filter(|called| **called == name).count();
    assert_eq!((count("hipDestroyExternalMemory"), count("hipDeviceSynchronize")), (3, 1), "{names:?}");
    let text = with(directory.path(), &["--exact", "hip::external::a_buffer_is_exported_as_a_dma_buf"]);
    assert!(text.contains("exported\nimported\n"), "{text}");
    let test = "hip::external::semaphores_order_streams_with_another_interface";
    let text = with(directory.path(), &["--exact", test]);
    assert!(!text.contains("stand-in: ") && !text.contains("left behind"), "{text}");
    let calls = calls(directory.path());
    let count = |name: &str| calls.iter().filter(|(called, _)| called == name).count();
    assert_eq!(count("hipWaitExternalSemaphoresAsync") + count("hipSignalExternalSemaphoresAsync"), 4);
    assert_eq!(count("hipDestroyExternalSemaphore"), 2);
}

#[test]
fn a_thread_keeps_its_own_device() {
    if found().is_some() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    NEW.make(directory.path());
    with(directory.path(), &["--exact", "hip::streams::two_devices_are_used_in_turns_from_one_thread"]);
    let calls = calls(directory.path());
    let set: Vec<usize> = (0..calls.len()).filter(|at| calls[*at].0 == "hipSetDevice").collect();
    assert!(calls.iter().any(|(name, device)| name == "hipModuleLaunchKernel" && *device == 1));
    // Each call for the second device sets it and sets the first one again; the record has the device before the call.
    assert!(set.len() >= 2 && set.len().is_multiple_of(2), "{calls:?}");
    for pair in set.chunks(2) {
        assert_eq!((calls[pair[0]].1, calls[pair[1]].1), (0, 1), "{calls:?}");
        assert!(calls[pair[0] + 1..pair[1]].iter().all(|(_, device)| *device == 1), "{calls:?}");
    }
}

#[test]
fn a_copy_between_devices_is_one_call_that_both_streams_wait_for() {
    if found().is_some() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    NEW.make(directory.path());
    let test = "hip::streams::copies_between_devices_are_in_the_order_of_both_streams";
    with(directory.path(), &["--exact", test]);
    let calls = calls(directory.path());
    let order = ["hipEventRecord", "hipStreamWaitEvent", "hipMemcpyPeerAsync"];
    let order: Vec<(&str, usize)> = calls
        .iter()
        .filter(|(name, _)| order.contains(&name.as_str()))
        .map(|(name, device)| (name.as_str(), *device))
        .collect();
    let once = [
        ("hipEventRecord", 0),
        ("hipStreamWaitEvent", 1),
        ("hipMemcpyPeerAsync", 1),
        ("hipEventRecord", 1),
        ("hipStreamWaitEvent", 0),
    ];
    assert_eq!(order, [once, once].concat(), "{calls:?}");
}

#[test]
fn what_is_wrong_with_a_library_is_an_error() {
    if found().is_some() {
        return;
    }
    for (define, library, error) in [
        (
            "INCOMPLETE",
            "libamdhip64.so.7",
            "the library libamdhip64.so.7 lacks the function hipModuleLaunchKernel",
        ),
        (
            "ROCM5",
            "libamdhip64.so",
            "the library libamdhip64.so lacks the function hipGetDevicePropertiesR0600",
        ),
        ("NONE", "libamdhip64.so.6", "the runtime shows no device\nhint: `rocminfo` shows the devices"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        StandIn { define, library }.make(directory.path());
        let text = with(directory.path(), &["hip::devices_are_found"]);
        assert!(text.contains(&format!("HIP: {error}")), "{text}");
    }
}

#[test]
fn the_newest_library_is_taken() {
    if found().is_some() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    for library in ["libamdhip64.so", "libamdhip64.so.6"] {
        StandIn { define: "NONE", library }.make(directory.path());
    }
    NEW.make(directory.path());
    let text = with(directory.path(), &["hip::devices_are_found"]);
    assert!(text.contains("HIP device stand-in (gfx1100"), "{text}");
}
