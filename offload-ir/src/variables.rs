//! Variables of CUDA C++ that programs write and read, in images for the CPU: a constant with address and size for each,
//! which the image exports.

use offload_workgroup::ir::{first_type, symbol_at};

/// Prefix of the symbol with address and size of a variable, the interface of `offload-rt`.
const PREFIX: &str = "__offload_variable_";

/// clang's word for a variable that the host writes before kernels read it.
const INITIALIZED: &str = " externally_initialized ";

/// A copy of `module`, device code for the CPU, which exports its variables. `__constant__` ones are in writable memory.
pub fn with_variables(module: &str) -> String {
    let mut out = String::with_capacity(module.len());
    let mut exported = String::new();
    for line in module.split_inclusive('\n') {
        match Variable::parse(line) {
            Some(variable) => {
                exported.push_str(&variable.exported());
                out.push_str(&line.replacen(" constant ", " global ", 1));
            }
            None => out.push_str(line),
        }
    }
    out.push_str(&exported);
    out
}

struct Variable<'a> {
    name: &'a str,
    /// Whether linked modules share it.
    is_shared: bool,
    ty: &'a str,
}

impl<'a> Variable<'a> {
    /// The variable that `line` defines, if programs may write to it.
    fn parse(line: &'a str) -> Option<Variable<'a>> {
        let symbol = symbol_at(line.strip_prefix('@')?)?;
        let (linkage, definition) = symbol.rest.split_once(INITIALIZED)?;
        let value = definition.strip_prefix("constant ").or_else(|| definition.strip_prefix("global "))?;
        Some(Variable {
            name: symbol.name,
            is_shared: linkage.contains("linkonce_odr") || linkage.contains("weak_odr"),
            ty: first_type(value)?.ty,
        })
    }

    fn exported(&self) -> String {
        let Variable { name, is_shared, ty } = self;
        let linkage = if *is_shared { "weak_odr " } else { "" };
        format!(
            "@\"{PREFIX}{name}\" = {linkage}constant {{ ptr, i64 }} {{ ptr @\"{name}\", \
             i64 ptrtoint (ptr getelementptr ({ty}, ptr null, i32 1) to i64) }}, align 8\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_variables_are_writable_and_exported() {
        let text = with_variables(
            "@offsets = hidden externally_initialized constant [2 x float] zeroinitializer, align 4\n",
        );
        assert_eq!(
            text,
            "@offsets = hidden externally_initialized global [2 x float] zeroinitializer, align 4\n\
             @\"__offload_variable_offsets\" = constant { ptr, i64 } { ptr @\"offsets\", i64 ptrtoint (ptr \
             getelementptr ([2 x float], ptr null, i32 1) to i64) }, align 8\n"
        );
    }

    #[test]
    fn variables_of_templates_are_shared() {
        let text = with_variables(
            "@_Z5tableIiE = linkonce_odr hidden externally_initialized global %struct.S { i32 1 }, comdat\n",
        );
        assert!(text.contains("@\"__offload_variable__Z5tableIiE\" = weak_odr constant"), "{text}");
        assert!(text.contains("getelementptr (%struct.S, ptr null"), "{text}");
    }

    #[test]
    fn variables_of_the_device_alone_stay() {
        let module =
            "@_ZL6hidden = internal global i32 0, align 4\n@s = private constant [2 x i8] c\"a\\00\"\n";
        assert_eq!(with_variables(module), module);
    }
}
