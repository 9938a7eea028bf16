//! What starts a work-item of a kernel whose language is not OpenCL C: a function that takes the array of arguments and
//! calls the kernel, in IR's own words.
//!
//! Of the kernel nothing is known but its IR, where clang has divided structures by the rules of the CPU: one of up to
//! 16 bytes is one value or two (`%s.coerce`, `%s.coerce0` and `%s.coerce1`), of 8 bytes each but the last; a larger
//! one is in memory.

use std::fmt::Write;

use offload_format::pack::ArgKind;

use super::WORK_ITEM_PREFIX;
use super::numbered::Numbered;
use crate::error::{Error, Result};
use crate::ir::types::first_type;
use crate::ir::{Kernel, KernelArg, Param, debug, global_name, params};

/// A copy of `module` with a function of one work-item for each of `kernels`, which it defines, and a table of the
/// sizes of its arguments.
///
/// # Errors
/// The module lacks a kernel, or its parameters are not those that are known.
pub(crate) fn with_entries(module: &str, kernels: &[Kernel]) -> Result<String> {
    let mut node = Numbered::of(module).free.node;
    let mut out = module.to_string();
    let mut metadata = String::new();
    for kernel in kernels {
        let defined = module.lines().filter(|line| line.starts_with("define "));
        let mut named = defined.filter(|line| global_name(line).is_some_and(|(name, _)| name == kernel.name));
        let line =
            named.next().ok_or_else(|| Error::new(format!("kernel `{}` is not in its IR", kernel.name)))?;
        let entry = Entry::of(kernel, line)?;
        let location = location(module, line, &entry, node);
        if location.is_some() {
            node = node.saturating_add(2);
        }
        let location = location.unwrap_or_default();
        let _ = writeln!(out, "\n{}\n{}", entry.table()?, entry.function(&location)?);
        metadata.push_str(&location.nodes);
    }
    Ok(out + &metadata)
}

/// A kernel with its parameters in IR.
struct Entry<'a> {
    kernel: &'a Kernel,
    /// As they are written, by argument.
    parameters: Vec<Vec<Param<'a>>>,
    /// ` #3`
    attributes: String,
}

/// What a debugger is told of an entry.
#[derive(Default)]
struct Location {
    /// `, !dbg !12` of the call.
    call: String,
    /// ` !dbg !11` of the function.
    function: String,
    nodes: String,
}

