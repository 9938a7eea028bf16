//! Benchmarks of kernels on every device, timed by the device's own clock.
//!
//! [`for_each_device`] runs benchmarks on each device of this machine that an image is for, or on those that
//! `OFFLOAD_TEST_DEVICE` names, and prints a line for each kernel. `cargo offload bench` runs them for each device in a
//! process of its own and prints one table. Put the feature `test` of this crate into `[dev-dependencies]`, and a file of
//! `benches/` into Cargo.toml with `harness = false`:
//!
//! ```no_run
//! # mod blas { pub fn load(_: &offload_rt::Device) -> Result<Blas, offload_rt::Error> { unimplemented!() }
//! # pub struct Blas; impl Blas { pub unsafe fn saxpy(&self, _: &offload_rt::Stream,
//! # _: offload_rt::NdRange, _: f32, _: &offload_rt::Buffer<f32>,
//! # _: &mut offload_rt::Buffer<f32>) -> Result<(), offload_rt::Error> { Ok(()) } } }
//! use std::process::ExitCode;
//!
//! use offload_rt::{NdRange, bench};
//!
//! fn main() -> ExitCode {
//!     bench::for_each_device(|bench| {
//!         let blas = blas::load(bench.device())?;
//!         let stream = bench.stream();
//!         let x = stream.upload(&[1.0f32; 4096])?;
//!         let mut y = stream.zeroed::<f32>(4096)?;
//!         bench.kernel("saxpy, 4096", || {
//!             // SAFETY: the kernel uses 4096 elements of each.
//!             unsafe { blas.saxpy(stream, NdRange::linear_at_least(4096, 64), 2.0, &x, &mut y) }
//!         })?;
//!         Ok(())
//!     })
//! }
//! ```
//!
//! Harnesses such as criterion count by themselves: hand them [`time`], in `iter_custom`.

mod arguments;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use self::arguments::{Arguments, Mode};
use crate::device::Device;
use crate::error::Error;
use crate::launch::Stream;
pub use crate::test::{Failure, TestDevice, devices};
use crate::test::{Numbers, RunResult, on_each_chosen};

/// Launches before the first that counts: drivers finish their work on a kernel when it first runs, and devices raise their
/// clock.
const WARM_UP: Duration = Duration::from_millis(100);
const LEAST_WARM_UP: usize = 3;
/// For how long launches are timed, and how many at least and at most.
const TIME: Duration = Duration::from_millis(500);
const LEAST: usize = 10;
const MOST: usize = 1000;

/// Benchmarks on one device.
#[derive(Debug)]
pub struct Bench<'b> {
    device: &'b TestDevice,
    stream: Stream,
    arguments: &'b Arguments,
}

/// The times of the launches of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times {
    /// Sorted.
    sorted: Vec<Duration>,
}

/// Runs `benchmarks` for each device, and prints the times of their kernels; what `main` returns.
///
/// A device that no image is for is passed over, as by [`for_each_device`](crate::test::for_each_device) of tests. Programs
/// understand what `cargo bench` and `cargo test` hand them: a part of the names of kernels, and that without `--bench` each
/// kernel is launched once and not timed.
pub fn for_each_device(mut benchmarks: impl FnMut(&Bench<'_>) -> Result<(), Failure>) -> ExitCode {
    let arguments = Arguments::read();
    if arguments.mode == Mode::List {
        return ExitCode::SUCCESS;
    }
    let ran = on_each_chosen(|device| {
        let stream = device.device().stream()?;
        benchmarks(&Bench { device, stream, arguments: &arguments })
    });
    match ran {
        RunResult::Succeeded => ExitCode::SUCCESS,
        RunResult::Failed => ExitCode::FAILURE,
    }
}

impl Bench<'_> {
    /// The device.
    pub fn device(&self) -> &Device {
        self.device.device()
    }

    /// The stream in which launches are timed.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Times `launch`, which puts one kernel (or several) into the stream of this, and prints the result under `name`;
    /// `None` if it was not asked for.
    ///
    /// Launches that do not count come first. Then each is timed by itself, from one event to the next, so that what the
    /// program does between two launches is no part of it.
    ///
    /// # Errors
    /// That of `launch`; or the driver does not tell times.
    pub fn kernel(
        &self,
        name: &str,
        mut launch: impl FnMut() -> Result<(), Error>,
    ) -> Result<Option<Times>, Error> {
        if !self.arguments.means(name) {
            return Ok(None);
        }
        if self.arguments.mode == Mode::Once {
            launch()?;
            self.stream.synchronize()?;
            return Ok(None);
        }
        let begin = Instant::now();
        let mut count = 0;
        while count < LEAST_WARM_UP || begin.elapsed() < WARM_UP && count < MOST {
            launch()?;
            self.stream.synchronize()?;
            count += 1;
        }
        let begin = Instant::now();
        let mut all = Vec::new();
        while all.len() < LEAST || begin.elapsed() < TIME && all.len() < MOST {
            all.push(time(&self.stream, 1, &mut launch)?);
        }
        all.sort_unstable();
        let times = Times { sorted: all };
        times.numbers().tell(self.device.label(), name);
        Ok(Some(times))
    }
}

