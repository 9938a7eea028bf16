//! The arguments of kernels in C, C++, CUDA C++ and HIP C++, from clang's debug information
//! (<https://llvm.org/docs/SourceLevelDebugging.html#debugger-intrinsic-functions>).

use std::collections::BTreeMap;

use offload_format::pack::ArgKind;
use offload_workgroup::ir::{Parameter, metadata_field};

use crate::argument_kind;
use crate::kernel::KernelArg;

/// The nodes of a module that describe its source: `12` to `!DIBasicType(name: "float", size: 32, ...)`.
#[derive(Debug, Default)]
pub(crate) struct DebugInfo<'a> {
    nodes: BTreeMap<&'a str, &'a str>,
    /// The names of arguments: by function, then by number, from 1.
    names: BTreeMap<(&'a str, u32), &'a str>,
}

/// The typedefs of CUDA's runtime for texture and surface objects, which are numbers.
const OBJECTS: [&str; 2] = ["cudaTextureObject_t", "cudaSurfaceObject_t"];

/// A type without typedefs, but for those of objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Type {
    /// In OpenCL C's words; behind pointers, what they point to.
    base: String,
    stars: usize,
    /// Of a pointer: whether it points to what is constant.
    is_const: bool,
    /// In bits, of a value.
    size: Option<u32>,
    /// In bits, of what a pointer points to.
    element_size: Option<u32>,
}

