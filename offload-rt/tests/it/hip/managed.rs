//! Managed memory of a HIP device.

use super::graphs::ready;
use super::peers;
use crate::common::managed;

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn the_program_sees_what_kernels_wrote() {
    managed::the_program_sees_what_kernels_wrote(&ready());
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_graph_keeps_managed_memory_from_the_program() {
    managed::a_graph_keeps_managed_memory_from_the_program(&ready());
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn other_devices_use_it() {
    let Some(devices) = peers::devices() else { return };
    managed::other_devices_use_it(&devices);
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn advice_reaches_the_driver() {
    let Some(devices) = peers::devices() else { return };
    managed::advice_reaches_the_driver(&devices);
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn advice_changes_no_value() {
    managed::advice_changes_no_value(&ready());
}
