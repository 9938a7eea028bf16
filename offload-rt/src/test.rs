//! Kernel tests: Rust tests that take their device from here, so that one test runs on every device.
//!
//! [`for_each_device`] runs a test on each device of this machine that an image is for; [`expect_close`] compares what a
//! kernel has made with what plain Rust says, in units in the last place (ULP); [`devices_agree`] compares devices with each
//! other. Put the feature `test` of this crate into `[dev-dependencies]`.
//!
//! ```no_run
//! # mod blas { pub fn load(_: &offload_rt::Device) -> Result<Blas, offload_rt::Error> { unimplemented!() }
//! # pub struct Blas; impl Blas { pub unsafe fn saxpy(&self, _: &offload_rt::Stream,
//! # _: offload_rt::NdRange, _: f32, _: &offload_rt::Buffer<f32>,
//! # _: &mut offload_rt::Buffer<f32>) -> Result<(), offload_rt::Error> { Ok(()) } } }
//! use offload_rt::NdRange;
//! use offload_rt::test::{Ulps, expect_close, for_each_device};
//!
//! # /*
//! #[test]
//! # */
//! fn saxpy() {
//!     let x: Vec<f32> = (0..1000).map(|i| i as f32 / 7.0).collect();
//!     let expected: Vec<f32> = x.iter().map(|x| 2.5 * x + 1.0).collect();
//!     for_each_device(|device| {
//!         let blas = blas::load(device)?;
//!         let stream = device.stream()?;
//!         let x = stream.upload(&x)?;
//!         let mut y = stream.upload(&[1.0f32; 1000])?;
//!         // SAFETY: the kernel uses an element of each buffer for each work-item.
//!         unsafe { blas.saxpy(&stream, NdRange::linear_at_least(1000, 50), 2.5, &x, &mut y)? };
//!         Ok(expect_close(&stream.download(&y)?, &expected, Ulps(1))?)
//!     });
//! }
//! # saxpy();
//! ```
//!
//! With `cargo test` a test runs on all devices one after another, or on those that the environment variable
//! `OFFLOAD_TEST_DEVICE` names. `cargo offload test` runs each test in a process of its own for each device, and prints a
//! table.

mod compare;
mod devices;
mod failure;
mod outcome;
mod report;

use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::time::Instant;

pub use self::compare::{Difference, Element, Tolerance, Ulps, expect_close};
pub use self::devices::{TestDevice, devices};
pub use self::failure::Failure;
pub(crate) use self::outcome::RunResult;
use self::outcome::{DeviceOutcome, Outcome};
pub(crate) use self::report::Numbers;
use crate::device::Device;

/// Runs `test` on each device of this machine, and fails if it fails on one, or has run on none.
///
/// A device that no image is for is passed over: the error of `load` says so, and `?` hands it on. A test says
/// [`Failure::refused`] of a device for reasons of its own. A panic on one device does not keep the test from the others.
///
/// # Panics
/// The test fails on a device, or has run on none. The message has a line for each device.
#[track_caller]
pub fn for_each_device(mut test: impl FnMut(&Device) -> Result<(), Failure>) {
    on_chosen(|device| test(device.device()));
}

/// Runs `compute` on each device, and fails unless what it returns is the same on all of them within `tolerance`.
///
/// Each device is compared with the first one that has an image: the host CPU, then the others as [`devices`] lists them.
///
/// ```no_run
/// use offload_rt::test::{Ulps, devices_agree};
///
/// # fn sums(_: &offload_rt::Device) -> Result<Vec<f32>, offload_rt::Error> { unimplemented!() }
/// devices_agree(Ulps(4), |device| Ok(sums(device)?));
/// ```
///
/// # Panics
/// As [`for_each_device`].
#[track_caller]
pub fn devices_agree<T: Element>(
    tolerance: impl Into<Tolerance>,
    mut compute: impl FnMut(&Device) -> Result<Vec<T>, Failure>,
) {
    let tolerance = tolerance.into();
    let location = Location::caller();
    let mut reference: Option<(String, Vec<T>)> = None;
    on_chosen(|device| {
        let own = compute(device.device())?;
        if reference.is_none() {
            reference = reference_beside(device, &own, &mut compute)?;
        }
        let Some((label, values)) = &reference else { return Ok(()) };
        let compared = expect_close(&own, values, tolerance);
        compared.map_err(|difference| difference.between_devices(label, location).into())
    });
}

/// The values of the first device that has an image; `own` are those of `device`.
fn reference_beside<T: Element>(
    device: &TestDevice,
    own: &[T],
    compute: &mut impl FnMut(&Device) -> Result<Vec<T>, Failure>,
) -> Result<Option<(String, Vec<T>)>, Failure> {
    for other in devices::usable() {
        if other.label() == device.label() {
            return Ok(Some((device.label().to_string(), own.to_vec())));
        }
        match compute(other.device()) {
            Ok(values) => return Ok(Some((other.label().to_string(), values))),
            Err(failure) if failure.is_refusal() => {}
            Err(failure) => return Err(failure.on_reference(other.label())),
        }
    }
    Ok(None)
}

/// Runs `test` on the devices that were chosen, and reports.
#[track_caller]
fn on_chosen(test: impl FnMut(&TestDevice) -> Result<(), Failure>) {
    report::conclude(&ended(test));
}

/// Runs `work` on the devices that were chosen, and tells what is wrong.
pub(crate) fn on_each_chosen(work: impl FnMut(&TestDevice) -> Result<(), Failure>) -> RunResult {
    report::tell_problems(&ended(work))
}

/// Runs `test` on each selected device.
fn ended(mut test: impl FnMut(&TestDevice) -> Result<(), Failure>) -> Vec<DeviceOutcome> {
    let chosen = devices::chosen();
    let mut ended: Vec<DeviceOutcome> = chosen.refused.clone();
    ended.iter().for_each(report::record_end);
    for device in &chosen.devices {
        report::record_start(device.label());
        let start = Instant::now();
        let outcome = match catch_unwind(AssertUnwindSafe(|| test(device))) {
            Ok(result) => Outcome::from_result(result),
            Err(panic) => Outcome::from_panic(&*panic),
        };
        let end = DeviceOutcome {
            device: device.shown(),
            label: device.label().into(),
            outcome,
            time: start.elapsed(),
        };
        report::record_end(&end);
        ended.push(end);
    }
    ended
}
