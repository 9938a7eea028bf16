//! `spirv64`: LLVM's own SPIR-V back end.

use offload_format::{SpirvVersion, Target};
use offload_images::spirv;

use super::gpu::{Backend, Codegen, Shim, Vendor};
use super::unit::Unit;
use super::{Session, check};
use crate::cache::{Blob, KeyBuilder};
use crate::error::Result;
use crate::image::DeviceImage;
use crate::ir::LocalArguments;

/// Functions of OpenCL C that the back end knows nothing of or gets wrong.
const SHIM_SOURCE: &str = concat!(include_str!("spirv_shim.cl"), include_str!("spirv_library.cl"));

pub(super) fn compile(session: &Session<'_>, unit: &Unit<'_>, version: SpirvVersion) -> Result<DeviceImage> {
    let bytes = module(session, unit, version)?;
    let mut record = unit.image_record(session, Target::Spirv64(version));
    record.format_version = Some(version.word());
    record.aspects = check::spirv_aspects(&bytes.read()?)?;
    Ok(DeviceImage { record, bytes })
}

/// One SPIR-V module with the kernels of `unit`.
pub(super) fn module(session: &Session<'_>, unit: &Unit<'_>, version: SpirvVersion) -> Result<Blob> {
    session.tools().llvm()?.makes_spirv()?;
    let backend = backend(version);
    let module = backend.module(session, unit)?;
    let kernels = unit.names();
    let object = Codegen { module: &module, output: &["-O2", "-c"] };
    let generated = backend.codegen(session, object, |bytes| {
        check::spirv(bytes, &kernels)?;
        let corrected = spirv::with_character_formats(bytes)?;
        check::spirv_val(session, corrected.as_deref().unwrap_or(bytes))
    })?;
    match spirv::with_character_formats(&generated.read()?)? {
        None => Ok(generated),
        Some(corrected) => {
            let key = KeyBuilder::new("character formats 1").part(&generated.hash.0).finish();
            session.cache().get_or(key, || Ok(corrected))
        }
    }
}

/// One front end serves all versions: the version is in the code generator's target alone.
pub(super) fn backend(version: SpirvVersion) -> Backend {
    Backend {
        name: "SPIR-V",
        front_end: vec!["--target=spirv64-unknown-unknown".to_string()],
        common: None,
        vendor: Vendor::default(),
        machine: vec![format!("--target=spirv64{version}-unknown-unknown")],
        // Without clang's own header: it declares as built-in what the shim defines.
        shim: Shim { source: SHIM_SOURCE, flags: vec!["-cl-no-stdinc".to_string()] },
        libraries: Vec::new(),
        local_arguments: LocalArguments::Kept,
        attributes: Default::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_in_the_triple() {
        let backend = backend(SpirvVersion::new(4).unwrap());
        assert_eq!(backend.machine, ["--target=spirv64v1.4-unknown-unknown"]);
        assert_eq!(backend.front_end, ["--target=spirv64-unknown-unknown"]);
    }
}
