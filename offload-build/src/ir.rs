//! What has to be known of LLVM IR, read from its text form.
//!
//! Text, not bitcode, because its lines are stable across releases and no library is needed
//! (<https://llvm.org/docs/LangRef.html>).

mod annotations;
mod aspects;
mod callgraph;
mod constant;
mod declared;
mod metadata;
mod prepare;
mod processor;
mod signature;
mod state;

pub(crate) use annotations::with_conventions;
pub(crate) use aspects::aspects;
pub(crate) use callgraph::reaching;
pub(crate) use constant::in_global_memory;
pub(crate) use declared::declared;
pub(crate) use metadata::kernels;
pub(crate) use prepare::{LocalArguments, Wanted, prepare};
pub(crate) use processor::without_processor;
pub(crate) use state::thread_local_state;

/// The name after the first `@` of `text`, and what follows it.
fn global_name(text: &str) -> Option<(&str, &str)> {
    let rest = text.split_once('@')?.1;
    if let Some(quoted) = rest.strip_prefix('"') {
        return quoted.split_once('"');
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "._$-".contains(c);
    let end = rest.find(|c| !plain(c)).unwrap_or(rest.len());
    rest.split_at_checked(end)
}

/// Whether a `define` line is of a kernel, on any GPU.
fn is_kernel(line: &str) -> bool {
    [" spir_kernel ", " ptx_kernel ", " amdgpu_kernel "].iter().any(|convention| line.contains(convention))
}
