//! The Rust that `offload_rt::include_kernels!` includes.

use crate::env::CargoEnv;
use crate::error::Result;
use crate::fs;

/// Writes `{module}.offload.rs` into `OUT_DIR`. It mentions `anchor`, the symbol on the module's descriptor.
pub(crate) fn write(env: &CargoEnv, module: &str, anchor: &str) -> Result<()> {
    let text = format!(
        "/// The kernels of the module `{module}`.\n\
         pub mod {identifier} {{\n    \
             ::offload_rt::kernel_module!(\"{module}\", {anchor});\n\
         }}\n",
        identifier = identifier(module),
    );
    fs::publish_if_changed(&env.out_dir.join(format!("{module}.offload.rs")), text.as_bytes())
}

/// `module` as a Rust identifier.
pub(crate) fn identifier(module: &str) -> String {
    module.replace('-', "_")
}
