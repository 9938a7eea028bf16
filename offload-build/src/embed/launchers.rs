//! The host part of CUDA C++: an archive of objects for the final link, beside that with the pack.
//!
//! Constructors register the kernels, and nothing refers to them: every object is linked.

use offload_embed::archive::{self, Member};
use offload_format::Hash128;

use super::{Embedding, Owner};
use crate::env::CargoEnv;
use crate::error::Result;
use crate::fs;
use crate::module::LauncherObject;

/// Writes the archive of `objects`, if there are any, and tells cargo to link it.
pub(crate) fn embed(
    env: &CargoEnv,
    owner: Owner<'_>,
    wanted: Embedding,
    objects: &[LauncherObject],
) -> Result<()> {
    let prefix = format!("offload-launchers{}", super::name(env, owner));
    let mut contents = Vec::new();
    for object in objects {
        contents.push(object.object.read()?);
    }
    let mut parts: Vec<&[u8]> = vec![env.package.as_bytes(), b"\0", env.version.as_bytes(), b"\0"];
    parts.extend(contents.iter().map(Vec::as_slice));
    let archive = format!("{prefix}_{}", Hash128::digest_parts(&parts));
    super::remove_stale(env, &prefix, &archive)?;
    if objects.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = (0..objects.len()).map(|index| format!("launch{index}.o")).collect();
    let mut members = Vec::new();
    for (name, (object, content)) in names.iter().zip(objects.iter().zip(&contents)) {
        let symbols = object.symbols.iter().map(String::as_str).collect();
        members.push(Member { name, symbols, content });
    }
    let path = env.out_dir.join(format!("lib{archive}.a"));
    fs::publish(&path, |out| archive::write(out, &members))?;
    env.link(&archive, wanted.archives());
    if objects.iter().any(|object| object.needs_cpp_library) {
        env.link_cpp_library();
    }
    Ok(())
}
