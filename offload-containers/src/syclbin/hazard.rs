//! What a SYCL runtime does wrong with a file that is well formed: observed with oneAPI 2025.3 and 2026.0 to 2026.2.

mod links;
mod module;
mod text;

use super::{File, ImageKindNumber, PropertyValue, State, sets};

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
    /// The inner format is the draft of a second version.
    Draft,
    /// The file names no state that exists.
    BadState(Option<PropertyValue>),
    /// It has no module.
    NoModules,
    /// No kernel is listed.
    NoKernels,
    /// A kernel cannot be asked for: it has no [`KERNEL_PREFIX`](super::KERNEL_PREFIX).
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
    /// The state of the file makes a runtime pass over native images.
    NativeIgnored(State),
    /// A native image without bytes.
    NativeEmpty,
    /// An IR module that is not said to be SPIR-V is taken as such.
    IrType(u32),
    /// An IR module that is no SPIR-V, and why.
    IrMalformed(String),
    /// A requirement that leaves the module out for every device, or worse.
    Requirement(String),
    /// A name of a device that no runtime knows.
    CompileTarget(String),
    /// A symbol that no module defines, or none that says so.
    NotExported(String),
    /// A symbol that several modules export.
    ExportedTwice(String),
    /// A symbol of another module in a state in which modules are not linked.
    NotLinked(String, State),
}

/// Everything in `file` that a runtime takes in another way than its writer may have meant; empty for a file that all
/// releases of oneAPI from 2026.0 load.
///
/// ```
/// use offload_format::Limits;
/// use offload_containers::syclbin::{ImageKindNumber, Module, Problem, State, hazards, parse, write};
///
/// let module = Module::default().with_kernels(["saxpy"])?;
/// let bytes = write(State::Executable, &[module], ImageKindNumber::default())?;
/// let hazards = hazards(&parse(&bytes, &Limits::default())?);
/// assert_eq!(hazards[0].problem, Problem::KernelWithoutPrefix("saxpy".into()));
/// # Ok::<(), offload_format::Error>(())
/// ```
pub fn hazards(file: &File<'_>) -> Vec<Hazard> {
    let state = file.state().ok();
    let mut problems = envelope(file);
    problems.extend(of_state(file));
    if file.modules.is_empty() {
        problems.push(Problem::NoModules);
    }
    problems.extend(links::repeated_kernels(file));
    let mut found: Vec<Hazard> =
        problems.into_iter().map(|problem| Hazard { module: None, problem }).collect();
    for (index, module) in file.modules.iter().enumerate() {
        let problems = module::problems(module, state);
        found.extend(problems.into_iter().map(|problem| Hazard { module: Some(index), problem }));
    }
    found.extend(links::problems(file, state));
    found
}

fn envelope(file: &File<'_>) -> Vec<Problem> {
    let Some(envelope) = file.envelope else { return vec![Problem::NoEnvelope] };
    let mut problems = Vec::new();
    if file.version > 1 {
        problems.push(Problem::Draft);
    } else if envelope.version != 1 {
        problems.push(Problem::EnvelopeVersion(envelope.version));
    }
    if envelope.image_kind != ImageKindNumber::ONEAPI_2026 {
        problems.push(Problem::ImageKind(envelope.image_kind.0));
    }
    problems
}

fn of_state(file: &File<'_>) -> Option<Problem> {
    let state = file.metadata.get(sets::GLOBAL, "state");
    file.state().is_err().then_some(Problem::BadState(state))
}

impl Problem {
    /// What a runtime does.
    pub fn consequence(&self) -> Consequence {
        match self {
            Problem::ImageKind(number) if *number == ImageKindNumber::ONEAPI_2025_3.0 => {
                Consequence::Restricts
            }
            Problem::EnvelopeVersion(2) | Problem::NativeForEveryDevice(_) => Consequence::Restricts,
            Problem::NoModules
            | Problem::NoKernels
            | Problem::KernelWithoutPrefix(_)
            | Problem::NativeTarget(_)
            | Problem::NativeIgnored(_)
            | Problem::CompileTarget(_) => Consequence::Ignores,
            Problem::KernelTwice(_) | Problem::NativesOfOneTarget(_) | Problem::IrType(_) => {
                Consequence::Surprises
            }
            Problem::Requirement(_) | Problem::IrMalformed(_) => Consequence::Crashes,
            _ => Consequence::Fails,
        }
    }
}