impl<'a> Entry<'a> {
    fn of(kernel: &'a Kernel, line: &'a str) -> Result<Entry<'a>> {
        let rest = global_name(line).map(|(_, rest)| rest).unwrap_or_default();
        let (list, tail) = params(rest).unwrap_or_default();
        let mut parameters: Vec<Vec<Param<'_>>> = Vec::new();
        for param in list {
            match parameters.last_mut().filter(|_| param.name().ends_with(".coerce1")) {
                Some(pieces) => pieces.push(param),
                None => parameters.push(vec![param]),
            }
        }
        if parameters.len() != kernel.args.len() {
            let error = format!(
                "kernel `{}` takes {} arguments, and the CPU's calling convention has {} for them",
                kernel.name,
                kernel.args.len(),
                parameters.len()
            );
            return Err(Error::new(error).with_hint("leave empty structures out of its arguments"));
        }
        let group = tail.split_once(" #").map(|(_, rest)| rest).unwrap_or_default();
        let number = group.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        let attributes = if number.is_empty() { String::new() } else { format!(" #{number}") };
        Ok(Entry { kernel, parameters, attributes })
    }

    fn arguments(&self) -> impl Iterator<Item = (&KernelArg, &[Param<'a>])> {
        self.kernel.args.iter().zip(self.parameters.iter().map(Vec::as_slice))
    }

    /// As the wrapper of OpenCL C has it: how many arguments, and the size of each.
    fn table(&self) -> Result<String> {
        let sizes = self.arguments().map(|(arg, pieces)| self.size(arg, pieces));
        let sizes = sizes.collect::<Result<Vec<_>>>()?;
        let words: Vec<String> =
            std::iter::once(sizes.len().to_string()).chain(sizes).map(|size| format!("i32 {size}")).collect();
        let name = &self.kernel.name;
        Ok(format!(
            "@__offload_args_{name} = constant [{} x i32] [{}], align 4",
            words.len(),
            words.join(", ")
        ))
    }

    /// A number, or a constant that LLVM computes.
    fn size(&self, arg: &KernelArg, pieces: &[Param<'_>]) -> Result<String> {
        if arg.kind != ArgKind::Value {
            return Ok("8".to_string());
        }
        let computed = |ty: &str| format!("ptrtoint (ptr getelementptr ({ty}, ptr null, i32 1) to i32)");
        match (arg.size, pieces) {
            (Some(size), _) => Ok(size.to_string()),
            (None, [whole]) if !is_piece(whole) => match structure(whole) {
                Some(ty) => Ok(computed(ty)),
                None => Ok(computed(in_memory(self.type_of(whole)?))),
            },
            _ => {
                let error = format!(
                    "argument `{}` of kernel `{}` has a size that is not known",
                    arg.name, self.kernel.name
                );
                Err(Error::new(error))
            }
        }
    }

    fn type_of<'p>(&self, param: &Param<'p>) -> Result<&'p str> {
        let unknown = || {
            let error = format!(
                "kernel `{}` has a parameter of a type that is not known: {}",
                self.kernel.name, param.text
            );
            Error::new(error)
        };
        first_type(param.text).map(|typed| typed.ty).ok_or_else(unknown)
    }

    fn function(&self, location: &Location) -> Result<String> {
        let name = &self.kernel.name;
        let mut text = format!(
            "define void @{WORK_ITEM_PREFIX}{name}(ptr %args){}{} {{\n",
            self.attributes, location.function
        );
        let mut passed = Vec::new();
        for (index, (arg, pieces)) in self.arguments().enumerate() {
            let _ = writeln!(text, "  %a{index} = getelementptr inbounds ptr, ptr %args, i64 {index}");
            let _ = writeln!(text, "  %c{index} = load ptr, ptr %a{index}, align 8");
            for (number, piece) in pieces.iter().enumerate() {
                let value = format!("%v{index}.{number}");
                let read = Read {
                    arg,
                    cell: format!("%c{index}"),
                    place: format!("%p{index}"),
                    number,
                    value: &value,
                };
                let value = self.read(piece, &read, &mut text)?;
                let declared =
                    piece.text.rsplit_once('%').map_or(piece.text, |(declared, _)| declared).trim_end();
                passed.push(format!("{declared} {value}"));
            }
        }
        let _ = writeln!(text, "  call void @{name}({}){}", passed.join(", "), location.call);
        text.push_str("  ret void\n}\n");
        Ok(text)
    }

    /// Appends what reads one parameter, and returns what is passed.
    fn read(&self, param: &Param<'_>, read: &Read<'_>, text: &mut String) -> Result<String> {
        let Read { arg, cell, place, number, value } = read;
        if param.by_value() {
            return Ok(cell.clone());
        }
        let ty = self.type_of(param)?;
        let by_reference = arg.kind == ArgKind::Value && ty == "ptr";
        if !by_reference && !is_piece(param) {
            let (stored, loaded) =
                (in_memory(ty), if ty == "i1" { format!("{value}.m") } else { value.to_string() });
            let _ = writeln!(text, "  {loaded} = load {stored}, ptr {cell}");
            if ty == "i1" {
                let _ = writeln!(text, "  {value} = icmp ne i8 {loaded}, 0");
            }
            return Ok(value.to_string());
        }
        // A copy: the pieces may be larger than the structure, and the kernel may write to what is not its own.
        if *number == 0 {
            let size = arg.size.unwrap_or_default();
            let room = size.max(16).next_multiple_of(16);
            let _ = writeln!(text, "  {place} = alloca [{room} x i8], align 16");
            let _ = writeln!(
                text,
                "  call void @llvm.memcpy.p0.p0.i64(ptr align 16 {place}, ptr align 1 {cell}, i64 {size}, i1 false)"
            );
        }
        if by_reference {
            return Ok(place.clone());
        }
        let _ = writeln!(
            text,
            "  {value}.p = getelementptr inbounds i8, ptr {place}, i64 {}",
            number.saturating_mul(8)
        );
        let _ = writeln!(text, "  {value} = load {ty}, ptr {value}.p, align 8");
        Ok(value.to_string())
    }
}

/// What one parameter is read from.
struct Read<'a> {
    arg: &'a KernelArg,
    /// Where the argument lies.
    cell: String,
    /// Where its copy lies, if it has one.
    place: String,
    /// Which of the argument's pieces it is.
    number: usize,
    value: &'a str,
}

/// Whether a parameter is a structure, or a part of one, as a value of another type.
fn is_piece(param: &Param<'_>) -> bool {
    [".coerce", ".coerce0", ".coerce1"].iter().any(|ending| param.name().ends_with(ending))
}

