//! The functions that a module calls and does not define.

use std::collections::BTreeSet;

use super::global_name;

/// The names of the functions that `module` declares, but for LLVM's own.
pub(crate) fn declared(module: &str) -> BTreeSet<&str> {
    let declarations = module.lines().filter(|line| line.starts_with("declare "));
    let names = declarations.filter_map(|line| global_name(line).map(|(name, _)| name));
    names.filter(|name| !name.starts_with("llvm.")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intrinsics_and_definitions_are_left_out() {
        let module = "declare spir_func i64 @_Z13get_global_idj(i32 noundef) #2\n\
            define void @k() {\n  call void @x()\n}\n\
            declare float @llvm.fmuladd.f32(float, float, float)\n\
            declare void @\"a b\"()\n";
        assert_eq!(declared(module), ["_Z13get_global_idj", "a b"].into());
    }
}
