//! The tests again with a stand-in as the driver's library, and what it records.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

use super::found;

/// What tests print and record with the stand-in.
struct Ran {
    text: String,
    /// Lines of a function and the device that was current.
    calls: String,
}

/// Runs these tests again with the stand-in as the driver's library.
fn with_stand_in(define: &str, arguments: &[&str]) -> Ran {
    with_environment(define, arguments, &[])
}

/// As [`with_stand_in`], with variables of the environment.
fn with_environment(define: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let directory = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cuda/driver.c");
    let library = directory.path().join("libcuda.so.1");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-pthread", "-o"]).args([&library, &source]);
    compiler.arg(format!("-D{define}"));
    assert!(compiler.status().unwrap().success());
    let mut tests = Command::new(std::env::current_exe().unwrap());
    tests.args(arguments).args(["--include-ignored", "--nocapture", "--skip", "stand_in::"]);
    let calls = directory.path().join("calls");
    tests.env("LD_LIBRARY_PATH", directory.path()).env("CUDA_STAND_IN_CALLS", &calls);
    tests.env_remove("CUDA_VISIBLE_DEVICES").envs(variables.iter().copied());
    let output = tests.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(output.status.success(), "{define}:\n{text}");
    Ran { text, calls: std::fs::read_to_string(calls).unwrap_or_default() }
}

#[test]
fn a_copy_between_devices_of_the_stand_in_is_one_call_that_both_streams_wait_for() {
    if found().is_some() {
        return;
    }
    let test = "cuda::streams::copies_between_devices_are_in_the_order_of_both_streams";
    let ran = with_stand_in("NEW", &["--exact", test]);
    let order = ["cuEventRecord", "cuStreamWaitEvent", "cuMemcpyPeerAsync"];
    let order: Vec<&str> =
        ran.calls.lines().filter(|line| order.iter().any(|name| line.starts_with(name))).collect();
    // Between the first device and the host there is none of these.
    assert_eq!(order, [copy_between_devices(1, 0), copy_between_devices(0, 1)].concat(), "{}", ran.calls);
}

fn copy_between_devices(from: u8, to: u8) -> [String; 5] {
    [
        format!("cuEventRecord {from}"),
        format!("cuStreamWaitEvent {to}"),
        format!("cuMemcpyPeerAsync {to}"),
        format!("cuEventRecord {to}"),
        format!("cuStreamWaitEvent {from}"),
    ]
}

#[test]
fn peer_access_can_be_turned_off() {
    if found().is_some() {
        return;
    }
    let test = "cuda::peers::data_goes_around_all_devices";
    for (value, is_enabled) in [("1", true), ("0", false)] {
        let ran = with_environment("NEW", &["--exact", test], &[("OFFLOAD_PEER_ACCESS", value)]);
        assert_eq!(ran.calls.contains("cuCtxEnablePeerAccess"), is_enabled, "{}", ran.calls);
        assert!(ran.calls.contains("cuMemcpyPeerAsync"), "{}", ran.calls);
    }
}

#[test]
fn the_driver_s_visible_devices_are_those_that_are_found() {
    if found().is_some() {
        return;
    }
    const FIRST: [&str; 2] =
        ["visible: 0001:3b:00.0 10111213-1415-1617-1819-1a1b1c1d1e1f", "found: 0001:3b:00.0"];
    const SECOND: [&str; 2] =
        ["visible: 0001:3c:00.0 20212223-2425-2627-2829-2a2b2c2d2e2f", "found: 0001:3c:00.0"];
    let test = "cuda::properties::visible_devices_have_their_addresses";
    for (visible, expected) in [
        ("0,1", vec![FIRST[0], SECOND[0], FIRST[1], SECOND[1]]),
        ("1", SECOND.to_vec()),
        ("1,0", vec![SECOND[0], FIRST[0], FIRST[1], SECOND[1]]),
    ] {
        let ran = with_environment("NEW", &["--exact", test], &[("CUDA_VISIBLE_DEVICES", visible)]);
        let lines =
            ran.text.lines().filter(|line| line.starts_with("visible: ") || line.starts_with("found: "));
        assert_eq!(lines.collect::<Vec<_>>(), expected, "{visible}: {}", ran.text);
    }
}

