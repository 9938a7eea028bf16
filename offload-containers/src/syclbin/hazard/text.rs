//! The messages of hazards. Names from the file are escaped for the terminal.

use std::fmt;

use super::problem::{Hazard, Problem};

impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.module {
            Some(index) => write!(f, "module {index}: {}", self.problem),
            None => self.problem.fmt(f),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::NoEnvelope
            | Problem::EnvelopeVersion(_)
            | Problem::ImageKind(_)
            | Problem::Envelope { .. }
            | Problem::OtherRelease { .. }
            | Problem::Draft
            | Problem::BadState(_)
            | Problem::NoModules => self.fmt_file(f),
            Problem::NoImages
            | Problem::NoKernels
            | Problem::KernelWithoutPrefix(_)
            | Problem::KernelMissing(_)
            | Problem::KernelTwice(_)
            | Problem::NotExported(_)
            | Problem::NeedsExporter(_)
            | Problem::ExportedTwice(_)
            | Problem::NotLinked(..) => self.fmt_names(f),
            Problem::NativeTarget(_)
            | Problem::NativesOfOneTarget(_)
            | Problem::NativeForEveryDevice(_)
            | Problem::NativeIgnored(_)
            | Problem::NativeInObject(_)
            | Problem::NativeKills(..)
            | Problem::NativeCompressed(_)
            | Problem::NativeUnknown(_)
            | Problem::NativeEmpty
            | Problem::NativeWithoutTarget => self.fmt_natives(f),
            Problem::IrType(kind) => {
                write!(f, "runtimes read an IR module of type {kind} as if it were SPIR-V")
            }
            Problem::IrMalformed(error) => write!(f, "an IR module is not SPIR-V: {error}"),
            Problem::Requirement(what) | Problem::NoDevice(what) => write!(f, "{what}"),
            Problem::CompileTarget(name) => {
                write!(f, "it asks for the device `{}`, which no runtime knows", name.escape_debug())
            }
        }
    }
}

impl Problem {
    fn fmt_file(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::NoEnvelope => write!(f, "no runtime reads a file without an OffloadBinary around it"),
            Problem::EnvelopeVersion(2) => {
                write!(f, "only oneAPI 2026.2 reads an OffloadBinary of version 2")
            }
            Problem::EnvelopeVersion(version) => {
                write!(f, "no runtime reads an OffloadBinary of version {version}")
            }
            Problem::Envelope { version, kind } => {
                write!(f, "no runtime reads image kind {kind} in an OffloadBinary of version {version}")
            }
            Problem::OtherRelease { release, version, kind } => {
                write!(
                    f,
                    "{release} does not read image kind {kind} in an OffloadBinary of version {version}"
                )
            }
            Problem::ImageKind(6) => {
                write!(f, "only oneAPI 2025.3 reads image kind 6; later releases take 7")
            }
            Problem::ImageKind(kind) => write!(f, "no runtime reads image kind {kind}; oneAPI 2026 takes 7"),
            Problem::Draft => write!(f, "no released runtime reads version 2 of SYCLBIN"),
            Problem::BadState(None) => write!(f, "the file names no state, and every load needs one"),
            Problem::BadState(Some(value)) => {
                write!(f, "its state is `{value}`: it has to be the number 0, 1 or 2")
            }
            _ => write!(f, "it has no module: the bundle is empty"),
        }
    }

    fn fmt_names(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::KernelWithoutPrefix(name) => {
                let name = name.escape_debug();
                write!(
                    f,
                    "no program can ask for kernel `{name}`: its name lacks `{}`",
                    super::super::KERNEL_PREFIX
                )
            }
            Problem::KernelMissing(name) => {
                write!(f, "it lists kernel `{}`, which is not in the SPIR-V", name.escape_debug())
            }
            Problem::KernelTwice(name) => {
                write!(f, "several modules list kernel `{}`: runtimes take any of them", name.escape_debug())
            }
            Problem::NotExported(name) => {
                write!(f, "no module exports the imported symbol `{}`", name.escape_debug())
            }
            Problem::NeedsExporter(name) => {
                write!(f, "it works only when linked with a file that exports `{}`", name.escape_debug())
            }
            Problem::ExportedTwice(name) => {
                write!(f, "several modules export symbol `{}`: they cannot be linked", name.escape_debug())
            }
            Problem::NotLinked(name, state) => {
                let name = name.escape_debug();
                write!(f, "it imports `{name}`, but runtimes do not link modules of a file in state {state}")
            }
            Problem::NoImages => write!(f, "it has no image: runtimes pass over it"),
            _ => write!(f, "it lists no kernel: programs find none"),
        }
    }

    fn fmt_natives(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::NativeTarget(target) => {
                write!(f, "no device takes a native image for `{}`", target.escape_debug())
            }
            Problem::NativesOfOneTarget(target) => {
                write!(f, "it has several native images for `{target}`: every device takes the first")
            }
            Problem::NativeForEveryDevice(target) => write!(
                f,
                "it has no compile_target: runtimes try the native image for `{target}` on every device of that kind"
            ),
            Problem::NativeIgnored(state) => write!(f, "runtimes ignore its native images in state {state}"),
            Problem::NativeInObject(target) => write!(
                f,
                "in state object, oneAPI 2025.3 crashes and `fast_link` of 2026.2 fails on devices that the native image for `{target}` fits"
            ),
            Problem::NativeKills(target, release) => {
                write!(f, "in state object, {release} crashes on the native image for `{target}`")
            }
            Problem::NativeCompressed(target) => {
                write!(f, "the native image for `{target}` is compressed: no runtime reads it")
            }
            Problem::NativeUnknown(target) => {
                write!(f, "no driver takes the format of the native image for `{target}`")
            }
            Problem::NativeEmpty => write!(f, "a native image is empty"),
            _ => write!(f, "a native image has no target: loading it fails"),
        }
    }
}
