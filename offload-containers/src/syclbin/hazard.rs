//! Hazards: well-formed files that SYCL runtimes mishandle, observed with oneAPI 2025.3 and 2026.0 to 2026.2.

mod links;
mod module;
mod problem;
mod text;
mod usage;

pub use self::problem::{Consequence, Hazard, Problem};
pub use self::usage::{Release, Usage};
use super::{File, ImageKindNumber, sets};

/// Everything in `file` that a runtime may treat otherwise than its writer meant; empty for a file that all releases of
/// oneAPI since 2026.0 load.
///
/// ```
/// use offload_format::Limits;
/// use offload_containers::syclbin::{ImageKindNumber, NewModule, Problem, BundleState, hazards, parse, write};
///
/// let module = NewModule::default().with_kernels(["saxpy"])?;
/// let bytes = write(BundleState::Executable, &[module], ImageKindNumber::default())?;
/// let hazards = hazards(&parse(&bytes, &Limits::default())?);
/// assert_eq!(hazards[0].problem, Problem::KernelWithoutPrefix("saxpy".into()));
/// # Ok::<(), offload_format::Error>(())
/// ```
pub fn hazards(file: &File<'_>) -> Vec<Hazard> {
    hazards_of(file, &Usage::default())
}

/// As [`hazards`], for a known use of the file: the runtime, and the files for the link.
///
/// ```
/// use offload_format::Limits;
/// use offload_containers::syclbin::{ImageKindNumber, NewModule, Release, BundleState, Usage, hazards_of, parse, write};
///
/// let bytes = write(BundleState::Executable, &[NewModule::default()], ImageKindNumber::ONEAPI_2025_3)?;
/// let usage = Usage::default().for_release(Release::Oneapi2026_2);
/// let found = hazards_of(&parse(&bytes, &Limits::default())?, &usage);
/// assert_eq!(found[0].to_string(), "oneAPI 2026.2 does not read image kind 6 in an OffloadBinary of version 1");
/// # Ok::<(), offload_format::Error>(())
/// ```
pub fn hazards_of(file: &File<'_>, usage: &Usage) -> Vec<Hazard> {
    let state = file.state().ok();
    let mut problems = envelope(file, usage.release);
    problems.extend(state_problem(file));
    if file.modules.is_empty() {
        problems.push(Problem::NoModules);
    }
    problems.extend(links::repeated_kernels(file));
    let mut found: Vec<Hazard> =
        problems.into_iter().map(|problem| Hazard { module: None, problem }).collect();
    for (index, module) in file.modules.iter().enumerate() {
        let problems = module::problems(module, module::Context { state, release: usage.release });
        found.extend(problems.into_iter().map(|problem| Hazard { module: Some(index), problem }));
    }
    found.extend(links::problems(file, state, usage.linked_with.as_ref()));
    found
}

fn envelope(file: &File<'_>, release: Option<Release>) -> Vec<Problem> {
    let Some(envelope) = file.envelope else { return vec![Problem::NoEnvelope] };
    let [version, kind] = [envelope.version, envelope.image_kind.0.into()];
    let mut problems = Vec::new();
    if file.version > 1 {
        problems.push(Problem::Draft);
    } else if let Some(release) = release {
        if release.reads(&envelope) {
            return Vec::new();
        }
        return vec![Problem::OtherRelease { release, version, kind }];
    } else if version == 2 && envelope.image_kind == ImageKindNumber::ONEAPI_2025_3 {
        return vec![Problem::Envelope { version, kind }];
    } else if envelope.version != 1 {
        problems.push(Problem::EnvelopeVersion(envelope.version));
    }
    if envelope.image_kind != ImageKindNumber::ONEAPI_2026 {
        problems.push(Problem::ImageKind(envelope.image_kind.0));
    }
    problems
}

fn state_problem(file: &File<'_>) -> Option<Problem> {
    let state = file.metadata.get(sets::GLOBAL, "state");
    file.state().is_err().then_some(Problem::BadState(state))
}