#[test]
#[cfg(feature = "opencl")]
fn a_gpu_of_two_stand_ins_is_listed_once() {
    if found().is_some() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/opencl/driver.c");
    let library = directory.path().join("opencl.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-DNVIDIA", "-o"]).args([&library, &source]);
    assert!(compiler.status().unwrap().success());
    let test = "cuda::properties::a_gpu_that_opencl_shows_too_is_its_alternate";
    let variables = [("OPENCL_DYLIB_PATH", library.to_str().unwrap())];
    let text = with_environment("NEW", &["--exact", test], &variables).text;
    assert!(text.contains("devices: stand-in, stand-in, stand-in GPU, host CPU\n"), "{text}");
    assert!(text.contains("alternates: stand-in NVIDIA\n"), "{text}");
}

#[test]
fn pinned_copies_of_the_stand_in_are_not_waited_for() {
    if found().is_some() {
        return;
    }
    let test = "cuda::streams::copies_of_pinned_memory_run_beside_the_program";
    let ran = with_stand_in("NEW", &["--exact", test]);
    // Of the first copy: the event is waited for when the program asks for the memory again.
    let copied = ran.calls.find("cuMemcpyHtoDAsync_v2 0\ncuEventRecord 0\ncuEventSynchronize 0\n");
    assert!(copied.is_some(), "{}", ran.calls);
    assert!(
        ran.calls.contains("cuMemcpyDtoHAsync_v2 0\ncuEventRecord 0\ncuStreamWaitEvent 0\n"),
        "{}",
        ran.calls
    );
}

#[test]
fn streams_of_the_stand_in_have_its_lowest_and_highest_priority() {
    if found().is_some() {
        return;
    }
    let test = "cuda::streams::streams_of_all_priorities_do_their_work";
    let ran = with_stand_in("NEW", &["--exact", test]);
    let made: Vec<&str> =
        ran.calls.lines().filter(|line| line.starts_with("cuStreamCreateWithPriority")).collect();
    assert_eq!(made, ["cuStreamCreateWithPriority(0) 0", "cuStreamCreateWithPriority(-5) 0"]);
}

#[test]
fn a_host_function_of_the_stand_in_is_one_call_of_a_thread_that_may_not_use_it() {
    if found().is_some() {
        return;
    }
    let ran = with_stand_in("NEW", &["--exact", "cuda::streams::a_host_function_may_not_use_a_device"]);
    assert_eq!(ran.calls.lines().filter(|line| *line == "cuStreamAddCallback 0").count(), 1);
    assert!(ran.text.contains("refused: ") && ran.text.contains("CUDA error 800"), "{}", ran.text);
}

#[test]
fn launches_with_attributes_are_one_call_each() {
    if found().is_some() {
        return;
    }
    for (test, expected) in [
        ("all_groups_of_a_cooperative_launch_meet", ["cuLaunchCooperativeKernel 0"; 5].as_slice()),
        ("groups_are_in_clusters", &[",4=1.1.1 0", ",4=2.1.1 0", ",4=8.1.1 0", ",4=16.1.1 0", ",4=4.1.1 0"]),
        ("a_graph_keeps_clusters", &[",4=4.1.1 0"]),
        ("a_dependent_launch_waits_for_the_kernel_before_it", &[",6=1.0.0 0"; 1000]),
    ] {
        let ran = with_stand_in("NEW", &["--exact", &format!("cuda::launches::{test}")]);
        let calls = ran.calls.lines().filter(|line| {
            line.starts_with("cuLaunchKernelEx") || line.starts_with("cuLaunchCooperativeKernel")
        });
        let calls: Vec<&str> = calls.map(|line| line.trim_start_matches("cuLaunchKernelEx")).collect();
        assert_eq!(calls, expected, "{test}");
    }
}

#[test]
fn a_graph_of_the_stand_in_is_captured_once_and_launched_with_one_call() {
    if found().is_some() {
        return;
    }
    let test = "cuda::graphs::a_graph_does_its_work_at_each_launch_and_keeps_what_it_uses";
    let ran = with_stand_in("NEW", &["--exact", test]);
    let count = |name: &str| ran.calls.lines().filter(|line| line.starts_with(name)).count();
    assert_eq!((count("cuStreamBeginCapture_v2"), count("cuGraphLaunch")), (1, 3), "{}", ran.calls);
}

#[test]
fn a_graph_of_a_pool_waits_for_the_one_before() {
    if found().is_some() {
        return;
    }
    let test = "cuda::graphs::graphs_of_a_pool_run_one_after_the_other";
    let ran = with_stand_in("NEW", &["--exact", test]);
    let launched = ran.calls.lines().skip_while(|line| !line.starts_with("cuGraphLaunch"));
    let launched: Vec<&str> = launched.take_while(|line| !line.starts_with("cuMemcpyDtoHAsync")).collect();
    let around = ["cuGraphLaunch 0", "cuEventRecord 0", "cuStreamWaitEvent 0"];
    let order: Vec<&str> = launched.into_iter().filter(|line| around.contains(line)).collect();
    let again = &order[order.len() - 15..];
    assert_eq!(
        again,
        [["cuStreamWaitEvent 0", "cuGraphLaunch 0", "cuEventRecord 0"]; 5].concat(),
        "{}",
        ran.calls
    );
}

