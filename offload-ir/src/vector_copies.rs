//! Copies of CUDA's vectors of 16 bytes, as a load and a store of an LLVM vector.
//!
//! clang copies a `float4` with `llvm.memcpy`. LLVM's passes make integers of such copies up to eight bytes
//! (<https://github.com/llvm/llvm-project/blob/llvmorg-22.1.0/llvm/lib/Transforms/InstCombine/InstCombineCalls.cpp>), and
//! leave a larger variable that is only copied in local memory; the code generator for NVIDIA copies eight bytes at a time.
//! With a vector the variable is in registers, and one instruction loads or stores it.

use std::collections::BTreeMap;
use std::fmt::Write;

use offload_workgroup::ir::parameters;

/// The intrinsic that copies, with whatever address spaces.
const COPY: &str = "call void @llvm.memcpy.";
/// Bytes of a vector, which its address is a multiple of.
const SIZE: &str = "i64 16";
const ALIGN: &str = "align 16 ";
const FIELDS: &str = "!tbaa.struct ";

/// `module` in which structures of 16 bytes, of fields of four or of eight, are loaded and stored where they are copied.
///
/// A copy of 16 bytes reads all of them before it writes the first, as a load before a store does. An element is a whole
/// field, so that a field that has no value yet stays one, and makes no other so.
pub(crate) fn with_vector_copies(module: &str) -> String {
    if !module.contains(FIELDS) {
        return module.to_string();
    }
    let nodes: BTreeMap<&str, &str> = module.lines().filter_map(node).collect();
    let mut out = String::with_capacity(module.len());
    let mut number = 0u32;
    for line in module.split_inclusive('\n') {
        match VectorCopy::parse(line, &nodes) {
            Some(copy) => {
                number = number.saturating_add(1);
                copy.write(&mut out, number);
            }
            None => out.push_str(line),
        }
    }
    out
}

/// The name of a metadata node, and what it lists.
fn node(line: &str) -> Option<(&str, &str)> {
    let (name, list) = line.strip_prefix('!')?.split_once(" = !{")?;
    Some((name, list.strip_suffix('}')?))
}

struct VectorCopy<'a> {
    /// With its type.
    to: String,
    from: String,
    vector: &'static str,
    /// The metadata that a load or store may have too.
    location: &'a str,
}

impl<'a> VectorCopy<'a> {
    fn parse(line: &'a str, nodes: &BTreeMap<&str, &str>) -> Option<VectorCopy<'a>> {
        let (_, call) = line.split_once(COPY)?;
        let arguments = parameters(call.get(call.find('(')?..)?)?;
        let [to, from, size, volatile] = arguments.list.as_slice() else { return None };
        if size.text != SIZE || volatile.text != "i1 false" {
            return None;
        }
        let fields = line.split_once(FIELDS)?.1.split([',', '\n']).next()?;
        Some(VectorCopy {
            to: pointer(to.type_text(), to.text)?,
            from: pointer(from.type_text(), from.text)?,
            vector: vector(nodes.get(fields.strip_prefix('!')?)?)?,
            location: line.split_once(", !dbg ").map_or("", |(_, rest)| first_word(rest)),
        })
    }

    fn write(&self, out: &mut String, number: u32) {
        let VectorCopy { to, from, vector, location } = self;
        let location = if location.is_empty() { String::new() } else { format!(", !dbg {location}") };
        let value = format!("%offload.copy.{number}");
        let _ = writeln!(out, "  {value} = load {vector}, {from}, align 16{location}");
        let _ = writeln!(out, "  store {vector} {value}, {to}, align 16{location}");
    }
}

fn first_word(text: &str) -> &str {
    text.split([',', '\n']).next().unwrap_or_default()
}

/// The argument as an operand of a load, if it is known to be aligned.
fn pointer(type_text: &str, argument: &str) -> Option<String> {
    let (_, operand) = argument.split_once(ALIGN)?;
    let is_operand =
        ["%", "@", "getelementptr ", "addrspacecast "].iter().any(|start| operand.starts_with(start));
    is_operand.then(|| format!("{type_text} {operand}"))
}

/// The vector of as many elements as there are fields in a list of offsets, sizes and types
/// (<https://llvm.org/docs/LangRef.html#tbaa-struct-metadata>).
fn vector(fields: &str) -> Option<&'static str> {
    let mut sizes = Vec::new();
    let mut end = 0u64;
    let words: Vec<&str> = fields.split(", ").collect();
    for field in words.chunks(3) {
        let [offset, size, _] = field else { return None };
        let [offset, size] = [offset, size].map(|word| word.strip_prefix("i64 ")?.parse::<u64>().ok());
        let size = size?;
        if offset? != end {
            return None;
        }
        end = end.checked_add(size)?;
        sizes.push(size);
    }
    match sizes.as_slice() {
        [4, 4, 4, 4] => Some("<4 x i32>"),
        [8, 8] => Some("<2 x i64>"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODES: &str = "!20 = !{i64 0, i64 4, !21, i64 4, i64 4, !21, i64 8, i64 4, !21, i64 12, i64 4, !21}\n\
        !30 = !{i64 0, i64 8, !21, i64 8, i64 8, !21}\n\
        !40 = !{i64 0, i64 1, !21, i64 4, i64 4, !21, i64 8, i64 8, !21}\n\
        !50 = !{i64 0, i64 16, !21}\n";

    fn copy(arguments: &str, metadata: &str) -> String {
        format!("  call void @llvm.memcpy.p0.p0.i64({arguments}), {metadata}\n")
    }

    fn rewritten(line: &str) -> String {
        let module = format!("{line}{NODES}");
        with_vector_copies(&module).strip_suffix(NODES).unwrap().to_string()
    }

    #[test]
    fn a_vector_is_loaded_and_stored() {
        let arguments =
            "ptr align 16 %1, ptr noundef align 16 getelementptr (i8, ptr @a, i64 16), i64 16, i1 false";
        assert_eq!(
            rewritten(&copy(arguments, "!tbaa.struct !20, !dbg !9")),
            "  %offload.copy.1 = load <4 x i32>, ptr getelementptr (i8, ptr @a, i64 16), align 16, !dbg !9\n  \
             store <4 x i32> %offload.copy.1, ptr %1, align 16, !dbg !9\n"
        );
        let arguments = "ptr align 16 %to, ptr addrspace(3) align 16 @from, i64 16, i1 false";
        assert_eq!(
            rewritten(&copy(arguments, "!tbaa.struct !30")),
            "  %offload.copy.1 = load <2 x i64>, ptr addrspace(3) @from, align 16\n  \
             store <2 x i64> %offload.copy.1, ptr %to, align 16\n"
        );
    }

    #[test]
    fn other_copies_stay() {
        let aligned = "ptr align 16 %1, ptr align 16 %2, i64 16, i1 false";
        let others = [
            copy(aligned, "!tbaa.struct !40"),
            copy(aligned, "!tbaa.struct !50"),
            copy(aligned, "!dbg !9"),
            copy(&aligned.replace("false", "true"), "!tbaa.struct !20"),
            copy(&aligned.replace("i64 16", "i64 32"), "!tbaa.struct !20"),
            copy(&aligned.replace("align 16 %2", "align 8 %2"), "!tbaa.struct !20"),
            copy(&aligned.replace("align 16 %2", "align 16 dereferenceable(16) %2"), "!tbaa.struct !20"),
        ];
        for line in others {
            assert_eq!(rewritten(&line), line);
        }
    }
}
