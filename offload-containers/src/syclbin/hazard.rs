//! What a SYCL runtime does wrong with a file that is well formed: observed with oneAPI 2025.3 and 2026.0 to 2026.2.

mod links;
mod module;
mod problem;
mod text;

pub use self::problem::{Consequence, Hazard, Problem};
use super::{File, ImageKindNumber, sets};

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
