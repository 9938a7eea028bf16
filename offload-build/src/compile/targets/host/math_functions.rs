//! Functions of mathematics on `float` that stand in for those of PoCL's library: without branches, at the bounds of
//! OpenCL C, and inlined (`host_math.cl`).

use std::collections::BTreeSet;

use offload_workgroup::ir::declared_functions;

const SOURCE: &str = include_str!("../../device/host_math.cl");
/// The start of each function.
const PUBLIC: &str = "\nOFFLOAD_PUBLIC float ";

/// OpenCL C of the functions that `modules` call, if they call some.
pub(super) fn source(modules: &[String]) -> Option<String> {
    let mut called = BTreeSet::new();
    called.extend(modules.iter().flat_map(|module| declared_functions(module)));
    let mut parts = SOURCE.split(PUBLIC);
    let common = parts.next()?;
    let mut functions = String::new();
    for part in parts {
        let name = part.split('(').next().unwrap_or_default();
        if called.contains(symbol(name).as_str()) {
            functions.push_str(PUBLIC);
            functions.push_str(part);
        }
    }
    (!functions.is_empty()).then(|| format!("{common}{functions}"))
}

/// The symbol of the function `name` of a `float`, as PoCL's headers rename it.
fn symbol(name: &str) -> String {
    let name = format!("_cl_{name}");
    format!("_Z{}{name}f", name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source_for(declarations: &str) -> Option<String> {
        source(&[declarations.to_string()])
    }

    #[test]
    fn called_functions_alone_are_compiled() {
        let text =
            source_for("declare float @_Z7_cl_expf(float)\ndeclare float @_Z7_cl_sinf(float)\n").unwrap();
        assert_eq!(text.matches(PUBLIC).count(), 1);
        assert!(text.contains("OFFLOAD_PUBLIC float exp(float x)") && text.contains("offload_scale("));
    }

    #[test]
    fn other_types_and_functions_are_left_to_the_library() {
        assert_eq!(source_for("declare double @_Z7_cl_expd(double)\n"), None);
        assert_eq!(source_for("declare <4 x float> @_Z7_cl_expDv4_f(<4 x float>)\n"), None);
        assert_eq!(source_for("declare float @_Z7_cl_sinf(float)\n"), None);
        assert_eq!(source_for("define float @_Z7_cl_expf(float %x) {\n}\n"), None);
    }

    #[test]
    fn every_function_is_found() {
        let names = ["erf", "exp", "exp10", "exp2", "log", "log10", "log2", "tanh"];
        let declarations = names.map(|name| format!("declare float @{}(float)\n", symbol(name))).concat();
        assert_eq!(source_for(&declarations).unwrap(), SOURCE);
    }
}
