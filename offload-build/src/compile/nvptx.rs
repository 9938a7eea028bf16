//! `nvptx:sm_NN`: PTX by LLVM's back end, in the lowest version that has the architecture.

use offload_format::pack::NewImage;
use offload_format::{SmArch, Target};

use super::gpu::{self, Backend};
use super::{Compiled, Scanned, Session, check, kernel_names};
use crate::cache::Blob;
use crate::error::{Error, Result};
use crate::ir::LocalArguments;

/// The functions of OpenCL C that libclc lacks.
const SHIM: &str = include_str!("nvptx_shim.cl");
/// The same, with the mathematics of libdevice in place of libclc's own, which is two to five times the code.
const SHIM_WITH_LIBDEVICE: &str = concat!(include_str!("nvptx_shim.cl"), include_str!("nvptx_libdevice.cl"));
/// libclc's file for NVIDIA until release 22, and its directory since.
const LIBCLC: [&str; 2] = ["nvptx64--nvidiacl.bc", "nvptx64-nvidia-cuda"];

pub(super) fn compile(session: &Session<'_>, scanned: &[Scanned], sm: &SmArch) -> Result<Compiled> {
    let raw = ptx(session, scanned, sm)?;
    let mut image = NewImage::new(&session.sources.module, Target::Nvptx(sm.clone()));
    let (major, minor) = version(sm)?;
    image.format_version = u32::from(major) << 16 | u32::from(minor) << 8;
    image.kernels = gpu::records(scanned);
    Ok(Compiled { image, raw })
}

/// The text for `sm`, from which cubins are made as well.
pub(super) fn ptx(session: &Session<'_>, scanned: &[Scanned], sm: &SmArch) -> Result<Blob> {
    let named = |error: Error| error.context(format!("target `nvptx:{sm}`"));
    let backend = backend(session, scanned, sm).map_err(named)?;
    let module = backend.module(session, scanned).map_err(named)?;
    let kernels = kernel_names(scanned);
    // The driver's compiler does not see the source again: what LLVM leaves undone stays undone.
    backend.codegen(session, (&module, &["-O3", "-S"]), |text| check::ptx(text, &kernels)).map_err(named)
}

fn backend(session: &Session<'_>, scanned: &[Scanned], sm: &SmArch) -> Result<Backend> {
    let required =
        scanned.iter().flat_map(|file| &file.kernels).filter(|kernel| kernel.required_work_group != [0; 3]);
    let attributes = required.map(|kernel| {
        let [x, y, z] = kernel.required_work_group;
        (kernel.name.clone(), format!("\"nvvm.reqntid\"=\"{x},{y},{z}\""))
    });
    let libdevice = session.finder.libdevice();
    Ok(Backend {
        name: "nvptx",
        machine: machine(sm, version(sm)?),
        shim: if libdevice.is_some() { SHIM_WITH_LIBDEVICE } else { SHIM },
        shim_flags: Vec::new(),
        libraries: [session.finder.libclc(&session.llvm, LIBCLC)?].into_iter().chain(libdevice).collect(),
        local_arguments: LocalArguments::Offsets,
        attributes: attributes.collect(),
    })
}

/// LLVM's default is a version of its own choosing, too low for new architectures: the version is always said.
fn machine(sm: &SmArch, (major, minor): (u8, u8)) -> Vec<String> {
    let feature = format!("+ptx{major}{minor}");
    [
        "--target=nvptx64-nvidia-cuda",
        &format!("-march={sm}"),
        "-Xclang",
        "-target-feature",
        "-Xclang",
        &feature,
    ]
    .map(str::to_string)
    .into()
}

fn version(sm: &SmArch) -> Result<(u8, u8)> {
    sm.min_ptx().ok_or_else(|| {
        let known: Vec<String> = SmArch::known().map(|sm| sm.to_string()).collect();
        Error::new(format!("the PTX version of `{sm}` is not known"))
            .hint(format!("known are {}", known.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_lowest_of_the_architecture() {
        let Target::Nvptx(sm) = "nvptx:sm_90a".parse().unwrap() else { panic!() };
        let machine = machine(&sm, version(&sm).unwrap());
        assert_eq!(machine[1], "-march=sm_90a");
        assert_eq!(machine[5], "+ptx80");
    }
}
