//! Kernel records of vendored images, for builds that compile nothing.

use offload_format::pack::{KernelInfo, Pack, Pages};

use super::{Request, outdated, parse, paths, request};
use crate::env::CargoEnv;
use crate::error::Result;
use crate::fs;
use crate::module::Sources;

/// The kernels of the variant `sources`, each once; none if there are no images of these very sources and options.
///
/// # Errors
/// If a file cannot be read, or is not what it should be.
pub(crate) fn kernels(env: &CargoEnv, sources: &Sources) -> Result<Vec<KernelInfo>> {
    let [record, pack] = paths(env, &sources.module);
    if !record.exists() {
        return Ok(Vec::new());
    }
    env.depends_on(&record);
    env.depends_on(&pack);
    let provenance =
        parse(&fs::read_text(&record)?).map_err(|error| error.context(format!("`{}`", record.display())))?;
    if outdated(env, &provenance)?.is_some() || request(&provenance, sources) == Request::Other {
        return Ok(Vec::new());
    }
    listed(&fs::read(&pack)?, &sources.variant.to_string())
        .map_err(|error| error.context(format!("`{}`", pack.display())))
}

/// The kernels of all images of `variant` in the pack `bytes`.
fn listed(bytes: &[u8], variant: &str) -> Result<Vec<KernelInfo>> {
    let pages = Pages::default();
    let pack = Pack::parse(bytes, &pages)?;
    pack.verify_index()?;
    let mut kernels: Vec<KernelInfo> = Vec::new();
    for image in pack.images() {
        let image = image?;
        if image.variant != variant {
            continue;
        }
        for kernel in pack.kernels(&image) {
            let kernel = kernel?;
            if kernels.iter().all(|known| known.name != kernel.name) {
                kernels.push(kernel);
            }
        }
    }
    Ok(kernels)
}