#[test]
fn managed_memory_goes_to_the_device_and_to_the_program() {
    if found().is_some() {
        return;
    }
    let ran = with_stand_in("NEW", &["--exact", "cuda::managed::the_program_sees_what_kernels_wrote"]);
    let calls = ran.calls.lines().filter(|line| line.starts_with("cuMem") && line.contains(['M', 'P']));
    let calls: Vec<&str> =
        calls.filter(|line| line.contains("Managed") || line.contains("Prefetch")).collect();
    let moved = ["cuMemPrefetchAsync(0) 0", "cuMemPrefetchAsync(-1) 0"];
    assert_eq!(calls, [["cuMemAllocManaged 0"].as_slice(), &moved, &moved, &moved].concat(), "{}", ran.calls);
}

#[test]
fn advice_names_its_device_by_its_number() {
    if found().is_some() {
        return;
    }
    let ran = with_stand_in("NEW", &["--exact", "cuda::managed::advice_reaches_the_driver"]);
    let calls: Vec<&str> = ran.calls.lines().filter(|line| line.starts_with("cuMemAdvise")).collect();
    // Each is given and withdrawn, in the context of the device that it names.
    let expected = [
        "cuMemAdvise(1,0) 0",
        "cuMemAdvise(2,0) 0",
        "cuMemAdvise(3,0) 0",
        "cuMemAdvise(4,0) 0",
        "cuMemAdvise(3,-1) 0",
        "cuMemAdvise(4,-1) 0",
        "cuMemAdvise(5,1) 1",
        "cuMemAdvise(6,1) 1",
        "cuMemAdvise(5,-1) 0",
        "cuMemAdvise(6,-1) 0",
    ];
    assert_eq!(calls, expected, "{}", ran.calls);
}

#[test]
fn the_program_waits_for_all_devices_that_use_managed_memory() {
    if found().is_some() {
        return;
    }
    let ran = with_stand_in("NEW", &["--exact", "cuda::managed::other_devices_use_it"]);
    assert!(ran.calls.contains("cuMemPrefetchAsync(1) 1\n"), "{}", ran.calls);
    assert!(ran.calls.contains("cuStreamSynchronize 0\ncuStreamSynchronize 1\n"), "{}", ran.calls);
    let test = "cuda::managed::a_device_without_concurrent_access_refuses_it";
    let ran = with_environment("NEW", &["--exact", test], &[("CUDA_STAND_IN_EXCLUSIVE", "1")]);
    assert!(ran.text.contains("refused: ") && ran.text.contains("while the program uses it"), "{}", ran.text);
    let ran = with_stand_in("NEW", &["--exact", test]);
    assert!(!ran.text.contains("refused: "), "{}", ran.text);
}

#[test]
fn external_memory_and_semaphores_are_those_of_their_descriptors() {
    if found().is_some() {
        return;
    }
    let ran =
        with_stand_in("NEW", &["--exact", "cuda::external::a_buffer_is_over_memory_of_another_interface"]);
    let imports: Vec<&str> =
        ran.calls.lines().filter(|line| line.starts_with("cuImportExternalMemory")).collect();
    // The first and the last are refused; kinds and flags of the others.
    let kinds = ["(1,0) 0", "(1,0) 0", "(9,0) 0", "(1,1) 0", "(1,0) 0"];
    assert_eq!(imports, kinds.map(|kind| format!("cuImportExternalMemory{kind}")), "{}", ran.calls);
    assert_eq!(ran.calls.matches("cuDestroyExternalMemory").count(), 3, "{}", ran.calls);
    let ran = with_stand_in("NEW", &["--exact", "cuda::external::a_buffer_is_exported_as_a_dma_buf"]);
    assert!(ran.text.contains("exported\nimported\n"), "{}", ran.text);
    let ran = with_stand_in("OLD", &["--exact", "cuda::external::a_buffer_is_exported_as_a_dma_buf"]);
    assert!(ran.text.contains("lacks the function cuMemGetHandleForAddressRange"), "{}", ran.text);
    let test = "cuda::external::an_opaque_handle_of_the_driver_is_imported";
    let ran = with_stand_in("NEW", &["--exact", test]);
    assert!(ran.text.contains("imported an opaque handle"), "{}", ran.text);
    let test = "cuda::external::semaphores_order_streams_with_another_interface";
    let ran = with_stand_in("NEW", &["--exact", test]);
    let calls = ran.calls.lines().filter(|line| line.contains("ExternalSemaphore"));
    let expected = [
        "cuWaitExternalSemaphoresAsync(7) 0",
        "cuWaitExternalSemaphoresAsync(0) 0",
        "cuSignalExternalSemaphoresAsync(9) 0",
        "cuSignalExternalSemaphoresAsync(0) 0",
        "cuDestroyExternalSemaphore 0",
        "cuDestroyExternalSemaphore 0",
    ];
    assert_eq!(calls.collect::<Vec<_>>(), expected, "{}", ran.calls);
}

