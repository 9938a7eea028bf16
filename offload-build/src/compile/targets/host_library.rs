//! A device library as a shared object, which images for `host` are bound to when they are loaded.

use std::collections::BTreeSet;

use offload_format::pack::NewImage;
use offload_format::{Aspects, HostLevel, Target};
use offload_ir::Interface;
use offload_workgroup::ir::declared_functions;

use crate::cache::KeyBuilder;
use crate::compile::Session;
use crate::compile::linking::imports::{self, LibraryIr};
use crate::compile::steps::action;
use crate::compile::targets::host::{codegen, cpu, libraries, library_ir, shared_object, waits_in_library};
use crate::compile::targets::host::{image_functions, sub_group_functions};
use crate::error::{Error, Result};
use crate::module::{DeviceImage, Library};

pub(crate) fn image(session: &Session<'_>, library: &Library, level: HostLevel) -> Result<DeviceImage> {
    let cpu = cpu(session, level)?;
    let whole = imports::link(session, library_ir(session, &cpu)?, &libraries(session, &cpu)?)?;
    let hidden = imports::hidden(session, &LibraryIr { library, ir: whole })?;
    let text = hidden.read_text()?;
    refuse_work_items(library, &text)?;
    let exported = imports::exported(library, &Interface::parse(&text))?;
    let exports = exported.iter().map(|name| (*name).to_string()).collect();
    let key =
        KeyBuilder::new("exports for host").part(&hidden.hash.0).part(format!("{exported:?}").as_bytes());
    let module =
        session.cache().get_or::<Error>(key.finish(), || Ok(with_exports(&text, &exported).into_bytes()))?;
    let bytes = shared_object(session, &[], &[codegen(session, &module, &cpu)?], &cpu)?;
    let record =
        NewImage { exports, aspects: Aspects::LINKER, ..NewImage::new(library.name(), Target::Host(level)) };
    Ok(DeviceImage { record, bytes })
}

/// The version of the interface between a program and its images.
const VERSION: u32 = 2;

fn with_exports(text: &str, functions: &BTreeSet<&str>) -> String {
    format!("{}\n@__offload_host_abi = constant i32 {VERSION}\n", offload_ir::exporting(text, functions))
}

/// What a work-item is knows the image of its kernel alone, which has the functions on images and textures too.
fn refuse_work_items(library: &Library, text: &str) -> Result<()> {
    let declared = declared_functions(text);
    let is_refused = |name: &&&str| {
        is_of_work_items(name)
            || image_functions::is_of_images(name)
            || sub_group_functions::is_of_sub_groups(name)
    };
    let Some(name) = declared.iter().find(is_refused) else { return Ok(()) };
    let error = format!(
        "the device library `{}` calls `{}`: for `host`, a library that is linked at load knows nothing of work-items, reads no images, and does not print",
        library.name(),
        action::written(name)
    );
    Err(Error::new(error).with_hint("pass the value to its function as an argument, or link it at build"))
}

fn is_of_work_items(name: &str) -> bool {
    const PARTS: [&str; 14] = [
        "get_work_dim",
        "get_global_id",
        "get_local_id",
        "get_group_id",
        "get_global_size",
        "get_local_size",
        "get_enqueued_local_size",
        "get_num_groups",
        "get_global_offset",
        "get_local_linear_id",
        "get_global_linear_id",
        "barrier",
        "__offload_printf",
        "__offload_wait",
    ];
    let waits = waits_in_library(name);
    waits
        || PARTS.iter().any(|part| {
            name.strip_prefix("_Z")
                .unwrap_or(name)
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .trim_start_matches("_cl_")
                .starts_with(part)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_work_items_are_known() {
        for name in [
            "_Z13get_global_idj",
            "_Z7barrierj",
            "_Z22_cl_work_group_barrierj",
            "__offload_printf",
            "_Z21async_work_group_copyPU3AS3fPU3AS1Kfmj",
        ] {
            assert!(is_of_work_items(name), "{name}");
        }
        for name in ["_Z7_cl_expf", "barter", "fmaf", "_Z10bf16_roundf"] {
            assert!(!is_of_work_items(name), "{name}");
        }
    }
}
