//! Programs of bundles that can be launched, and their code.

use std::sync::Arc;
use std::time::Duration;

use offload_containers::syclbin::{KERNEL_PREFIX, Module, Native, Requirements};
use offload_format::pack::KernelInfo;

use crate::context::OnDevice;
use crate::rules::Rules;
use crate::traits::DeviceArch;
use offload_rt::opencl::{Compiler, Executable as Built};
use offload_rt::{Arg, Error, NdRange, Program};

/// A built program with what its modules said.
#[derive(Debug)]
pub(super) struct Image {
    pub(super) built: Built,
    pub(super) kernels: Vec<String>,
    pub(super) needs: Requirements,
}

/// The programs of one device.
#[derive(Debug)]
pub struct OfDevice {
    // Released in this order.
    images: Vec<Image>,
    compiler: Arc<Compiler>,
    arch: DeviceArch,
    kernels: Vec<KernelInfo>,
    rules: Rules,
}

impl OfDevice {
    /// A kernel that several images list is taken from the first.
    pub(super) fn new(on: &OnDevice, images: Vec<Image>) -> OfDevice {
        let info = |name: &String| KernelInfo::new(name.clone());
        let kernels = images.iter().flat_map(|image| &image.kernels).map(info).collect();
        OfDevice {
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

    pub(super) fn codes(&self) -> Result<Vec<Code>, Error> {
        let Some((target, arch)) = self.arch.native_names() else {
            return Err(Error::device(&self.compiler.name(), "SYCL has no name for its architecture"));
        };
        let code = |Image { built, kernels, needs }: &Image| {
            let binary = self.compiler.binary("the bundle", built)?;
            let needs = Requirements { compile_target: Some(arch.clone()), ..needs.clone() };
            Ok(Code { target, arch: arch.clone(), kernels: kernels.clone(), needs, binary })
        };
        self.images.iter().map(code).collect()
    }
}

impl Program for OfDevice {
    fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    fn kernel(&self, name: &str) -> Result<&KernelInfo, Error> {
        let full = self.find(name).map_or(name, |(_, full)| full);
        self.kernels.iter().find(|kernel| kernel.name == full).ok_or_else(|| self.unknown(name))
    }

    #[allow(unsafe_code, reason = "implements the trait")]
    unsafe fn launch(&self, name: &str, range: &NdRange, args: &mut [Arg<'_>]) -> Result<Duration, Error> {
        let Some((image, full)) = self.find(name) else {
            return Err(self.unknown(name));
        };
        // SAFETY: the contract is the same, and the caller's to keep.
        unsafe { image.built.launch(full, range, args) }
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
    let meant = |kernel: &&str| kernel.strip_prefix(prefix) == Some(name);
    let mut plain = listed.clone().filter(|kernel| rules == Rules::Spec && *kernel == name);
    listed.find(meant).or_else(|| plain.next())
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
    pub(super) fn module(&self) -> Result<Module<'_>, offload_format::Error> {
        let native = Native { target: self.target, arch: &self.arch, image: &self.binary };
        let module = Module::default().with_kernels(&self.kernels)?;
        Ok(module.with_requirements(&self.needs).with_native(native))
    }
}
