//! In development builds the program names its pack in the compile cache, so that no link copies large payloads.

use offload_format::pack::{
    CACHE, Missing, MissingKind, Pack as Index, PackBuilder, Pages, SIDECAR, Sidecar, cached_name,
};
use offload_format::section::DESCRIPTOR_SIDECARS;

use crate::config::Embedding;
use crate::context::Context;
use crate::env::CargoEnv;
use crate::error::Result;
use crate::packing::Pack;

/// Packs below this size cost a link less than a program costs that depends on the cache.
const SMALL: u64 = 4 << 20;

/// What the program gets: `pack`, or one that names it.
pub(crate) fn place(context: &Context, wanted: Embedding, pack: Pack) -> Result<Pack> {
    match context.cache.release().filter(|_| is_named(&context.env, wanted, &pack)) {
        Some(release) => name(context, release, &pack),
        None => Ok(pack),
    }
}

/// Release builds never depend on a cache, and neither does a program for another machine.
fn is_named(env: &CargoEnv, wanted: Embedding, pack: &Pack) -> bool {
    let development = !env.profile.release && !env.profile.optimized && env.host == env.target;
    let large = match wanted {
        Embedding::Auto => pack.layout.size >= SMALL,
        Embedding::Always => false,
        Embedding::Release => true,
    };
    development && large && !pack.frames.is_empty()
}

/// Puts `pack` into the cache, and makes one that leads to it.
fn name(context: &Context, release: &str, pack: &Pack) -> Result<Pack> {
    let env = &context.env;
    let id = pack.layout.id;
    let path = context.cache.put_pack(id, pack.layout.size, |out| pack.write_to(out))?;
    env.depends_on(&path);
    let file = cached_name(id);
    let mut builder = PackBuilder::new(&env.package, &env.version);
    builder.meta(CACHE, release);
    if let Some(sidecar) = Sidecar::new(&file, id) {
        builder.meta(SIDECAR, &sidecar.to_string());
    }
    let pages = Pages::default();
    let index = Index::parse_index(&pack.layout.index, &pages)?;
    let mut told = std::collections::BTreeSet::new();
    for image in index.images() {
        let image = image?;
        told.insert((image.module, image.target_text));
    }
    for (module, target) in told {
        builder.missing(Missing::new(MissingKind::Sidecar, module).with_target(target).with_reason(&file));
    }
    for missing in index.missing() {
        builder.missing(missing?);
    }
    Ok(Pack { layout: builder.finish()?, frames: Vec::new(), flags: DESCRIPTOR_SIDECARS })
}
