//! Generated OpenCL C that wraps each kernel as a function of one work-item, which takes an array of argument
//! pointers.

use std::fmt::Write;
use std::path::Path;

use offload_format::pack::ArgKind;
use offload_ir::{Kernel, KernelArg as Arg};
use offload_workgroup::WORK_ITEM_PREFIX;

use super::image_functions;
use crate::compile::front_end::include_line;
use crate::compile::session::Scanned;
use crate::error::{Error, Result};

/// Corrections of PoCL's functions of angles.
const ANGLES: &str = include_str!("../../device/host_angles.cl");

/// printf is a name of clang's, too, which would make calls of the C library of it.
const PRINTF: &str = "\
#pragma OPENCL EXTENSION __cl_clang_variadic_functions : enable
int __offload_printf(__constant const char *format, ...) __attribute__((format(printf, 1, 2)));
#pragma OPENCL EXTENSION __cl_clang_variadic_functions : disable
#define printf __offload_printf
";

const PROLOGUE: &str = "#define __OFFLOAD_EXPORT __attribute__((visibility(\"default\")))\n";

/// The text that is compiled in place of `file`.
pub(super) fn source(file: &Scanned) -> Result<String> {
    check_images(&file.kernels)?;
    Ok(format!("{PRINTF}{}{}", angles(file)?, around(&file.file.path, &file.kernels)?))
}

/// The same for C++ for OpenCL, without functions of work-items: types of C++ have no names that could be written here.
pub(super) fn included(file: &Scanned) -> Result<String> {
    check_images(&file.kernels)?;
    Ok(format!("{}{}", angles(file)?, include_line(&file.file.path)?))
}

fn angles(file: &Scanned) -> Result<&'static str> {
    Ok(if has_angles(&file.ir.read_text()?) { ANGLES } else { "" })
}

/// Whether IR calls a function of angles on vectors: `_Z3sinDv4_f`, `_Z6sincosDv2_fPU3AS1S_`.
fn has_angles(ir: &str) -> bool {
    ["sinDv", "cosDv", "tanDv"].iter().any(|name| ir.contains(name))
}

/// The kernels and their functions of one work-item.
fn around(file: &Path, kernels: &[Kernel]) -> Result<String> {
    let mut text = include_line(file)?;
    text.push_str(PROLOGUE);
    for kernel in kernels {
        let loads = kernel.args.iter().enumerate().map(|(index, arg)| load(kernel, index, arg));
        let loads = loads.collect::<Result<String>>()?;
        let given: Vec<String> =
            kernel.args.iter().enumerate().map(|(index, arg)| given(index, arg)).collect();
        let sizes: Vec<String> = kernel.args.iter().map(size).collect();
        let name = &kernel.name;
        // Writing to a String does not fail.
        let _ = write!(
            text,
            "__OFFLOAD_EXPORT __constant uint __offload_args_{name}[] = {{ {count}{comma}{sizes} }};\n\
             void {WORK_ITEM_PREFIX}{name}(void *const *args) {{\n{loads}  {name}({given});\n}}\n",
            count = sizes.len(),
            comma = if sizes.is_empty() { "" } else { ", " },
            sizes = sizes.join(", "),
            given = given.join(", "),
        );
    }
    Ok(text)
}

fn load(kernel: &Kernel, index: usize, arg: &Arg) -> Result<String> {
    let typedef = format!("  typedef {} t{index};\n", written(&arg.base_type));
    let (typedef, argument_type) = match arg.kind {
        ArgKind::Value => (String::new(), arg.type_name.clone()),
        ArgKind::Global => (typedef, format!("__global t{index} *")),
        ArgKind::Constant => (typedef, format!("__constant t{index} *")),
        ArgKind::Local => (typedef, format!("__local t{index} *")),
        ArgKind::Image | ArgKind::Sampler => return Ok(String::new()),
        other => {
            let error = format!("argument `{}` of kernel `{}` is of kind {other}", arg.name, kernel.name);
            return Err(Error::new(error));
        }
    };
    Ok(format!("{typedef}  {argument_type} a{index} = *({argument_type} *)args[{index}];\n"))
}

