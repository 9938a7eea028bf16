//! In development builds the program names its pack in the compile cache, so that no link copies large payloads.

use offload_format::pack::{
    CACHE, ELSEWHERE, Elsewhere, NoticeKind, Pack as Index, PackBuilder, Pages, cached_name,
};
use offload_format::section::DESCRIPTOR_ELSEWHERE;

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
    if let Some(sidecar) = Elsewhere::new(&file, id) {
        builder.meta(ELSEWHERE, &sidecar.to_string());
    }
    let pages = Pages::default();
    let index = Index::parse_index(&pack.layout.index, &pages)?;
    let mut told = std::collections::BTreeSet::new();
    for image in index.images() {
        let image = image?;
        told.insert((image.module, image.target_text));
    }
    for (module, target) in told {
        builder.notice(NoticeKind::Elsewhere, [module, target, &file]);
    }
    for notice in index.notices() {
        let notice = notice?;
        builder.notice(notice.kind, [notice.module, notice.target, notice.reason]);
    }
    Ok(Pack { layout: builder.finish()?, frames: Vec::new(), flags: DESCRIPTOR_ELSEWHERE })
}
