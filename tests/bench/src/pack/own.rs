//! Own kernels for AMD's processors: 8 files that instantiate the templates of one header, either each for a type of
//! numbers or each for an operation, and one file with many long names.

use std::fs;
use std::path::Path;

use super::plan::Extent;
use super::sets::Modules;
use crate::rebuild::measure::{self, Profile, Side};
use crate::rebuild::ninja::{CompilerCache, Ninja};
use crate::rebuild::plan::{Language, Plan};
use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;

const TEMPLATES: &str = include_str!("../../pack/layers.hpp");
const INSTANCES: &str = include_str!("../../pack/layers.hip.in");

/// The type of numbers and the width of a head in each file: libraries have one for each, so that none takes too long
/// to compile.
const LAYERS: [(&str, u32); 8] = [
    ("_Float16", 64),
    ("__bf16", 64),
    ("_Float16", 32),
    ("_Float16", 96),
    ("_Float16", 128),
    ("__bf16", 32),
    ("__bf16", 96),
    ("__bf16", 128),
];

/// What files are for operations instead, each for all types of numbers: a file has its own copy of each kernel that it
/// launches, as HIP links nothing between files.
const OPERATIONS: [&str; 8] = [
    include_str!("../../pack/operations/attention.hip"),
    include_str!("../../pack/operations/mlp.hip"),
    include_str!("../../pack/operations/norm.hip"),
    include_str!("../../pack/operations/loss.hip"),
    include_str!("../../pack/operations/quantised.hip"),
    include_str!("../../pack/operations/optimiser.hip"),
    include_str!("../../pack/operations/encoder.hip"),
    include_str!("../../pack/operations/decoder.hip"),
];

/// A module for each type of numbers and width of a head: no kernel is in two files.
pub(super) fn types(workspace: &Workspace, dir: &Path, extent: Extent) -> Result<Modules> {
    files(workspace, dir, (extent, LAYERS.map(instances)))
}

/// A module for each operation: files share kernels.
pub(super) fn operations(workspace: &Workspace, dir: &Path, extent: Extent) -> Result<Modules> {
    files(workspace, dir, (extent, OPERATIONS.map(str::to_string)))
}

fn files(workspace: &Workspace, dir: &Path, (extent, texts): (Extent, [String; 8])) -> Result<Modules> {
    let mut plan = plan(extent)?;
    plan.kernels = Language::Hip;
    source(&dir.join("kernels/layers.hpp"), TEMPLATES)?;
    for (module, text) in plan.modules().zip(texts) {
        source(&dir.join("kernels").join(format!("{module}.hip")), &text)?;
    }
    images(workspace, dir, &plan)
}

fn instances((numbers, width): (&str, u32)) -> String {
    INSTANCES.replace("@TYPE@", numbers).replace("@DIM@", &width.to_string())
}

/// One module of kernels whose names are longer than their code, as instances of templates are.
pub(super) fn symbols(workspace: &Workspace, dir: &Path, extent: Extent) -> Result<Modules> {
    let mut plan = plan(extent)?;
    plan.files = 1;
    let name = plan.modules().next().ok_or_else(|| Error::new("there is no kernel file"))?;
    source(&dir.join("kernels").join(format!("{name}.cl")), &many_kernels())?;
    images(workspace, dir, &plan)
}

/// Writes a file that is not so already: ninja goes by times.
fn source(path: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    Ok(fs::write(path, text)?)
}

fn plan(extent: Extent) -> Result<Plan> {
    match extent {
        Extent::Whole => Plan::parse(&[]),
        Extent::Quick => Plan::parse(&["--quick".to_string()]),
    }
}

/// Builds what is not up to date, and gives each image the name of its target.
fn images(workspace: &Workspace, dir: &Path, plan: &Plan) -> Result<Modules> {
    let ninja = Ninja::prepare(workspace, dir, (plan, CompilerCache::None))?;
    measure::run(&mut ninja.build(Profile::First))?;
    let mut modules = Modules::new();
    for module in plan.modules() {
        let to = dir.join("images").join(&module);
        super::sets::remove(&to)?;
        fs::create_dir_all(&to)?;
        for target in &plan.targets {
            fs::hard_link(ninja.image(&module, target), to.join(format!("amdgcn:{target}")))?;
        }
        modules.push((to, module));
    }
    Ok(modules)
}

/// What the names of kernels are made of, as thrust's are.
const TYPES: [&str; 8] = ["float", "double", "int", "long", "uint", "ulong", "short", "uchar"];
const SIGNS: [(&str, &str); 6] =
    [("plus", "+"), ("minus", "-"), ("multiplies", "*"), ("less", "<"), ("greater", ">"), ("equal_to", "==")];
const SHAPES: [(&str, &str); 5] = [
    ("transform", "out[i] = (T)(a[i] OP b[i]);"),
    ("inclusive_scan", "for (size_t k = 0; k <= i; k++) out[i] = (T)(out[i] OP a[k]);"),
    ("reduce_by_key", "T s = a[i]; for (size_t k = 1; k < 32; k++) s = (T)(s OP b[i * 32 + k]); out[i] = s;"),
    ("set_difference", "out[i] = (a[i] OP b[i]) != 0 ? a[i] : b[i];"),
    ("gather_if", "if (a[i] OP b[i]) out[i] = a[(size_t)b[i]];"),
];

fn many_kernels() -> String {
    let mut text = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n".to_string();
    for (shape, body) in SHAPES {
        for (operation, sign) in SIGNS {
            for of in TYPES {
                let body = body
                    .replace("OP", sign)
                    .replace("(T)", &format!("({of})"))
                    .replace("T s", &format!("{of} s"));
                text.push_str(&format!(
                    "__kernel void _ZN6thrust11hip_rocprim{}{shape}14kernel_agentILj256ENS0_{of}_tENS_10functional{operation}I{of}EE\
                     NS_16device_ptrI{of}EES5_S5_EEvT0_T1_T2_T3_NS0_13launch_boundsE(__global {of} *out, __global const {of} *a, \
                     __global const {of} *b) {{ size_t i = get_global_id(0); {body} }}\n",
                    shape.len()
                ));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_other_instances_of_the_same_templates() {
        let texts = LAYERS.map(instances);
        assert!(texts.iter().all(|text| !text.contains('@') && text.contains("layers.hpp")));
        assert_eq!(std::collections::BTreeSet::from(texts).len(), LAYERS.len());
    }

    fn kernels(text: &str) -> std::collections::BTreeSet<String> {
        text.lines()
            .filter_map(|line| {
                Some(line.split_once("__global__")?.1.trim_end_matches([' ', '\\']).to_string())
            })
            .collect()
    }

    #[test]
    fn files_of_operations_share_kernels() {
        let all: usize = OPERATIONS.iter().map(|text| kernels(text).len()).sum();
        let distinct = kernels(&OPERATIONS.concat()).len();
        assert!(all > distinct && distinct > LAYERS.len(), "{distinct} of {all}");
    }

    #[test]
    fn kernels_have_names_of_their_own() {
        let text = many_kernels();
        let names: std::collections::BTreeSet<&str> =
            text.lines().filter_map(|line| line.strip_prefix("__kernel void ")?.split('(').next()).collect();
        assert_eq!(names.len(), SHAPES.len() * SIGNS.len() * TYPES.len());
        assert!(!text.contains(" OP ") && !text.contains("(T)"), "{text}");
    }
}