/// Refuses images that the CPU has no functions for.
fn check_images(kernels: &[Kernel]) -> Result<()> {
    for kernel in kernels {
        let mut images = kernel.args.iter().filter(|arg| arg.kind == ArgKind::Image);
        let Some(arg) = images.find(|arg| !image_functions::has_type(&arg.base_type)) else { continue };
        let Arg { name, base_type, .. } = arg;
        let kernel = &kernel.name;
        let error =
            format!("argument `{name}` of kernel `{kernel}` is an `{base_type}`, which the CPU lacks");
        let hint =
            format!("keep the kernel to other targets, with `kernels.{kernel}.targets` in offload.toml");
        return Err(Error::new(error).with_hint(hint));
    }
    Ok(())
}

/// The argument of the call: there are no variables of images and samplers.
fn given(index: usize, arg: &Arg) -> String {
    match arg.kind {
        ArgKind::Image | ArgKind::Sampler => {
            let argument_type = format!("{} {}", arg.access, arg.base_type);
            format!("__builtin_astype(*(void **)args[{index}], {})", argument_type.trim_start())
        }
        _ => format!("a{index}"),
    }
}

/// A type as OpenCL C has it: clang calls `atomic_int` by a name of C's, which OpenCL C lacks.
fn written(base_type: &str) -> String {
    let atomic = base_type.strip_prefix("_Atomic(").and_then(|rest| rest.strip_suffix(')'));
    match atomic {
        Some(plain) => format!("atomic_{}", plain.replace("unsigned ", "u")),
        None => base_type.to_string(),
    }
}

/// Size of a value; pointers have the size that the runtime knows.
fn size(arg: &Arg) -> String {
    if arg.kind == ArgKind::Value {
        format!("sizeof({})", arg.type_name)
    } else {
        "sizeof(void *)".to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(base_type: &str, kind: ArgKind) -> Kernel {
        let [name, type_name, base_type] = ["x", "t", base_type].map(str::to_string);
        let arg = Arg {
            name,
            type_name,
            base_type,
            kind,
            size: None,
            is_structure: false,
            element_size: None,
            is_const: false,
            access: String::new(),
        };
        Kernel {
            name: "k".into(),
            args: vec![arg],
            required_work_group: None,
            launch_bound: None,
            required_sub_group: None,
        }
    }

    #[test]
    fn arguments_are_loaded_by_their_kind() {
        let text = around(Path::new("dir/k.cl"), &[kernel("float", ArgKind::Global)]).unwrap();
        assert!(text.starts_with("#include \"dir/k.cl\"\n"));
        assert!(
            text.contains("typedef float t0;\n  __global t0 * a0 = *(__global t0 * *)args[0];"),
            "{text}"
        );
        let text = around(Path::new("k.cl"), &[kernel("float4", ArgKind::Local)]).unwrap();
        assert!(text.contains("typedef float4 t0;\n  __local t0 * a0"), "{text}");
        let text = around(Path::new("k.cl"), &[kernel("_Atomic(unsigned long)", ArgKind::Global)]).unwrap();
        assert!(text.contains("typedef atomic_ulong t0;\n"), "{text}");
        let text = around(Path::new("k.cl"), &[kernel("struct s", ArgKind::Value)]).unwrap();
        assert!(text.contains("t a0 = *(t *)args[0];") && text.contains("{ 1, sizeof(t) }"), "{text}");
    }

    #[test]
    fn images_are_loaded_by_their_type_and_others_are_refused_by_name() {
        let mut image = kernel("image2d_t", ArgKind::Image);
        image.args[0].access = "read_write".to_string();
        let text = around(Path::new("k.cl"), &[image]).unwrap();
        assert!(text.contains("__builtin_astype(*(void **)args[0], read_write image2d_t));\n"), "{text}");
        let text = around(Path::new("k.cl"), &[kernel("sampler_t", ArgKind::Sampler)]).unwrap();
        assert!(text.contains("__builtin_astype(*(void **)args[0], sampler_t));\n"), "{text}");
        let depth = kernel("image2d_depth_t", ArgKind::Image);
        let error = check_images(&[depth]).unwrap_err().to_string();
        assert!(error.contains("`x`") && error.contains("`k`") && error.contains("hint:"), "{error}");
    }
}
