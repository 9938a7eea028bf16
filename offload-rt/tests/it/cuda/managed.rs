//! Managed memory of a CUDA device.

use super::graphs::ready;
use super::peers;
use crate::common::managed;

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_program_sees_what_kernels_wrote() {
    managed::the_program_sees_what_kernels_wrote(&ready());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_graph_keeps_managed_memory_from_the_program() {
    managed::a_graph_keeps_managed_memory_from_the_program(&ready());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn other_devices_use_it() {
    let Some(devices) = peers::devices() else { return };
    managed::other_devices_use_it(&devices);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn advice_reaches_the_driver() {
    let Some(devices) = peers::devices() else { return };
    managed::advice_reaches_the_driver(&devices);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn advice_changes_no_value() {
    managed::advice_changes_no_value(&ready());
}

/// Prints what the second device says, which has no concurrent access to managed memory in one run.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_device_without_concurrent_access_refuses_it() {
    let Some(devices) = peers::devices() else { return };
    let [first, second] = [&devices[0], &devices[1]];
    let Ok(values) = first.stream.device().managed::<f32>(8) else { return };
    match second.stream.download(&values) {
        Ok(found) => assert_eq!(found, [0.0; 8]),
        Err(error) => println!("refused: {error}"),
    }
}
