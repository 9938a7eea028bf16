//! The cases, and what a runtime does in each.

use super::usage::Release;
use crate::syclbin::{ImageKindNumber, PropertyValue, State};

/// Something about a file that a runtime refuses, passes over without a word, or dies of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hazard {
    /// The index of the module that has it; `None` for the file.
    pub module: Option<usize>,
    /// What it is.
    pub problem: Problem,
}

/// What a runtime does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Consequence {
    /// Works on some releases or devices only.
    Restricts,
    /// Passes over something without a word.
    Ignores,
    /// Uses one thing or the other, or another one than expected.
    Surprises,
    /// Refuses the file or a launch with an error.
    Fails,
    /// Ends the process.
    Crashes,
}

/// The cases of [`Hazard`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// There is no OffloadBinary around the file.
    NoEnvelope,
    /// The envelope has a version that few releases read.
    EnvelopeVersion(u32),
    /// The number for SYCLBIN is that of oneAPI 2025.3, or of no release.
    ImageKind(u16),
    /// No release reads this image kind in an envelope of this version.
    Envelope {
        /// The envelope's version.
        version: u32,
        /// The number for SYCLBIN.
        kind: u32,
    },
    /// The release for which the file is meant reads no such envelope.
    OtherRelease {
        /// The release.
        release: Release,
        /// The envelope's version.
        version: u32,
        /// The number for SYCLBIN.
        kind: u32,
    },
    /// The inner format is the draft of a second version.
    Draft,
    /// The file names no state that exists.
    BadState(Option<PropertyValue>),
    /// It has no module.
    NoModules,
    /// A module with no image at all.
    NoImages,
    /// No kernel is listed.
    NoKernels,
    /// A kernel cannot be asked for: it has no [`KERNEL_PREFIX`](crate::syclbin::KERNEL_PREFIX).
    KernelWithoutPrefix(String),
    /// A kernel is listed and not in the SPIR-V.
    KernelMissing(String),
    /// Several modules list a kernel.
    KernelTwice(String),
    /// A native image without a target.
    NativeWithoutTarget,
    /// A native image with a target that no runtime knows.
    NativeTarget(String),
    /// Several native images for one target: the first one is taken, whatever its architecture.
    NativesOfOneTarget(String),
    /// A native image is tried on every device of its target, for want of a `compile_target`.
    NativeForEveryDevice(String),
    /// In state input a runtime passes over native images.
    NativeIgnored(State),
    /// In state object a native image for this target is wrong where it fits the device.
    NativeInObject(String),
    /// The runtime for which the file is meant dies of a native image that fits the device, in state object.
    NativeKills(String, Release),
    /// A native image for this target is compressed, which no runtime undoes.
    NativeCompressed(String),
    /// A native image for this target is none of any format that a driver takes.
    NativeUnknown(String),
    /// A native image without bytes.
    NativeEmpty,
    /// An IR module that is not said to be SPIR-V is taken as such.
    IrType(u32),
    /// An IR module that is no SPIR-V, and why.
    IrMalformed(String),
    /// A requirement that leaves the module out for every device, or worse.
    Requirement(String),
    /// A requirement that no device meets, so that the module is left out for every one.
    NoDevice(String),
    /// A name of a device that no runtime knows.
    CompileTarget(String),
    /// A symbol that no module defines, or none that says so.
    NotExported(String),
    /// A symbol that several modules export.
    ExportedTwice(String),
    /// A symbol that another file has to export.
    NeedsExporter(String),
    /// A symbol of another module in a state in which modules are not linked.
    NotLinked(String, State),
}

impl Problem {
    /// What a runtime does.
    pub fn consequence(&self) -> Consequence {
        match self {
            Problem::ImageKind(number) if *number == ImageKindNumber::ONEAPI_2025_3.0 => {
                Consequence::Restricts
            }
            Problem::EnvelopeVersion(2)
            | Problem::NativeForEveryDevice(_)
            | Problem::NativeIgnored(_)
            | Problem::NativeInObject(_)
            | Problem::NeedsExporter(_) => Consequence::Restricts,
            Problem::NoModules
            | Problem::NoImages
            | Problem::NoKernels
            | Problem::KernelWithoutPrefix(_)
            | Problem::NativeTarget(_)
            | Problem::NoDevice(_)
            | Problem::CompileTarget(_) => Consequence::Ignores,
            Problem::KernelTwice(_) | Problem::NativesOfOneTarget(_) | Problem::IrType(_) => {
                Consequence::Surprises
            }
            Problem::Requirement(_) | Problem::IrMalformed(_) | Problem::NativeKills(..) => {
                Consequence::Crashes
            }
            _ => Consequence::Fails,
        }
    }
}
