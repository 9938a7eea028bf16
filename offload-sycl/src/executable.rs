//! Programs of bundles that can be launched, and their code.

use std::sync::Arc;
use std::time::Duration;

use offload_containers::syclbin::{KERNEL_PREFIX, NativeImage, NewModule, Requirements};
use offload_format::pack::KernelInfo;

use crate::context::OnDevice;
use crate::rules::Rules;
use crate::traits::DeviceArch;
use offload_rt::opencl::{Compiler, Executable as Built};
use offload_rt::{Arg, Error, Kernel, NdRange};

/// A built program with the kernels and requirements of its modules.
#[derive(Debug)]
pub(super) struct Image {
    pub(super) built: Built,
    pub(super) kernels: Vec<String>,
    pub(super) needs: Requirements,
}

/// The kernels of a bundle on one device, made by [`Bundle::program`](crate::Bundle::program).
#[derive(Debug)]
pub struct BundleProgram {
    // Released in this order.
    images: Vec<Image>,
    compiler: Arc<Compiler>,
    arch: DeviceArch,
    kernels: Vec<KernelInfo>,
    rules: Rules,
}

impl BundleProgram {
    /// A kernel that several images list is taken from the first.
    pub(super) fn new(on: &OnDevice, images: Vec<Image>) -> BundleProgram {
        let mut kernels = Vec::new();
        for name in images.iter().flat_map(|image| &image.kernels) {
            kernels.push(KernelInfo::new(name.clone()));
        }
        BundleProgram {
            images,
            compiler: Arc::clone(&on.compiler),
            arch: on.traits.arch,
            kernels,
            rules: on.rules,
        }
    }

    /// The image and the full name of the kernel that is meant by `name`.
    fn find(&self, name: &str) -> Option<(&Image, &str)> {
        let listed = self.kernels.iter().map(|kernel| kernel.name.as_str());
        let full = listed_name(self.rules, listed, name)?;
        let image = self.images.iter().find(|image| image.kernels.iter().any(|kernel| kernel == full))?;
        Some((image, full))
    }

    fn unknown(&self, name: &str) -> Error {
        let names: Vec<String> =
            self.kernels.iter().map(|kernel| kernel.name.escape_debug().to_string()).collect();
        let names = if names.is_empty() { "no kernels".to_string() } else { names.join(", ") };
        Error::launch(name, "the bundle has no such kernel").with_hint(format!("it has {names}"))
    }

    /// The kernels that the bundle lists.
    pub fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    /// Looks up a kernel, to be launched in a stream of the device.
    ///
    /// # Errors
    /// The bundle does not list it, or the driver does not know it.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        let (image, full) = self.find(name).ok_or_else(|| self.unknown(name))?;
        image.built.kernel(full)
    }

    /// Copies buffers to the device, runs a kernel over `range`, waits, copies the buffers of [`Arg::in_out`] back, and returns
    /// how long the kernel ran.
    ///
    /// # Errors
    /// As [`BundleProgram::kernel`]; or range or arguments do not fit it, or it failed.
    ///
    /// # Safety
    /// As that of [`offload_rt::Program::launch`].
    #[allow(unsafe_code, reason = "what a kernel does is up to its author and the caller")]
    pub unsafe fn launch(&self, name: &str, range: NdRange, args: &mut [Arg<'_>]) -> Result<Duration, Error> {
        // SAFETY: the contract is the same, and the caller's to keep.
        unsafe { self.kernel(name)?.launch_with_copies(range, args) }
    }

    pub(super) fn codes(&self) -> Result<Vec<Code>, Error> {
        let Some((target, arch)) = self.arch.native_names() else {
            return Err(Error::device(&self.compiler.name(), "SYCL has no name for its architecture"));
        };
        let mut codes = Vec::with_capacity(self.images.len());
        for Image { built, kernels, needs } in &self.images {
            let binary = self.compiler.binary("the bundle", built)?;
            let needs = Requirements { compile_target: Some(arch.clone()), ..needs.clone() };
            codes.push(Code { target, arch: arch.clone(), kernels: kernels.clone(), needs, binary });
        }
        Ok(codes)
    }
}

/// The kernel that a program means by `name`. A runtime puts the prefix before every name without it; by the rules of
/// the extension a kernel that is listed without prefix can be asked for as well.
pub(super) fn listed_name<'k>(
    rules: Rules,
    mut listed: impl Iterator<Item = &'k str> + Clone,
    name: &str,
) -> Option<&'k str> {
    let prefix = if name.starts_with(KERNEL_PREFIX) { "" } else { KERNEL_PREFIX };
    let mut plain = listed.clone();
    if let Some(prefixed) = listed.find(|kernel| kernel.strip_prefix(prefix) == Some(name)) {
        return Some(prefixed);
    }
    plain.find(|kernel| rules == Rules::Spec && *kernel == name)
}

/// The native code of an image.
#[derive(PartialEq)]
pub(super) struct Code {
    target: &'static str,
    arch: String,
    kernels: Vec<String>,
    needs: Requirements,
    binary: Vec<u8>,
}

impl Code {
    pub(super) fn module(&self) -> Result<NewModule<'_>, offload_format::Error> {
        let native = NativeImage { target: self.target, arch: &self.arch, image: &self.binary };
        let module = NewModule::default().with_kernels(&self.kernels)?;
        Ok(module.with_requirements(&self.needs).with_native(native))
    }
}
