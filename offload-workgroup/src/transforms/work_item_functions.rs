//! Work-item functions of kernels whose language is not OpenCL C: each loads its arguments from the argument array and
//! calls the kernel.
//!
//! Nothing is known of the kernel but its IR, where clang has applied the calling convention of the CPU: a structure of up
//! to 16 bytes is coerced to one value or two (`%s.coerce`, `%s.coerce0` and `%s.coerce1`), of 8 bytes each but the last; a
//! larger one is in memory.

use std::fmt::Write;

use crate::WORK_ITEM_PREFIX;
use crate::error::{Error, Result};
use crate::ir::numbering::ModuleNumbers;
use crate::ir::{
    Parameter, Parameters, defined_function, first_type, global_symbol, metadata_field, parameters,
};
use crate::kernel::{Argument, ArgumentKind, Kernel};

/// A copy of `module` with a work-item function for each of `kernels`, which it defines, and a table of the sizes of its
/// arguments.
///
/// A work-item function is called [`WORK_ITEM_PREFIX`] and the name of the kernel; the table is called `__offload_args_`
/// and that name, and has the number of arguments first.
///
/// # Errors
/// The module lacks a kernel, or the parameters of its definition do not match the arguments of the [`Kernel`].
pub fn add_work_item_functions(module: &str, kernels: &[Kernel]) -> Result<String> {
    let mut node = ModuleNumbers::new(module).free.node;
    let mut out = module.to_string();
    let mut metadata = String::new();
    for kernel in kernels {
        let line = module.lines().find(|line| defined_function(line) == Some(kernel.name.as_str()));
        let line = line.ok_or_else(|| Error::new(format!("kernel `{}` is not in its IR", kernel.name)))?;
        let caller = KernelCaller::new(kernel, line)?;
        let location = DebugLocation::new(module, line, kernel, node);
        if location.is_some() {
            node = node.saturating_add(2);
        }
        let location = location.unwrap_or_default();
        let _ = writeln!(out, "\n{}\n{}", caller.size_table()?, caller.function(&location)?);
        metadata.push_str(&location.nodes);
    }
    Ok(out + &metadata)
}

/// A kernel with the parameters of its definition.
struct KernelCaller<'a> {
    kernel: &'a Kernel,
    /// The parameters of each argument: two where a structure is coerced to two values.
    parameters: Vec<Vec<Parameter<'a>>>,
    /// ` #3`
    attributes: String,
}

/// The parameters of each argument; `None` if they are others.
///
/// An empty structure of C++ has a size of one byte and no parameter. Where some structures of one byte have one, it is
/// unknown which.
fn parameters_of<'a>(arguments: &[Argument], list: Vec<Parameter<'a>>) -> Option<Vec<Vec<Parameter<'a>>>> {
    let mut passed: Vec<Vec<Parameter<'a>>> = Vec::new();
    for parameter in list {
        match passed.last_mut().filter(|_| parameter.name().ends_with(".coerce1")) {
            Some(first) => first.push(parameter),
            None => passed.push(vec![parameter]),
        }
    }
    if passed.len() == arguments.len() {
        return Some(passed);
    }
    let empty = arguments.iter().filter(|argument| can_be_empty(argument)).count();
    if passed.len().checked_add(empty)? != arguments.len() {
        return None;
    }
    let mut passed = passed.into_iter();
    let mut parameters = Vec::new();
    for argument in arguments {
        parameters.push(if can_be_empty(argument) { Vec::new() } else { passed.next()? });
    }
    Some(parameters)
}

/// Whether it has the size that C++ gives an empty structure.
fn can_be_empty(argument: &Argument) -> bool {
    argument.is_structure && argument.size == Some(1)
}

/// Debug information of a work-item function.
#[derive(Default)]
struct DebugLocation {
    /// `, !dbg !12` of the call.
    call: String,
    /// ` !dbg !11` of the function.
    function: String,
    nodes: String,
}

