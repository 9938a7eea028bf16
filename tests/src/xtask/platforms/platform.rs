//! The targets of rustc for which the program is built, and what is expected of it.

use offload_tests::error::{Error, Result};

use super::emulator::Emulator;

/// A target, and how far the program gets there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Platform {
    pub(super) target: &'static str,
    /// Features of the program.
    pub(super) features: &'static str,
    pub(super) step: Step,
    /// Whether it is another system to build on: offload-build is checked for it.
    pub(super) is_host: bool,
    pub(super) quick: bool,
}

/// The last thing that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The program is linked.
    Link,
    /// It runs: it has this number of images, and kernels give right results on this number of devices.
    Run { emulator: Emulator, images: usize, launched: usize },
}

/// Of three modules, each for three targets.
const WITH_HOST: usize = 9;
/// The same with two levels of AArch64's instruction set beside the baseline.
const WITH_LEVELS: usize = 15;
/// The same without `host`.
const WITHOUT_HOST: usize = 6;

pub(super) const PLATFORMS: [Platform; 10] = [
    Platform {
        target: "x86_64-unknown-linux-gnu",
        features: "libzstd,launch",
        step: Step::Run { emulator: Emulator::None, images: WITH_HOST, launched: 2 },
        is_host: false,
        quick: false,
    },
    // Programs that are linked statically open no libraries.
    Platform {
        target: "x86_64-unknown-linux-musl",
        features: "pure",
        step: Step::Run { emulator: Emulator::None, images: WITH_HOST, launched: 0 },
        is_host: false,
        quick: false,
    },
    Platform {
        target: "aarch64-unknown-linux-gnu",
        features: "pure,launch",
        step: Step::Run { emulator: Emulator::Qemu, images: WITH_LEVELS, launched: 1 },
        is_host: false,
        quick: true,
    },
    // Of 32 bits: the Rust includes the pack.
    Platform {
        target: "i686-unknown-linux-musl",
        features: "pure",
        step: Step::Run { emulator: Emulator::None, images: WITHOUT_HOST, launched: 0 },
        is_host: false,
        quick: false,
    },
    // Wine shows programs the OpenCL of the system around it.
    Platform {
        target: "x86_64-pc-windows-gnu",
        features: "pure,launch",
        step: Step::Run { emulator: Emulator::Wine, images: WITH_HOST, launched: 2 },
        is_host: true,
        quick: true,
    },
    Platform {
        target: "wasm32-wasip1",
        features: "libzstd",
        step: Step::Run { emulator: Emulator::Node, images: WITHOUT_HOST, launched: 0 },
        is_host: false,
        quick: true,
    },
    Platform {
        target: "wasm32-unknown-unknown",
        features: "libzstd",
        step: Step::Link,
        is_host: false,
        quick: false,
    },
    Platform {
        target: "x86_64-pc-windows-msvc",
        features: "pure,launch",
        step: Step::Run { emulator: Emulator::Wine, images: WITH_HOST, launched: 2 },
        is_host: false,
        quick: false,
    },
    Platform {
        target: "aarch64-apple-darwin",
        features: "pure,launch",
        step: Step::Link,
        is_host: true,
        quick: true,
    },
    Platform {
        target: "x86_64-apple-darwin",
        features: "pure,launch",
        step: Step::Link,
        is_host: true,
        quick: false,
    },
];

impl Platform {
    pub(super) fn for_target(target: &str) -> Result<&'static Platform> {
        let found = PLATFORMS.iter().find(|platform| platform.target == target);
        found.ok_or_else(|| {
            let known: Vec<&str> = PLATFORMS.iter().map(|platform| platform.target).collect();
            Error::new(format!("`platforms` has no target `{target}`")).hint(known.join(", "))
        })
    }

    pub(super) fn is_apple(&self) -> bool {
        self.target.ends_with("-apple-darwin")
    }

    /// Whether a C compiler for the target is there: all but those that ask for zstd's own library build without.
    pub(super) fn c_compiler(&self) -> &'static str {
        let needs_one = self.features.contains("libzstd") && !self.target.starts_with("wasm");
        if needs_one { "used" } else { "none" }
    }
}
