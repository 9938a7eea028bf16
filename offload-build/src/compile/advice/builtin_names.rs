//! Warnings for kernels named like a built-in function of OpenCL C, which some drivers refuse on the user's machine.

use std::path::Path;

use offload_format::Target;

use crate::compile::Session;
use crate::compile::session::Scanned;
use crate::fs;
use crate::module::Language;
use crate::targets::WantedTarget;

/// The functions of OpenCL C, without conversions
/// (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#built-in-functions>).
const NAMES: &str = "\
    get_work_dim get_global_size get_global_id get_local_size get_enqueued_local_size get_local_id get_num_groups \
    get_group_id get_global_offset get_global_linear_id get_local_linear_id get_sub_group_size get_sub_group_id \
    get_sub_group_local_id get_num_sub_groups get_max_sub_group_size \
    acos acosh acospi asin asinh asinpi atan atan2 atanh atanpi atan2pi cbrt ceil copysign cos cosh cospi erfc erf exp exp2 \
    exp10 expm1 fabs fdim floor fma fmax fmin fmod fract frexp hypot ilogb ldexp lgamma lgamma_r log log2 log10 log1p logb \
    mad maxmag minmag modf nan nextafter pow pown powr remainder remquo rint rootn round rsqrt sin sincos sinh sinpi sqrt \
    tan tanh tanpi tgamma trunc \
    half_cos half_divide half_exp half_exp2 half_exp10 half_log half_log2 half_log10 half_powr half_recip half_rsqrt half_sin \
    half_sqrt half_tan native_cos native_divide native_exp native_exp2 native_exp10 native_log native_log2 native_log10 \
    native_powr native_recip native_rsqrt native_sin native_sqrt native_tan \
    abs abs_diff add_sat hadd rhadd clamp clz ctz mad_hi mad_sat max min mul_hi rotate sub_sat upsample popcount mad24 mul24 \
    degrees mix radians step smoothstep sign cross dot distance length normalize fast_distance fast_length fast_normalize \
    isequal isnotequal isgreater isgreaterequal isless islessequal islessgreater isfinite isinf isnan isnormal isordered \
    isunordered signbit any all bitselect select \
    vload2 vload3 vload4 vload8 vload16 vstore2 vstore3 vstore4 vstore8 vstore16 vload_half vstore_half \
    barrier mem_fence read_mem_fence write_mem_fence work_group_barrier sub_group_barrier \
    async_work_group_copy async_work_group_strided_copy wait_group_events prefetch \
    atomic_add atomic_sub atomic_xchg atomic_inc atomic_dec atomic_cmpxchg atomic_min atomic_max atomic_and atomic_or \
    atomic_xor atomic_init atomic_load atomic_store atomic_exchange atomic_fetch_add atomic_fetch_sub atomic_work_item_fence \
    atom_add atom_sub atom_xchg atom_inc atom_dec atom_cmpxchg atom_min atom_max atom_and atom_or atom_xor \
    shuffle shuffle2 vec_step printf \
    read_imagef read_imagei read_imageui write_imagef write_imagei write_imageui get_image_width get_image_height \
    get_image_depth get_image_channel_data_type get_image_channel_order get_image_dim get_image_array_size \
    work_group_all work_group_any work_group_broadcast work_group_reduce_add work_group_reduce_min work_group_reduce_max \
    sub_group_all sub_group_any sub_group_broadcast sub_group_reduce_add sub_group_reduce_min sub_group_reduce_max";

/// Warns of kernels in OpenCL C with such names, if a driver will compile them.
pub(crate) fn warn(session: &Session<'_>, files: &[Scanned], targets: &[WantedTarget]) {
    let names: Vec<String> = targets
        .iter()
        .filter(|wanted| matches!(wanted.target, Target::OpenClC | Target::Spirv64(_)))
        .map(|wanted| format!("`{}`", wanted.target))
        .collect();
    if names.is_empty() {
        return;
    }
    for file in files.iter().filter(|file| file.file.language == Language::OpenClC) {
        for kernel in file.kernels.iter().filter(|kernel| is_builtin(&kernel.name)) {
            let name = &kernel.name;
            let place = place(session, &file.file.path, &kernel.name);
            session.env().warn(&format!(
                "{place}: kernel `{name}` has the name of a built-in function of OpenCL C: drivers such as PoCL may \
                 refuse its image for {}; rename the kernel",
                names.join(" and ")
            ));
        }
    }
}

pub(crate) fn is_builtin(name: &str) -> bool {
    NAMES.split_whitespace().any(|known| known == name)
}

/// The file, with the line that defines the kernel if it is plain to see.
fn place(session: &Session<'_>, path: &Path, kernel: &str) -> String {
    let text = fs::read_text(&session.env().manifest_dir.join(path)).unwrap_or_default();
    match line_of(&text, kernel) {
        Some(line) => format!("{}:{line}", path.display()),
        None => path.display().to_string(),
    }
}

/// The first line, from 1, with `void NAME(`.
fn line_of(text: &str, kernel: &str) -> Option<usize> {
    text.lines()
        .position(|line| {
            let (before, after) = line.split_once("void ").unwrap_or_default();
            let rest = after.trim_start().strip_prefix(kernel);
            !before.contains("//") && rest.is_some_and(|rest| rest.trim_start().starts_with('('))
        })
        .map(|index| index.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_whole() {
        assert!(is_builtin("dot") && is_builtin("atomic_inc"));
        assert!(!is_builtin("dot_product") && !is_builtin("saxpy") && !is_builtin(""));
    }

    #[test]
    fn the_line_is_that_of_the_definition() {
        let text = "// kernel void dot(\nkernel void dots(int n) {}\nkernel void  dot (int n) {}\n";
        assert_eq!(line_of(text, "dot"), Some(3));
        assert_eq!(line_of(text, "length"), None);
    }
}
