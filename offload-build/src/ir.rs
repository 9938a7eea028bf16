//! What has to be known of LLVM IR, read from its text form.
//!
//! Text, not bitcode, because its lines are stable across releases and no library is needed
//! (<https://llvm.org/docs/LangRef.html>).

mod calls;
mod kernels;
mod prepare;
mod rewrite;

use offload_format::pack::{ArgInfo, ArgKind, KernelInfo};

pub(crate) use calls::{aspects, declared, reaching};
pub(crate) use kernels::kernels;
pub(crate) use prepare::{LocalArguments, Prepared, prepare};
pub(crate) use rewrite::{in_global_memory, thread_local_state, with_conventions, without_processor};

/// A kernel found in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    pub(crate) name: String,
    pub(crate) args: Vec<KernelArg>,
    pub(crate) required_work_group: Option<[u32; 3]>,
}

/// One of its arguments, in OpenCL C's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KernelArg {
    pub(crate) name: String,
    /// As written, with typedefs.
    pub(crate) type_name: String,
    /// With typedefs resolved.
    pub(crate) base_type: String,
    pub(crate) kind: ArgKind,
    /// Size in bytes of a value, where its type in LLVM's IR says it.
    pub(crate) size: Option<u32>,
}

impl Kernel {
    /// The kernel's record; sizes and resources are filled in where an image tells them.
    pub(crate) fn record(&self) -> KernelInfo {
        let arg = |arg: &KernelArg| {
            ArgInfo::new(arg.kind).named(arg.name.clone(), arg.type_name.clone()).with_size(arg.size)
        };
        {
            let mut info = KernelInfo::new(self.name.clone());
            info.args = Some(self.args.iter().map(arg).collect());
            info.required_work_group = self.required_work_group;
            info
        }
    }
}

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