impl<'a> DebugInfo<'a> {
    /// Of a module; nothing of one that was compiled without types.
    pub(crate) fn parse(module: &'a str) -> DebugInfo<'a> {
        let mut info = DebugInfo::default();
        // Line tables have functions, and no types.
        if !module.contains("!DIBasicType(") && !module.contains("!DIDerivedType(") {
            return info;
        }
        for line in module.lines() {
            let Some((number, node)) = line.strip_prefix('!').and_then(|rest| rest.split_once(" = ")) else {
                continue;
            };
            let node = node.strip_prefix("distinct ").unwrap_or(node);
            let named = (
                node.starts_with("!DILocalVariable("),
                metadata_field(node, "arg"),
                metadata_field(node, "scope"),
            );
            if let (true, Some(arg), Some(scope)) = named
                && let (Ok(arg), Some(name)) = (arg.parse(), metadata_field(node, "name"))
            {
                info.names.insert((scope, arg), name);
            }
            info.nodes.insert(number, node);
        }
        info
    }

    /// The arguments of the function whose `define` line ends with `rest`; `None` without a description of each of
    /// `params`.
    pub(crate) fn arguments(&self, rest: &str, params: &[Parameter<'_>]) -> Option<Vec<KernelArg>> {
        let function = rest.split_once("!dbg !")?.1.split([' ', '{']).next()?;
        let types = self.node(metadata_field(self.nodes.get(function)?, "type")?)?;
        let list = self.node(metadata_field(types, "types")?)?.strip_prefix("!{")?.strip_suffix('}')?;
        // The first is what the function returns.
        let list: Vec<&str> = list.split(", ").skip(1).collect();
        if list.len() != params.len() {
            return None;
        }
        let scope = format!("!{function}");
        let args = list.iter().zip(params).zip(1u32..).map(|((node, param), number)| {
            let name = self.names.get(&(scope.as_str(), number)).copied().unwrap_or_default();
            Some(argument(self.type_of(node)?, param, name))
        });
        args.collect()
    }

    /// What `!12` refers to.
    fn node(&self, reference: &str) -> Option<&'a str> {
        self.nodes.get(reference.strip_prefix('!')?).copied()
    }

    fn type_of(&self, reference: &str) -> Option<Type> {
        /// Typedefs of pointers to constants...
        const DEEPEST: usize = 64;
        let mut found = Type::default();
        let mut reference = Some(reference);
        let mut called = "";
        for _ in 0..DEEPEST {
            let Some(node) = reference.and_then(|reference| self.node(reference)) else {
                found.base = "void".to_string();
                return Some(found);
            };
            match metadata_field(node, "tag") {
                Some("DW_TAG_pointer_type" | "DW_TAG_reference_type") => {
                    found.stars = found.stars.saturating_add(1);
                    found.size = Some(64);
                    called = "";
                }
                Some("DW_TAG_const_type") => found.is_const |= found.stars == 1,
                Some("DW_TAG_typedef") => called = metadata_field(node, "name").unwrap_or(called),
                Some("DW_TAG_array_type") => return self.vector(node, found),
                Some("DW_TAG_structure_type" | "DW_TAG_class_type" | "DW_TAG_union_type") => {
                    return Some(
                        found.with(
                            structure(metadata_field(node, "name").unwrap_or(called), size(node)),
                            node,
                        ),
                    );
                }
                Some("DW_TAG_enumeration_type") => {
                    let name = metadata_field(node, "name").unwrap_or(called);
                    return Some(found.with(format!("enum {name}"), node));
                }
                None if found.stars == 0 && OBJECTS.contains(&called) => {
                    return Some(found.with(called.to_string(), node));
                }
                None => {
                    let base = scalar(metadata_field(node, "encoding")?, size(node)?)?;
                    return Some(found.with(base.to_string(), node));
                }
                // Qualifiers.
                _ => {}
            }
            reference = metadata_field(node, "baseType");
        }
        None
    }

    /// clang's vectors are arrays with a flag.
    fn vector(&self, node: &str, found: Type) -> Option<Type> {
        let element = self.type_of(metadata_field(node, "baseType")?)?;
        let elements = self.node(metadata_field(node, "elements")?)?.strip_prefix("!{")?.strip_suffix('}')?;
        let count = metadata_field(self.node(elements)?, "count")?;
        Some(found.with(format!("{}{count}", element.base), node))
    }
}

impl Type {
    fn with(mut self, base: String, node: &str) -> Type {
        self.base = base;
        match self.stars {
            0 => self.size = size(node),
            1 => self.element_size = size(node),
            _ => {}
        }
        self
    }
}

fn argument(found: Type, param: &Parameter<'_>, name: &str) -> KernelArg {
    let kind = match (found.stars, argument_kind(param)) {
        (0, _) => ArgKind::Value,
        (_, ArgKind::Value) => ArgKind::Global,
        (_, kind) => kind,
    };
    let behind = found.stars.saturating_sub(1);
    KernelArg {
        name: name.to_string(),
        type_name: format!("{}{}", found.base, "*".repeat(found.stars)),
        base_type: format!("{}{}", found.base, "*".repeat(behind)),
        kind,
        size: found.size.filter(|_| kind == ArgKind::Value).and_then(|bits| bits.checked_div(8)),
        is_structure: param.is_by_value(),
        element_size: found.element_size.filter(|_| kind != ArgKind::Local).and_then(whole_bytes),
        is_const: found.is_const,
        access: String::new(),
    }
}

fn whole_bytes(bits: u32) -> Option<u32> {
    bits.checked_div(8).filter(|bytes| *bytes != 0)
}

fn size(node: &str) -> Option<u32> {
    metadata_field(node, "size")?.parse().ok()
}

/// DWARF's encodings (<https://dwarfstd.org/doc/DWARF5.pdf>, 5.1.1).
fn scalar(encoding: &str, bits: u32) -> Option<&'static str> {
    Some(match (encoding, bits) {
        ("DW_ATE_boolean", _) => "bool",
        ("DW_ATE_signed" | "DW_ATE_signed_char", 8) => "char",
        ("DW_ATE_unsigned" | "DW_ATE_unsigned_char" | "DW_ATE_UTF", 8) => "uchar",
        ("DW_ATE_signed", 16) => "short",
        ("DW_ATE_unsigned" | "DW_ATE_UTF", 16) => "ushort",
        ("DW_ATE_signed", 32) => "int",
        ("DW_ATE_unsigned" | "DW_ATE_UTF", 32) => "uint",
        ("DW_ATE_signed", 64) => "long",
        ("DW_ATE_unsigned", 64) => "ulong",
        ("DW_ATE_float", 16) => "half",
        ("DW_ATE_float", 32) => "float",
        ("DW_ATE_float", 64) => "double",
        _ => return None,
    })
}