#[test]
fn images_of_the_stand_in_are_dropped_without_a_wait() {
    if found().is_some() {
        return;
    }
    let ran =
        with_stand_in("NEW", &["--exact", "cuda::textures::a_dropped_image_is_released_after_its_work"]);
    let (_, after) = ran.calls.split_once("cuArray3DCreate").unwrap();
    let (before, _) = after.rsplit_once("cuMemcpyDtoHAsync").unwrap();
    assert_eq!(before.matches("cuArrayDestroy").count(), 8, "{}", ran.calls);
    assert!(!before.contains("Synchronize"), "{}", ran.calls);
    // Each is released after an event that was recorded when it was dropped.
    assert!(before.contains("cuEventRecord 0\ncuTexObjectDestroy 0\n"), "{}", ran.calls);
}

#[test]
fn what_kernels_of_the_stand_in_print_is_printed() {
    if found().is_some() {
        return;
    }
    let text = with_stand_in("NEW", &["cuda::prints::", "--test-threads=1"]).text;
    let expected = "between\n0 say 0.0 -7\n1 say 0.5 -7\n2 say 1.0 -7\n0 say 0.0 8\nafter\n";
    assert!(text.contains(expected), "{text}");
    let (_, after) = text.split_once("after\n").unwrap();
    let (all, after) = after.split_once("overflow\n").unwrap();
    let (some, after) = after.split_once("end\n").unwrap();
    fn heard(text: &str) -> usize {
        text.lines().filter(|line| line.ends_with("until nobody hears it")).count()
    }
    assert_eq!((heard(all), all.contains("lost")), (50_000, false));
    let lost = some
        .lines()
        .find_map(|line| line.strip_prefix('[')?.split_once(" messages of kernels are lost: 1024 KiB"));
    let lost: usize = lost.expect(some).0.parse().unwrap();
    assert_eq!(heard(some) + lost, 100_000);
    assert!(after.contains("0 say 0.0 9\ndropped\n"), "{after}");
    assert!(text.contains("kernel `doubt`: assertion `id < value` failed in work-item (0, 0, 0)"), "{text}");
}

#[test]
fn the_stand_in_links_an_image_and_its_library() {
    if found().is_some() {
        return;
    }
    let ran = with_stand_in("NEW", &["--exact", "cuda::linked::the_driver_links_what_an_image_imports"]);
    let links: Vec<&str> = ran.calls.lines().filter(|line| line.starts_with("cuLink")).collect();
    let link = [
        "cuLinkCreate_v2 0",
        "cuLinkAddData_v2 0",
        "cuLinkAddData_v2 0",
        "cuLinkComplete 0",
        "cuLinkDestroy 0",
    ];
    assert_eq!(links, [link, link].concat(), "{}", ran.calls);
}

#[test]
fn the_stand_in_passes_too_and_gets_everything_back() {
    if found().is_some() {
        return;
    }
    for define in ["NEW", "OLD"] {
        let text = with_stand_in(define, &["cuda::"]).text;
        assert!(text.contains("test result: ok.") && text.contains("CUDA device stand-in (sm_90"), "{text}");
        assert!(
            text.contains("test cuda::results_are_right_and_timed ... ") && text.contains("; 0 ignored;"),
            "{text}"
        );
        assert!(!text.contains("left behind"), "{define}: {text}");
    }
}

#[test]
fn a_stand_in_that_lacks_a_function_is_an_error() {
    if found().is_some() {
        return;
    }
    let text = with_stand_in("INCOMPLETE", &["devices_are_found"]).text;
    assert!(text.contains("CUDA: the library libcuda.so.1 lacks the function cuLaunchKernel"), "{text}");
}