impl<'a> KernelCaller<'a> {
    fn new(kernel: &'a Kernel, line: &'a str) -> Result<KernelCaller<'a>> {
        let rest = global_symbol(line).map(|symbol| symbol.rest).unwrap_or_default();
        let Parameters { list, rest: tail } = parameters(rest).unwrap_or_default();
        let passed = list.iter().filter(|parameter| !parameter.name().ends_with(".coerce1")).count();
        let Some(parameters) = parameters_of(&kernel.arguments, list) else {
            let error = format!(
                "kernel `{}` takes {} arguments, and the CPU's calling convention has {passed} for them",
                kernel.name,
                kernel.arguments.len(),
            );
            return Err(Error::new(error).with_hint("the CPU is passed nothing of empty structures: make those of one byte larger, or leave the empty ones out"));
        };
        let group = tail.split_once(" #").map(|(_, rest)| rest).unwrap_or_default();
        let number = group.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        let attributes = if number.is_empty() { String::new() } else { format!(" #{number}") };
        Ok(KernelCaller { kernel, parameters, attributes })
    }

    fn arguments(&self) -> impl Iterator<Item = (&Argument, &[Parameter<'a>])> {
        self.kernel.arguments.iter().zip(self.parameters.iter().map(Vec::as_slice))
    }

    /// The number of arguments, and the size of each.
    fn size_table(&self) -> Result<String> {
        let name = &self.kernel.name;
        let mut words = vec![format!("i32 {}", self.kernel.arguments.len())];
        for (argument, parameters) in self.arguments() {
            words.push(format!("i32 {}", self.size(argument, parameters)?));
        }
        Ok(format!(
            "@__offload_args_{name} = constant [{} x i32] [{}], align 4",
            words.len(),
            words.join(", ")
        ))
    }

    /// A number, or a constant expression.
    fn size(&self, argument: &Argument, parameters: &[Parameter<'_>]) -> Result<String> {
        if argument.kind != ArgumentKind::Value {
            return Ok("8".to_string());
        }
        if let Some(size) = argument.size {
            return Ok(size.to_string());
        }
        match parameters {
            [whole] if !is_coerced(whole) => {
                let ty = match byval_type(whole) {
                    Some(ty) => ty,
                    None => memory_type(self.type_of(whole)?),
                };
                Ok(format!("ptrtoint (ptr getelementptr ({ty}, ptr null, i32 1) to i32)"))
            }
            _ => Err(Error::new(format!(
                "argument `{}` of kernel `{}` has an unknown size",
                argument.name, self.kernel.name
            ))),
        }
    }

    fn type_of<'p>(&self, parameter: &Parameter<'p>) -> Result<&'p str> {
        match first_type(parameter.text) {
            Some(typed) => Ok(typed.ty),
            None => Err(Error::new(format!(
                "kernel `{}` has a parameter of an unknown type: {}",
                self.kernel.name, parameter.text
            ))),
        }
    }

    fn function(&self, location: &DebugLocation) -> Result<String> {
        let name = &self.kernel.name;
        let mut text = format!(
            "define void @{WORK_ITEM_PREFIX}{name}(ptr %args){}{} {{\n",
            self.attributes, location.function
        );
        let mut passed = Vec::new();
        for (index, (argument, parameters)) in self.arguments().enumerate() {
            let _ = writeln!(text, "  %a{index} = getelementptr inbounds ptr, ptr %args, i64 {index}");
            let _ = writeln!(text, "  %c{index} = load ptr, ptr %a{index}, align 8");
            for (number, parameter) in parameters.iter().enumerate() {
                let source = ParameterSource {
                    argument,
                    cell: format!("%c{index}"),
                    copy: format!("%p{index}"),
                    number,
                    value: format!("%v{index}.{number}"),
                };
                let value = self.load(parameter, &source, &mut text)?;
                let declared =
                    parameter.text.rsplit_once('%').map_or(parameter.text, |(declared, _)| declared);
                passed.push(format!("{} {value}", declared.trim_end()));
            }
        }
        let _ = writeln!(text, "  call void @{name}({}){}", passed.join(", "), location.call);
        text.push_str("  ret void\n}\n");
        Ok(text)
    }

    /// Appends the load of one parameter, and returns the value to pass.
    fn load(
        &self,
        parameter: &Parameter<'_>,
        source: &ParameterSource<'_>,
        text: &mut String,
    ) -> Result<String> {
        let ParameterSource { argument, cell, copy, number, value } = source;
        if parameter.is_by_value() {
            return Ok(cell.clone());
        }
        let ty = self.type_of(parameter)?;
        let is_by_reference = argument.kind == ArgumentKind::Value && ty == "ptr";
        if !is_by_reference && !is_coerced(parameter) {
            if ty == "i1" {
                let _ =
                    writeln!(text, "  {value}.m = load i8, ptr {cell}\n  {value} = icmp ne i8 {value}.m, 0");
            } else {
                let _ = writeln!(text, "  {value} = load {ty}, ptr {cell}");
            }
            return Ok(value.clone());
        }
        // A copy: the coerced values may be larger than the structure, and the kernel may write to its own copy.
        if *number == 0 {
            let size = argument.size.unwrap_or_default();
            let allocated = size.max(16).next_multiple_of(16);
            let _ = writeln!(text, "  {copy} = alloca [{allocated} x i8], align 16");
            let _ = writeln!(
                text,
                "  call void @llvm.memcpy.p0.p0.i64(ptr align 16 {copy}, ptr align 1 {cell}, i64 {size}, i1 false)"
            );
        }
        if is_by_reference {
            return Ok(copy.clone());
        }
        let offset = number.saturating_mul(8);
        let _ = writeln!(
            text,
            "  {value}.p = getelementptr inbounds i8, ptr {copy}, i64 {offset}\n  {value} = load {ty}, ptr {value}.p, align 8"
        );
        Ok(value.clone())
    }
}