/// `%struct.s` of `ptr byval(%struct.s) align 4 %x`.
fn structure<'p>(param: &Param<'p>) -> Option<&'p str> {
    let (ty, _) = param.text.split_once(" byval(")?.1.split_once(')')?;
    Some(ty)
}

/// The type that a value has in memory.
fn in_memory(ty: &str) -> &str {
    if ty == "i1" { "i8" } else { ty }
}

/// The nodes that describe an entry like its kernel, with the numbers `node` and the next: without them, a kernel that is
/// inlined into it would lose its lines.
fn location(module: &str, line: &str, entry: &Entry<'_>, node: u64) -> Option<Location> {
    let number = line.split_once("!dbg !")?.1.split([' ', '{']).next()?;
    let start = format!("!{number} = distinct !DISubprogram(");
    let described = module.lines().find(|line| line.starts_with(&start))?;
    let of = |key| debug::field(described, key);
    let (file, unit, line) = (of("file")?, of("unit")?, of("line").unwrap_or("0"));
    let (call, ty) = (node.checked_add(1)?, of("type")?);
    let name = &entry.kernel.name;
    Some(Location {
        call: format!(", !dbg !{call}"),
        function: format!(" !dbg !{node}"),
        nodes: format!(
            "!{node} = distinct !DISubprogram(name: \"{WORK_ITEM_PREFIX}{name}\", scope: {file}, file: {file}, line: {line}, type: {ty}, scopeLine: {line}, spFlags: DISPFlagDefinition, unit: {unit})\n\
             !{call} = !DILocation(line: {line}, scope: !{node})\n"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arg(kind: ArgKind, size: Option<u32>) -> KernelArg {
        let [name, type_name, base_type] = ["x", "t", "t"].map(str::to_string);
        KernelArg { name, type_name, base_type, kind, size, element_size: None, is_const: false }
    }

    fn kernel(args: Vec<KernelArg>) -> Kernel {
        Kernel { name: "k".into(), args, required_work_group: None }
    }

    #[test]
    fn arguments_are_read_as_the_cpu_takes_them() {
        let line = "define hidden void @k(ptr noundef %x, <2 x float> %t.coerce0, float %t.coerce1, ptr noundef byval(%struct.big) align 8 %b, i1 noundef zeroext %f) #3 {\n  ret void\n}\n";
        let args = vec![
            arg(ArgKind::Global, None),
            arg(ArgKind::Value, Some(12)),
            arg(ArgKind::Value, None),
            arg(ArgKind::Value, Some(1)),
        ];
        let text = with_entries(line, &[kernel(args)]).unwrap();
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

    /// AArch64 passes a large structure as a pointer to a copy.
    #[test]
    fn structures_behind_pointers_are_copied() {
        let line = "define void @k(ptr dead_on_return noundef %b) #3 {\n";
        let text = with_entries(line, &[kernel(vec![arg(ArgKind::Value, Some(40))])]).unwrap();
        assert!(text.contains("  %p0 = alloca [48 x i8], align 16\n"), "{text}");
        assert!(text.contains("call void @k(ptr dead_on_return noundef %p0)\n"), "{text}");
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let line = "define void @k(ptr noundef %x) {\n";
        let error = with_entries(line, &[kernel(vec![])]).unwrap_err().to_string();
        assert!(error.contains("kernel `k` takes 0 arguments") && error.contains("hint:"), "{error}");
        assert!(
            with_entries("", &[kernel(vec![])]).unwrap_err().to_string().contains("`k` is not in its IR")
        );
    }

    #[test]
    fn debuggers_are_told_of_an_entry() {
        let module = "define hidden void @k() #0 !dbg !7 {\n\
            !2 = distinct !DICompileUnit(language: DW_LANG_C)\n\
            !7 = distinct !DISubprogram(name: \"k\", scope: !8, file: !8, line: 3, type: !9, spFlags: DISPFlagDefinition, unit: !2)\n";
        let text = with_entries(module, &[kernel(vec![])]).unwrap();
        assert!(text.contains("@__offload_work_item_k(ptr %args) #0 !dbg !8 {"), "{text}");
        assert!(text.contains("call void @k(), !dbg !9\n"), "{text}");
        assert!(text.contains("!8 = distinct !DISubprogram(name: \"__offload_work_item_k\", scope: !8, file: !8, line: 3, type: !9, scopeLine: 3, spFlags: DISPFlagDefinition, unit: !2)\n!9 = !DILocation(line: 3, scope: !8)\n"), "{text}");
    }
}
