//! The same sections through the C compiler, for machines whose relocations our writer does not know.

use offload_embed::assembly;

use super::names::Names;
use crate::env::CargoEnv;
use crate::error::{Error, Result};
use crate::fs;
use crate::packing::Pack;

/// Assembles note, descriptor and pack into `lib{archive}.a`.
pub(super) fn assemble(env: &CargoEnv, names: &Names, pack: &Pack) -> Result<()> {
    let scratch = fs::scratch(&env.out_dir)?;
    let pack_path = scratch.path().join("images.pack");
    let source = scratch.path().join("images.S");
    fs::publish(&pack_path, |out| pack.write_to(out))?;
    let pack_name = pack_path.to_str().filter(|path| !path.contains(['"', '\\', '\n']));
    let pack_name = pack_name
        .ok_or_else(|| Error::new(format!("the assembler cannot read the path `{}`", pack_path.display())))?;
    let text = assembly::source(&env.cfg.arch, &names.anchor, pack.info(), pack_name);
    fs::publish(&source, |out| out.write_all(text.as_bytes()))?;
    let compiled = cc::Build::new()
        .file(&source)
        .cargo_metadata(false)
        .warnings(false)
        .debug(false)
        .out_dir(scratch.path())
        .try_compile(&names.archive);
    compiled.map_err(|error| {
        Error::new(format!("the C compiler could not assemble the images: {error}"))
            .with_hint(format!("set CC_{} to a compiler for that target", env.target.replace('-', "_")))
    })?;
    let archive = format!("lib{}.a", names.archive);
    let built = fs::read(&scratch.path().join(&archive))?;
    fs::publish(&env.out_dir.join(&archive), |out| out.write_all(&built))
}
