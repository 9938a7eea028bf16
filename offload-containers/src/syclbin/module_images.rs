//! Construction of a SYCLBIN module from the images of a kernel module.

use std::collections::BTreeSet;

use super::names::NativeTarget;
use super::write::{NativeImage, NewModule, Requirements};
use super::{BundleState, KERNEL_PREFIX};
use offload_format::{Aspects, Error, Limits};
use offload_images::spirv;

/// The images of a kernel module: SPIR-V, and at most one native image for each triple, because a runtime takes the first
/// one with its triple, whatever its architecture.
///
/// ```
/// # let saxpy: &[u8] = include_bytes!("../../../tests/data/saxpy-reduce.spv");
/// use offload_containers::syclbin::{ModuleImages, BundleState};
///
/// let forms = ModuleImages::default().with_spirv(saxpy)?;
/// let module = forms.module(BundleState::Executable)?;
/// assert!(module.metadata.names("SYCL/kernel names").eq(["__sycl_kernel_saxpy", "__sycl_kernel_reduce"]));
/// # Ok::<(), offload_format::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleImages {
    /// With prefixed kernel names.
    spirv: Option<Vec<u8>>,
    natives: Vec<(NativeTarget, Vec<u8>)>,
    /// The kernels of the native images.
    kernels: Vec<String>,
}

impl ModuleImages {
    /// Sets the SPIR-V, and adds [`KERNEL_PREFIX`], which a runtime requires, to its kernels.
    ///
    /// # Errors
    /// The bytes are no SPIR-V module.
    pub fn with_spirv(mut self, module: &[u8]) -> Result<ModuleImages, Error> {
        self.spirv = Some(spirv::with_prefixed_kernels(module, KERNEL_PREFIX)?);
        Ok(self)
    }

    /// Adds a native image with its kernels, which keep their names.
    pub fn add_native(&mut self, target: NativeTarget, kernels: &[String], image: Vec<u8>) {
        for name in kernels {
            if !self.kernels.contains(name) {
                self.kernels.push(name.clone());
            }
        }
        self.natives.push((target, image));
    }

    /// Whether there is a native image for the triple.
    pub fn has_native(&self, triple: &str) -> bool {
        self.natives.iter().any(|(target, _)| target.triple == triple)
    }

    /// The module for a file of `state`: kernels, requirements on the device, and, unless the state is executable, imports and
    /// exports. A single native image without SPIR-V requires its architecture.
    ///
    /// # Errors
    /// [`ErrorKind::Text`](offload_format::ErrorKind::Text) for a name that the format cannot hold.
    pub fn module(&self, state: BundleState) -> Result<NewModule<'_>, Error> {
        let mut module = NewModule::default();
        let mut needs = Requirements::default();
        match &self.spirv {
            Some(spirv) => {
                let parsed = spirv::Module::parse(spirv, &Limits::default())?;
                needs = requirements(&parsed);
                module = module.with_kernels(parsed.kernels().iter().map(|kernel| &kernel.name))?;
                module = symbols(module, &parsed, state)?.with_spirv(spirv);
            }
            None => module = module.with_kernels(&self.kernels)?,
        }
        // A `compile_target` would restrict the SPIR-V too.
        if let (None, [(target, _)]) = (&self.spirv, self.natives.as_slice()) {
            needs.compile_target = target.compile_target.clone();
        }
        module = module.with_requirements(&needs);
        for (target, image) in &self.natives {
            module = module.with_native(NativeImage { target: target.triple, arch: &target.arch, image });
        }
        Ok(module)
    }
}

/// Adds imports and exports, unless the state is executable: such a file is not linked.
fn symbols<'a>(
    module: NewModule<'a>,
    parsed: &spirv::Module<'_>,
    state: BundleState,
) -> Result<NewModule<'a>, Error> {
    if state == BundleState::Executable {
        return Ok(module);
    }
    let mut exports = Vec::new();
    for name in parsed.exports() {
        // Clang exports a copy of each kernel's body, and some writers each kernel.
        let is_kernel = parsed.kernels().iter().any(|kernel| kernel.name == *name);
        if !is_kernel && !name.starts_with("__clang_ocl_kern_imp_") {
            exports.push(name);
        }
    }
    module.with_exported(exports)?.with_imported(parsed.imports())
}

fn requirements(parsed: &spirv::Module<'_>) -> Requirements {
    let sub_groups: BTreeSet<Option<u32>> =
        parsed.kernels().iter().map(|kernel| kernel.sub_group_size).collect();
    let work_groups = parsed.kernels().iter().filter_map(|kernel| kernel.required_work_group);
    // A device that supports the largest work-group supports all.
    let largest_work_group = work_groups.map(|size| size.map(u64::from)).max_by_key(work_items);
    Requirements {
        aspects: aspects(parsed.aspects()),
        // The requirement holds for the whole module: it has none if its kernels differ.
        sub_group_size: sub_groups.first().copied().flatten().filter(|_| sub_groups.len() == 1),
        work_group_size: largest_work_group.map(|size| size.to_vec()),
        compile_target: None,
    }
}

fn work_items(work_group: &[u64; 3]) -> u64 {
    work_group.iter().fold(1, |count, length| count.saturating_mul(*length))
}

/// The numbers of SYCL's aspects
/// (<https://github.com/intel/llvm/blob/sycl/sycl/include/sycl/info/aspects.def>).
fn aspects(needed: Aspects) -> Vec<u32> {
    let mut numbers = Vec::new();
    for (aspect, number) in [(Aspects::FP16, 5), (Aspects::FP64, 6), (Aspects::ATOMIC64, 28)] {
        if aspect.missing_from(needed).is_empty() {
            numbers.push(number);
        }
    }
    numbers
}
