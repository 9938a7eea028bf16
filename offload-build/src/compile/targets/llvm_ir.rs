//! LLVM bitcode or IR text that another compiler made.

use crate::cache::{Blob, KeyBuilder};
use crate::compile::Session;
use crate::compile::steps::action::{Step, link_args};
use crate::compile::steps::check;
use crate::error::Result;
use crate::module::SourceFile;

/// The file as IR text of the installed release; optimised or not, as it was. clang would take the module for one of its
/// default target, the linker keeps the module's own.
pub(crate) fn text(session: &Session<'_>, file: &SourceFile) -> Result<Blob> {
    let raw = session.shared.files.read(session.context(), &file.path)?;
    let ending = if raw.read()?.starts_with(b"BC") { ".bc" } else { ".ll" };
    let tool = session.tools().llvm_link()?;
    let inputs = vec![(&raw, ending)];
    let step = Step { name: "read IR", tool: &tool, args: link_args(1), inputs, files: vec![] };
    let text = session
        .step(&step, check::ir_text)
        .map_err(|error| error.context(format!("`{}`", file.path.display())))?;
    let key = KeyBuilder::new("IR of any code object").part(&text.hash.0).finish();
    session.cache().get_or(key, || Ok(any_code_object(&text.read_text()?).into_bytes()))
}

/// AMD's versions 5 and 6 of the code object have the same calling convention
/// (<https://llvm.org/docs/AMDGPUUsage.html#code-object-metadata>), so a module for one may become the other: the
/// code generator's command line says which. Under its own name the flag would keep libraries from being linked.
fn any_code_object(module: &str) -> String {
    const FLAG: &str = "!\"amdhsa_code_object_version\", i32 ";
    ["500", "600"].iter().fold(module.to_string(), |text, version| {
        text.replace(&format!("{FLAG}{version}"), &format!("!\"offload_code_object_version\", i32 {version}"))
    })
}

#[cfg(test)]
mod tests {
    use super::any_code_object;

    #[test]
    fn versions_with_one_calling_convention_are_exchangeable() {
        for (version, renamed) in [
            (500, "offload_code_object_version"),
            (600, "offload_code_object_version"),
            (400, "amdhsa_code_object_version"),
        ] {
            let module = format!("!0 = !{{i32 1, !\"amdhsa_code_object_version\", i32 {version}}}\n");
            let expected = format!("!0 = !{{i32 1, !\"{renamed}\", i32 {version}}}\n");
            assert_eq!(any_code_object(&module), expected);
        }
    }
}