/// The memory and the names that one parameter is loaded with.
struct ParameterSource<'a> {
    argument: &'a Argument,
    /// The pointer to the argument.
    cell: String,
    /// The pointer to a copy of it.
    copy: String,
    /// The number of the parameter among those of the argument.
    number: usize,
    value: String,
}

/// Whether a parameter is a structure, or a part of one, as a value of another type.
fn is_coerced(parameter: &Parameter<'_>) -> bool {
    [".coerce", ".coerce0", ".coerce1"].iter().any(|ending| parameter.name().ends_with(ending))
}

/// `%struct.s` of `ptr byval(%struct.s) align 4 %x`.
fn byval_type<'p>(parameter: &Parameter<'p>) -> Option<&'p str> {
    let (ty, _) = parameter.text.split_once(" byval(")?.1.split_once(')')?;
    Some(ty)
}

/// The type that a value has in memory.
fn memory_type(ty: &str) -> &str {
    if ty == "i1" { "i8" } else { ty }
}

impl DebugLocation {
    /// The nodes that describe the work-item function like its kernel, with the numbers `node` and the next: without them,
    /// a kernel that is inlined into it would lose its lines.
    fn new(module: &str, line: &str, kernel: &Kernel, node: u64) -> Option<DebugLocation> {
        let number = line.split_once("!dbg !")?.1.split([' ', '{']).next()?;
        let start = format!("!{number} = distinct !DISubprogram(");
        let subprogram = module.lines().find(|line| line.starts_with(&start))?;
        let file = metadata_field(subprogram, "file")?;
        let unit = metadata_field(subprogram, "unit")?;
        let line = metadata_field(subprogram, "line").unwrap_or("0");
        let ty = metadata_field(subprogram, "type")?;
        let call = node.checked_add(1)?;
        let name = &kernel.name;
        Some(DebugLocation {
            call: format!(", !dbg !{call}"),
            function: format!(" !dbg !{node}"),
            nodes: format!(
                "!{node} = distinct !DISubprogram(name: \"{WORK_ITEM_PREFIX}{name}\", scope: {file}, file: {file}, line: {line}, type: {ty}, scopeLine: {line}, spFlags: DISPFlagDefinition, unit: {unit})\n\
                 !{call} = !DILocation(line: {line}, scope: !{node})\n"
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argument(kind: ArgumentKind, size: Option<u32>) -> Argument {
        Argument::new("x", kind).with_size(size)
    }

    fn kernel(arguments: Vec<Argument>) -> Kernel {
        Kernel::new("k").with_arguments(arguments)
    }

    #[test]
    fn arguments_follow_the_calling_convention() {
        let line = "define hidden void @k(ptr noundef %x, <2 x float> %t.coerce0, float %t.coerce1, ptr noundef byval(%struct.big) align 8 %b, i1 noundef zeroext %f) #3 {\n  ret void\n}\n";
        let args = vec![
            argument(ArgumentKind::Global, None),
            argument(ArgumentKind::Value, Some(12)),
            argument(ArgumentKind::Value, None),
            argument(ArgumentKind::Value, Some(1)),
        ];
        let text = add_work_item_functions(line, &[kernel(args)]).unwrap();
        for part in [
            "@__offload_args_k = constant [5 x i32] [i32 4, i32 8, i32 12, i32 ptrtoint (ptr getelementptr (%struct.big, ptr null, i32 1) to i32), i32 1], align 4",
            "define void @__offload_work_item_k(ptr %args) #3 {",
            "  %v0.0 = load ptr, ptr %c0\n",
            "i64 12, i1 false)\n",
            "  %v1.1 = load float, ptr %v1.1.p, align 8\n",
            "  %v3.0 = icmp ne i8 %v3.0.m, 0\n",
            "  call void @k(ptr noundef %v0.0, <2 x float> %v1.0, float %v1.1, ptr noundef byval(%struct.big) align 8 %c2, i1 noundef zeroext %v3.0)\n",
        ] {
            assert!(text.contains(part), "no {part:?} in\n{text}");
        }
    }

    #[test]
    fn empty_structures_have_no_parameter() {
        let line = "define void @k(i8 noundef %flag, ptr noundef %x) #3 {\n";
        let arguments = vec![
            argument(ArgumentKind::Value, Some(1)).structure(),
            argument(ArgumentKind::Value, Some(1)),
            argument(ArgumentKind::Global, None),
            argument(ArgumentKind::Value, Some(1)).structure(),
        ];
        let text = add_work_item_functions(line, &[kernel(arguments)]).unwrap();
        assert!(text.contains("[i32 4, i32 1, i32 1, i32 8, i32 1]"), "{text}");
        assert!(text.contains("call void @k(i8 noundef %v1.0, ptr noundef %v2.0)\n"), "{text}");
        // One of two has a byte.
        let arguments = vec![
            argument(ArgumentKind::Value, Some(1)).structure(),
            argument(ArgumentKind::Value, Some(1)).structure(),
        ];
        let line = "define void @k(i8 %x.coerce) {\n";
        assert!(add_work_item_functions(line, &[kernel(arguments)]).is_err());
    }

    /// AArch64 passes a large structure as a pointer to a copy.
    #[test]
    fn structures_behind_pointers_are_copied() {
        let line = "define void @k(ptr dead_on_return noundef %b) #3 {\n";
        let text =
            add_work_item_functions(line, &[kernel(vec![argument(ArgumentKind::Value, Some(40))])]).unwrap();
        assert!(text.contains("  %p0 = alloca [48 x i8], align 16\n"), "{text}");
        assert!(text.contains("call void @k(ptr dead_on_return noundef %p0)\n"), "{text}");
    }

    #[test]
    fn arguments_that_do_not_match_are_refused() {
        let line = "define void @k(ptr noundef %x) {\n";
        let error = add_work_item_functions(line, &[kernel(vec![])]).unwrap_err().to_string();
        assert!(error.contains("kernel `k` takes 0 arguments") && error.contains("hint:"), "{error}");
        assert!(
            add_work_item_functions("", &[kernel(vec![])])
                .unwrap_err()
                .to_string()
                .contains("`k` is not in its IR")
        );
    }

    #[test]
    fn work_item_functions_have_debug_locations() {
        let module = "define hidden void @k() #0 !dbg !7 {\n\
            !2 = distinct !DICompileUnit(language: DW_LANG_C)\n\
            !7 = distinct !DISubprogram(name: \"k\", scope: !8, file: !8, line: 3, type: !9, spFlags: DISPFlagDefinition, unit: !2)\n";
        let text = add_work_item_functions(module, &[kernel(vec![])]).unwrap();
        assert!(text.contains("@__offload_work_item_k(ptr %args) #0 !dbg !8 {"), "{text}");
        assert!(text.contains("call void @k(), !dbg !9\n"), "{text}");
        assert!(text.contains("!8 = distinct !DISubprogram(name: \"__offload_work_item_k\", scope: !8, file: !8, line: 3, type: !9, scopeLine: 3, spFlags: DISPFlagDefinition, unit: !2)\n!9 = !DILocation(line: 3, scope: !8)\n"), "{text}");
    }
}
