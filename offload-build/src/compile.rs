//! From kernel sources to verified device images, one for each target.

mod action;
mod amdgcn;
mod check;
mod cubin;
mod gpu;
mod host;
mod intel;
mod nvptx;
mod opencl_c;
mod scan;
mod spirv;

use std::path::PathBuf;

use offload_format::Target;
use offload_format::pack::NewImage;

use crate::cache::{Blob, Cache};
use crate::config::{Config, Presence, WantedTarget};
use crate::env::CargoEnv;
use crate::error::{Error, Result};
use crate::flight::Flights;
use crate::jobs::Jobs;
use crate::kernel::Kernel;
use crate::tool::{Runner, Tool};
use crate::toolchain::{Finder, Llvm};

/// The sources of one kernel module and how to read them.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    pub(crate) module: String,
    /// Relative to the manifest's directory.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) std: &'static str,
    /// Include directories, definitions and flags as clang takes them, in this order.
    pub(crate) flags: Vec<String>,
}

/// Everything that compiling needs.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    pub(crate) env: &'a CargoEnv,
    pub(crate) cache: &'a Cache,
    pub(crate) runner: &'a Runner<'a>,
    pub(crate) finder: &'a Finder<'a>,
    pub(crate) sources: &'a Sources,
    pub(crate) flights: &'a Flights,
    llvm: Llvm,
    spirv_val: Option<Tool>,
}

/// An image and where its bytes are.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) image: NewImage,
    pub(crate) raw: Blob,
}

/// What became of the wanted targets.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) images: Vec<Compiled>,
    /// Optional targets that could not be built, and why.
    pub(crate) skipped: Vec<(Target, String)>,
}

/// A file that the front end has read: its IR for the SPIR-V targets, and its kernels.
#[derive(Debug)]
pub(crate) struct Scanned {
    file: PathBuf,
    ir: Blob,
    kernels: Vec<Kernel>,
}

/// Compiles `sources` for every target of `config`.
pub(crate) fn images(env: &CargoEnv, cache: &Cache, config: &Config, sources: &Sources) -> Result<Outcome> {
    let jobs = Jobs::from_env();
    let runner = Runner { env, jobs: &jobs };
    let flights = Flights::default();
    let finder = Finder { env, cache, runner: &runner, flights: &flights };
    let (llvm, spirv_val) = (finder.llvm()?, finder.spirv_val());
    let session =
        Session { env, cache, runner: &runner, finder: &finder, sources, flights: &flights, llvm, spirv_val };

    let scanned = scan::files(&session, &jobs)?;
    let results = jobs.map(&config.targets, |wanted| compile(&session, &scanned, (config, &wanted.target)));
    collect(env, &config.targets, results)
}

fn compile(
    session: &Session<'_>,
    scanned: &[Scanned],
    (config, target): (&Config, &Target),
) -> Result<Compiled> {
    match target {
        Target::Host(level) => host::compile(session, scanned, *level),
        Target::Spirv64(version) => spirv::compile(session, scanned, *version),
        Target::Intel(arch) => intel::compile(session, scanned, arch),
        Target::OpenClC => opencl_c::compile(session, scanned),
        Target::Nvptx(sm) => nvptx::compile(session, scanned, sm),
        Target::Cubin(sm) => {
            let all = config.targets.iter().filter_map(|wanted| match &wanted.target {
                Target::Cubin(sm) => Some(sm),
                _ => None,
            });
            cubin::compile(session, scanned, (sm, cubin::base(sm, all)))
        }
        Target::Amdgcn(arch) => amdgcn::compile(session, scanned, arch),
        other => Err(Error::new(format!("this release of offload-build cannot compile for `{other}`"))
            .hint(format!("`cargo offload targets remove {other}`"))),
    }
}

fn collect(env: &CargoEnv, targets: &[WantedTarget], results: Vec<Result<Compiled>>) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for (wanted, result) in targets.iter().zip(results) {
        match (result, wanted.presence) {
            (Ok(compiled), _) => outcome.images.push(compiled),
            (Err(error), _) if error.is_stale() => return Err(error),
            (Err(error), Presence::Required) => return Err(error),
            (Err(error), Presence::Optional) => {
                env.warn(&format!("optional target `{}` is left out: {error}", wanted.target));
                outcome.skipped.push((wanted.target.clone(), error.to_string()));
            }
        }
    }
    Ok(outcome)
}

/// The names of all kernels of a module.
fn kernel_names(scanned: &[Scanned]) -> Vec<&str> {
    scanned.iter().flat_map(|file| &file.kernels).map(|kernel| kernel.name.as_str()).collect()
}
