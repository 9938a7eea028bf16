//! Bundles that can be launched, and their code as a file.

use std::sync::Arc;
use std::time::Duration;

use offload_containers::syclbin::{ImageKindNumber, Module, Native, Requirements, State, write};
use offload_format::pack::KernelInfo;

use super::Rules;
use super::context::OnDevice;
use super::state::{Bundle, Executable, listed_name};
use super::traits::DeviceArch;
use crate::device::Device;
use crate::error::Error;
use crate::launch::{Arg, NdRange, Program, find};
use crate::opencl::{Built, Online};

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
    online: Arc<Online>,
    arch: DeviceArch,
    kernels: Vec<KernelInfo>,
    rules: Rules,
}

impl OfDevice {
    /// A kernel that several images list is taken from the first.
    pub(super) fn new(on: &OnDevice, images: Vec<Image>) -> OfDevice {
        let info =
            |name: &String| KernelInfo { name: name.clone(), args_unknown: true, ..KernelInfo::default() };
        let kernels = images.iter().flat_map(|image| &image.kernels).map(info).collect();
        OfDevice { images, online: Arc::clone(&on.online), arch: on.traits.arch, kernels, rules: on.rules }
    }

    /// The image and the full name of the kernel that is meant by `name`.
    fn find(&self, name: &str) -> Option<(&Image, &str)> {
        let listed = self.kernels.iter().map(|kernel| kernel.name.as_str());
        let full = listed_name(self.rules, listed, name)?;
        let image = self.images.iter().find(|image| image.kernels.iter().any(|kernel| kernel == full))?;
        Some((image, full))
    }

    fn codes(&self) -> Result<Vec<Code>, Error> {
        let Some((target, arch)) = self.arch.native_names() else {
            return Err(Error::device(&self.online.name(), "SYCL has no name for its architecture"));
        };
        let code = |Image { built, kernels, needs }: &Image| {
            let binary = self.online.binary("the bundle", built)?;
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
        find(&self.kernels, self.find(name).map_or(name, |(_, full)| full))
    }

    #[allow(unsafe_code, reason = "implements the trait")]
    unsafe fn launch(&self, name: &str, range: &NdRange, args: &mut [Arg<'_>]) -> Result<Duration, Error> {
        let Some((image, full)) = self.find(name) else {
            return Err(find(&self.kernels, name)
                .err()
                .unwrap_or_else(|| Error::launch(name, "is not there")));
        };
        // SAFETY: the contract is the same, and the caller's to keep.
        unsafe { self.online.launch((&image.built, full), range, args) }
    }
}

impl Bundle<Executable> {
    /// The kernels for `device`; each is called with or without SYCL's prefix `__sycl_kernel_`.
    ///
    /// # Errors
    /// The device is not one of the context's.
    pub fn program(&self, device: &Device) -> Result<&dyn Program, Error> {
        let index = self.context.index_of(device);
        match index.and_then(|index| self.devices.get(index)) {
            Some(of_device) => Ok(of_device),
            None => Err(Error::device(&device.description(), "is not a device of the bundle's context")),
        }
    }

    /// The bundle as a SYCLBIN in state executable: the native code of each device, as its driver tells it, for
    /// example to spare the next run the compilation.
    ///
    /// # Errors
    /// SYCL has no name for the architecture of a device, by which the code would be found again; or a driver does not
    /// tell it.
    pub fn content(&self) -> Result<Vec<u8>, Error> {
        let mut codes: Vec<Code> = Vec::new();
        for code in
            self.devices.iter().map(OfDevice::codes).collect::<Result<Vec<_>, _>>()?.into_iter().flatten()
        {
            // Two devices of one kind have one code.
            if !codes.contains(&code) {
                codes.push(code);
            }
        }
        let modules = codes.iter().map(Code::module).collect::<Result<Vec<_>, _>>();
        let written =
            modules.and_then(|modules| write(State::Executable, &modules, ImageKindNumber::default()));
        written.map_err(|error| Error::device("SYCLBIN", error.to_string()))
    }
}

/// The native code of an image.
#[derive(PartialEq)]
struct Code {
    target: &'static str,
    arch: String,
    kernels: Vec<String>,
    needs: Requirements,
    binary: Vec<u8>,
}

impl Code {
    fn module(&self) -> Result<Module<'_>, offload_format::Error> {
        let native = Native { target: self.target, arch: &self.arch, image: &self.binary };
        Module::default().with_kernels(&self.kernels)?.with_requirements(&self.needs)?.with_native(native)
    }
}