/// CUDA's and HIP's vectors are structures that are called like OpenCL C's; those of three are no larger.
fn structure(name: &str, bits: Option<u32>) -> String {
    const SCALARS: [(&str, u32); 10] = [
        ("char", 8),
        ("uchar", 8),
        ("short", 16),
        ("ushort", 16),
        ("int", 32),
        ("uint", 32),
        ("longlong", 64),
        ("ulonglong", 64),
        ("float", 32),
        ("double", 64),
    ];
    if name == "__half" && bits == Some(16) {
        return "half".to_string();
    }
    let lanes = name.chars().last().and_then(|last| last.to_digit(10)).filter(|lanes| matches!(lanes, 2 | 4));
    let scalar = name.trim_end_matches(['2', '4']);
    let known = SCALARS.iter().find(|(known, _)| *known == scalar);
    match (lanes, known) {
        (Some(lanes), Some((scalar, size))) if size.checked_mul(lanes) == bits => {
            format!("{}{lanes}", scalar.replace("longlong", "long"))
        }
        _ => format!("struct {name}"),
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::{Kernel, kernels as plain_kernels, take_types};

    const MODULE: &str = r#"
define dso_local ptx_kernel void @_Z5saxpyfPKfPf4tilejb(float noundef %0, ptr noundef %1, ptr noundef %2, ptr noundef byval(%struct.tile) align 4 %3, i32 noundef %4, <4 x float> %5, i8 %6) #0 !dbg !7 {
!1 = !DIFile(filename: "k.cu", directory: ".")
!7 = distinct !DISubprogram(name: "saxpy", linkageName: "_Z5saxpyfPKfPf4tilejb", scope: !1, file: !1, line: 3, type: !8, scopeLine: 3, unit: !2, retainedNodes: !5)
!8 = !DISubroutineType(types: !9)
!9 = !{null, !10, !11, !13, !15, !16, !20, !24}
!10 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!11 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !12, size: 64)
!12 = !DIDerivedType(tag: DW_TAG_const_type, baseType: !10)
!13 = !DIDerivedType(tag: DW_TAG_const_type, baseType: !14)
!14 = !DIDerivedType(tag: DW_TAG_restrict_type, baseType: !18)
!15 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "tile", file: !1, line: 1, size: 96, flags: DIFlagTypePassByValue, elements: !5, identifier: "_ZTS4tile")
!16 = !DIDerivedType(tag: DW_TAG_typedef, name: "u32", file: !1, line: 2, baseType: !17)
!17 = !DIBasicType(name: "unsigned int", size: 32, encoding: DW_ATE_unsigned)
!18 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !10, size: 64)
!20 = !DICompositeType(tag: DW_TAG_array_type, baseType: !10, size: 128, flags: DIFlagVector, elements: !21)
!21 = !{!22}
!22 = !DISubrange(count: 4)
!24 = !DIBasicType(name: "bool", size: 8, encoding: DW_ATE_boolean)
!30 = !DILocalVariable(name: "a", arg: 1, scope: !7, file: !1, line: 3, type: !10)
!31 = !DILocalVariable(name: "x", arg: 2, scope: !7, file: !1, line: 3, type: !11)
"#;

    fn kernels(module: &str) -> Vec<Kernel> {
        let mut kernels = plain_kernels(module);
        take_types(&mut kernels, module);
        kernels
    }

    fn shown(kernel: &Kernel) -> Vec<String> {
        kernel
            .args
            .iter()
            .map(|arg| {
                let constant = if arg.is_const { " const" } else { "" };
                format!("{}{constant} {} {} {:?}", arg.kind, arg.base_type, arg.name, arg.size)
            })
            .collect()
    }

    #[test]
    fn types_are_those_of_the_source() {
        let expected = [
            "value float a Some(4)",
            "global const float x None",
            "global float  None",
            "value struct tile  Some(12)",
            "value uint  Some(4)",
            "value float4  Some(16)",
            "value bool  Some(1)",
        ];
        assert_eq!(shown(&kernels(MODULE)[0]), expected);
    }

    #[test]
    fn texture_objects_are_no_numbers() {
        let module = MODULE.replace("name: \"u32\"", "name: \"cudaTextureObject_t\"");
        let module = module.replace("\"unsigned int\", size: 32", "\"unsigned long long\", size: 64");
        assert_eq!(shown(&kernels(&module)[0])[4], "value cudaTextureObject_t  Some(8)");
    }

    #[test]
    fn line_tables_alone_tell_no_types() {
        let module = MODULE.replace("!9 = !{null, !10, !11, !13, !15, !16, !20, !24}", "!9 = !{}");
        assert_eq!(kernels(&module)[0].args[1].base_type, "");
    }

    #[test]
    fn vectors_of_cuda_are_vectors() {
        assert_eq!(structure("float4", Some(128)), "float4");
        assert_eq!(structure("ulonglong2", Some(128)), "ulong2");
        assert_eq!(structure("float3", Some(96)), "struct float3");
        assert_eq!(structure("float4", Some(96)), "struct float4");
        assert_eq!(structure("__half", Some(16)), "half");
    }

    #[test]
    fn a_type_of_itself_ends() {
        let module =
            MODULE.replace("name: \"u32\", file: !1, line: 2, baseType: !17", "name: \"u32\", baseType: !16");
        assert_eq!(kernels(&module)[0].args[4].base_type, "");
    }
}
