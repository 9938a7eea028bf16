//! A module of a SYCLBIN from the images of a kernel module.

use std::collections::BTreeSet;

use super::names::NativeTarget;
use super::write::{Native, NewModule, Requirements};
use super::{KERNEL_PREFIX, State};
use offload_format::{Aspects, Error, Limits};
use offload_images::spirv;

/// The images of one kernel module: its SPIR-V, and beside it at most one native image for each triple, because a
/// runtime takes the first one that fits, whatever its architecture.
///
/// ```
/// # let saxpy: &[u8] = include_bytes!("../../../tests/data/saxpy-reduce.spv");
/// use offload_containers::syclbin::{Forms, State};
///
/// let forms = Forms::default().with_spirv(saxpy)?;
/// let module = forms.module(State::Executable)?;
/// assert!(module.metadata.names("SYCL/kernel names").eq(["__sycl_kernel_saxpy", "__sycl_kernel_reduce"]));
/// # Ok::<(), offload_format::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forms {
    /// With the names of kernels that a runtime looks for.
    spirv: Option<Vec<u8>>,
    natives: Vec<(NativeTarget, Vec<u8>)>,
    /// Of the native images.
    kernels: Vec<String>,
}

impl Forms {
    /// Takes the module's SPIR-V. A runtime finds kernels only under names with [`KERNEL_PREFIX`], which they get.
    ///
    /// # Errors
    /// The bytes are no SPIR-V module.
    pub fn with_spirv(mut self, module: &[u8]) -> Result<Forms, Error> {
        self.spirv = Some(spirv::with_prefixed_kernels(module, KERNEL_PREFIX)?);
        Ok(self)
    }

    /// Adds a native image with its kernels, which keep their names.
    pub fn add_native(&mut self, target: NativeTarget, kernels: &[String], image: Vec<u8>) {
        let new: Vec<_> = kernels.iter().filter(|name| !self.kernels.contains(*name)).cloned().collect();
        self.kernels.extend(new);
        self.natives.push((target, image));
    }

    /// Whether there is a native image for the triple.
    pub fn has_native(&self, triple: &str) -> bool {
        self.natives.iter().any(|(target, _)| target.triple == triple)
    }

    /// The module in a file of `state`: kernels, what it needs of a device, and, unless the state is executable, what it
    /// imports and exports. A native image alone is for its own architecture.
    ///
    /// # Errors
    /// [`ErrorKind::Text`](offload_format::ErrorKind::Text) for a name that the format cannot hold.
    pub fn module(&self, state: State) -> Result<NewModule<'_>, Error> {
        let (mut module, mut needs) = (NewModule::default(), Requirements::default());
        match &self.spirv {
            Some(spirv) => {
                let parsed = spirv::Module::parse(spirv, &Limits::default())?;
                needs = requirements(&parsed);
                module = module.with_kernels(parsed.kernels().iter().map(|kernel| &kernel.name))?;
                module = symbols(module, &parsed, state)?.with_spirv(spirv);
            }
            None => module = module.with_kernels(&self.kernels)?,
        }
        // The name of a device holds for the SPIR-V as well, which is for every device.
        if let (None, [(target, _)]) = (&self.spirv, self.natives.as_slice()) {
            needs.compile_target = target.compile_target.clone();
        }
        module = module.with_requirements(&needs);
        for (target, image) in &self.natives {
            module = module.with_native(Native { target: target.triple, arch: &target.arch, image });
        }
        Ok(module)
    }
}

/// What links modules; a file that is not linked any more needs no names for it.
fn symbols<'a>(
    module: NewModule<'a>,
    parsed: &spirv::Module<'_>,
    state: State,
) -> Result<NewModule<'a>, Error> {
    if state == State::Executable {
        return Ok(module);
    }
    // Clang exports a copy of each kernel's body, and some writers each kernel.
    let kernel = |name: &str| parsed.kernels().iter().any(|kernel| kernel.name == name);
    let exports =
        parsed.exports().iter().filter(|name| !name.starts_with("__clang_ocl_kern_imp_") && !kernel(name));
    let module = module.with_exported(exports)?;
    module.with_imported(parsed.imports())
}

fn requirements(parsed: &spirv::Module<'_>) -> Requirements {
    let sub_groups: BTreeSet<Option<u32>> =
        parsed.kernels().iter().map(|kernel| kernel.sub_group_size).collect();
    let work_groups = parsed.kernels().iter().filter_map(|kernel| kernel.required_work_group);
    let volume = |size: &[u32; 3]| size.iter().map(|length| u64::from(*length)).product::<u64>();
    Requirements {
        aspects: aspects(parsed.aspects()),
        // The requirement is the module's: kernels that differ have none in common.
        sub_group_size: sub_groups.first().copied().flatten().filter(|_| sub_groups.len() == 1),
        // A device that takes the largest takes them all.
        work_group_size: work_groups.max_by_key(volume).map(|size| size.map(u64::from).to_vec()),
        compile_target: None,
    }
}

/// The numbers of SYCL's aspects
/// (<https://github.com/intel/llvm/blob/sycl/sycl/include/sycl/info/aspects.def>).
fn aspects(needed: Aspects) -> Vec<u32> {
    let numbers = [(Aspects::FP16, 5), (Aspects::FP64, 6), (Aspects::ATOMIC64, 28)];
    let has = |aspect: Aspects| aspect.missing_from(needed).is_empty();
    numbers.into_iter().filter(|(aspect, _)| has(*aspect)).map(|(_, number)| number).collect()
}
