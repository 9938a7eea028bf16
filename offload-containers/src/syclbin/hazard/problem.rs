//! Kinds of hazards and their consequences.

use super::usage::Release;
use crate::syclbin::{BundleState, ImageKindNumber, PropertyValue};

/// A property of a file that a runtime rejects, silently ignores, or crashes on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hazard {
    /// The index of the module; `None` for the whole file.
    pub module: Option<usize>,
    /// The problem.
    pub problem: Problem,
}

/// The behaviour of a runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Consequence {
    /// Works only on some releases or devices.
    Restricts,
    /// Silently ignores something.
    Ignores,
    /// Uses an arbitrary or unexpected image.
    Surprises,
    /// Rejects the file or a launch with an error.
    Fails,
    /// Ends the process.
    Crashes,
}

/// The kind of a [`Hazard`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The file has no OffloadBinary around it.
    NoEnvelope,
    /// Few releases read this version of the envelope.
    EnvelopeVersion(u32),
    /// The image kind of oneAPI 2025.3, or of no release.
    ImageKind(u16),
    /// No release reads this image kind in an envelope of this version.
    Envelope {
        /// The envelope's version.
        version: u32,
        /// The image kind.
        kind: u32,
    },
    /// The given release does not read this envelope.
    OtherRelease {
        /// The release.
        release: Release,
        /// The envelope's version.
        version: u32,
        /// The image kind.
        kind: u32,
    },
    /// The inner format is the draft of version 2.
    Draft,
    /// The state is missing or unknown.
    BadState(Option<PropertyValue>),
    /// The file has no module.
    NoModules,
    /// The module has no image.
    NoImages,
    /// The module lists no kernel.
    NoKernels,
    /// The kernel cannot be looked up: it lacks [`KERNEL_PREFIX`](crate::syclbin::KERNEL_PREFIX).
    KernelWithoutPrefix(String),
    /// The SPIR-V lacks the listed kernel.
    KernelMissing(String),
    /// Several modules list the kernel.
    KernelTwice(String),
    /// A native image has no target.
    NativeWithoutTarget,
    /// No runtime knows the target of the native image.
    NativeTarget(String),
    /// Several native images have this target: runtimes take the first one, whatever its architecture.
    NativesOfOneTarget(String),
    /// Without a `compile_target`, the native image is tried on every device of its target.
    NativeForEveryDevice(String),
    /// Runtimes ignore native images in state input.
    NativeIgnored(BundleState),
    /// Runtimes mishandle a native image for this target in state object.
    NativeInObject(String),
    /// The given release crashes on a native image for this target in state object.
    NativeKills(String, Release),
    /// The native image for this target is compressed, and runtimes decompress nothing.
    NativeCompressed(String),
    /// No driver loads the format of the native image for this target.
    NativeUnknown(String),
    /// A native image is empty.
    NativeEmpty,
    /// An IR module of another type, which runtimes read as SPIR-V.
    IrType(u32),
    /// An IR module is malformed SPIR-V, with the reader's error.
    IrMalformed(String),
    /// A malformed requirement, which excludes every device or crashes the runtime.
    Requirement(String),
    /// A requirement that no device meets, so that runtimes ignore the module.
    NoDevice(String),
    /// No runtime knows this `compile_target`.
    CompileTarget(String),
    /// No file of the link exports the imported symbol.
    NotExported(String),
    /// Several modules export the symbol.
    ExportedTwice(String),
    /// Another file has to export the imported symbol.
    NeedsExporter(String),
    /// The imported symbol is not resolved, because modules are not linked in this state.
    NotLinked(String, BundleState),
}

impl Problem {
    /// The behaviour of runtimes.
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