/// Launches `count` times, waits, and returns how long the device worked on that by its own clock. For criterion:
/// `bencher.iter_custom(|count| bench::time(&stream, count, || launch()).unwrap())`.
///
/// # Errors
/// That of `launch`; or the driver does not tell times.
pub fn time(
    stream: &Stream,
    count: u64,
    mut launch: impl FnMut() -> Result<(), Error>,
) -> Result<Duration, Error> {
    let start = stream.record()?;
    for _ in 0..count {
        launch()?;
    }
    stream.record()?.since(&start)
}

impl Times {
    /// Half of the launches took no longer.
    pub fn median(&self) -> Duration {
        self.at(50)
    }

    /// The shortest.
    pub fn min(&self) -> Duration {
        self.at(0)
    }

    /// Nine of ten launches took no longer.
    pub fn most(&self) -> Duration {
        self.at(90)
    }

    /// The number of timed launches.
    pub fn count(&self) -> usize {
        self.sorted.len()
    }

    fn at(&self, percent: usize) -> Duration {
        let place = self.sorted.len().saturating_sub(1).saturating_mul(percent) / 100;
        self.sorted.get(place).copied().unwrap_or_default()
    }

    fn numbers(&self) -> Numbers {
        let [median, min, most] = [self.median(), self.min(), self.most()].map(|time| time.as_secs_f64());
        Numbers { median, min, most, count: self.count() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(all(feature = "host", any(unix, windows)))]
    fn bench(arguments: &Arguments, name: &str) -> (Option<Times>, usize) {
        let device = &devices()[0];
        let stream = device.device().stream().unwrap();
        let bench = Bench { device, stream, arguments };
        let mut launches = 0;
        let times = bench.kernel(name, || {
            launches += 1;
            std::thread::sleep(Duration::from_micros(100));
            Ok(())
        });
        (times.unwrap(), launches)
    }

    #[test]
    #[cfg(all(feature = "host", any(unix, windows)))]
    fn what_is_asked_for_is_timed() {
        let all = Arguments::parse(["--bench"].map(String::from));
        let (times, launches) = bench(&all, "saxpy");
        let times = times.unwrap();
        assert!((LEAST..=MOST).contains(&times.count()) && launches >= times.count() + LEAST_WARM_UP);
        assert!(times.min() <= times.median() && times.median() <= times.most());
        // The time of the device is that of what happens between two events.
        assert!(times.min() >= Duration::from_micros(100), "{times:?}");
        let other = Arguments::parse(["--bench", "dot"].map(String::from));
        assert_eq!(bench(&other, "saxpy"), (None, 0));
        // `cargo test` wants to know whether it works.
        assert_eq!(bench(&Arguments::parse([]), "saxpy"), (None, 1));
    }

    #[test]
    fn percentages_are_of_sorted_times() {
        let sorted: Vec<Duration> = (1..=101).map(Duration::from_millis).collect();
        let times = Times { sorted };
        let found = [times.min(), times.median(), times.most()].map(|time| time.as_millis());
        assert_eq!(found, [1, 51, 91]);
    }
}
