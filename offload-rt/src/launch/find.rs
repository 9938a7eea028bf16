//! Looking a kernel up by its name.

use crate::error::Error;
use crate::text::escape;
use offload_format::pack::KernelInfo;

/// The record of the kernel `name`.
pub(crate) fn find<'k>(kernels: &'k [KernelInfo], name: &str) -> Result<&'k KernelInfo, Error> {
    let found = kernels.iter().find(|kernel| kernel.name == name);
    found.ok_or_else(|| {
        let names: Vec<String> = kernels.iter().map(|kernel| escape(&kernel.name)).collect();
        let names = if names.is_empty() { "no kernels".to_string() } else { names.join(", ") };
        Error::launch(name, format!("the image has no such kernel\nhint: it has {names}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_kernel_names_the_known_ones() {
        let error = find(&[KernelInfo { name: "k".into(), ..KernelInfo::default() }], "saxpi")
            .unwrap_err()
            .to_string();
        assert!(error.contains("`saxpi`") && error.contains("hint: it has k"), "{error}");
    }
}
