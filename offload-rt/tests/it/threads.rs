//! Thread safety: `Send` and `Sync` of every value of the launch layer, and images in a process
//! that is forked while another thread decodes them.

#[cfg(unix)]
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(unix)]
use std::time::{Duration, Instant};

use offload_rt::{
    Buffer, Device, Entry, Error, Event, Kernel, LoadedImage, Pinned, Program, Registry, Selection, Slice,
    SliceMut, Stream, Transfer,
};

#[cfg(unix)]
use offload_format::pack::NewImage;

#[cfg(unix)]
use crate::common::TestPack;

fn is_shared<T: Send + Sync>() {}

/// It compiles: that is the test.
#[test]
fn values_of_the_layer_go_to_other_threads() {
    is_shared::<(Device, Stream, Event, Kernel, Program)>();
    is_shared::<(Buffer<f32>, Slice<'_, f32>, SliceMut<'_, f32>, Pinned<f32>, Transfer<f32>)>();
    is_shared::<(Registry, Entry, LoadedImage, Selection, Error)>();
}

/// What a forked process may take to load an image.
#[cfg(unix)]
const SOON: Duration = Duration::from_secs(1);

/// The thread that decodes does not exist in the forked process, where no thread waits for it.
#[test]
#[cfg(unix)]
#[cfg_attr(miri, ignore = "Miri forks no process")]
fn a_process_that_is_forked_while_an_image_is_decoded_has_it_too() {
    let image: Vec<u8> = (0..2_000_000u32).flat_map(|word| (word / 3).to_le_bytes()).collect();
    let new = NewImage::new("m", "host".parse().unwrap());
    let registry = Registry::from_pack(TestPack::new("p").image(new, &image).bytes());
    let entry = registry.entries()[0].clone();
    let is_full = std::env::var_os("OFFLOAD_TEST_FULL").is_some();
    let rounds = if is_full { 100 } else { 20 };
    let done = AtomicBool::new(false);
    let mut slowest = Duration::ZERO;
    let mut busy = 0;
    std::thread::scope(|scope| {
        // The bytes are not in use in between: each time they are decoded again.
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                drop(entry.load().unwrap())
            }
        });
        for round in 0..rounds {
            std::thread::sleep(Duration::from_micros(500 + 37 * round));
            let start = Instant::now();
            // SAFETY: the new process loads an image, and ends without any destructor.
            let child = unsafe { libc::fork() };
            if child == 0 {
                let right = entry.load().is_ok_and(|loaded| loaded.bytes() == image);
                // SAFETY: it takes any number.
                unsafe { libc::_exit(if right { 0 } else { 1 }) }
            }
            assert!(child > 0, "fork: {}", std::io::Error::last_os_error());
            let status = ended(child);
            done.store(status.is_none(), Ordering::Relaxed);
            assert_eq!(status, Some(0), "round {round}");
            slowest = slowest.max(start.elapsed());
            busy += 1;
        }
        done.store(true, Ordering::Relaxed);
    });
    // A sample is taken beside many other tests.
    assert!(!is_full || slowest <= SOON, "{slowest:?}");
    println!(
        "figure: {busy} forks while an image is decoded; at most {} ms for the child",
        slowest.as_millis()
    );
}

/// With what the child has ended; `None` if it does not in time, and then it is killed.
#[cfg(unix)]
fn ended(child: libc::pid_t) -> Option<i32> {
    let start = Instant::now();
    let mut status = 0;
    loop {
        // SAFETY: the child is this process's own, and the number lives.
        let which = unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) };
        if which == child {
            return Some(status);
        }
        if start.elapsed() > 20 * SOON {
            // SAFETY: as above.
            unsafe { libc::kill(child, libc::SIGKILL) };
            return None;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// PoCL 3.1 starts when it is first asked: eight threads at once made two processes of five crash.
#[cfg(feature = "opencl")]
#[test]
fn threads_ask_for_devices_while_a_driver_starts() {
    let itself = std::env::current_exe().unwrap();
    for round in 0..10 {
        let name = "threads::eight_threads_find_the_same_devices";
        let output = std::process::Command::new(&itself).args(["--exact", name]).output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && stdout.contains("1 passed"),
            "{round}: {} {stdout}",
            output.status
        );
    }
}

#[cfg(feature = "opencl")]
fn opencl_device_names() -> Vec<String> {
    let devices = offload_rt::opencl::devices().unwrap_or_default();
    devices.iter().map(ToString::to_string).collect()
}

#[cfg(feature = "opencl")]
#[test]
fn eight_threads_find_the_same_devices() {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(opencl_device_names)).collect();
        let all: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
    });
}
