//! A code object that the runtime has loaded: finding its kernels and its variables.

use std::ffi::CString;
use std::ptr;
use std::sync::Arc;

use offload_format::{Target, bytes};

use super::api::{
    HipError, HipResult, call, hipDeviceptr_t, hipErrorInvalidImage, hipErrorNoBinaryForGpu,
    hipErrorNotFound, hipFunction_t, hipModule_t,
};
use super::context::{Context, Entered};
use super::runtime::problem;
use super::stream::HipStream;
use crate::backend::BackendStream;
use crate::entry::LoadedImage;
use crate::error::Problem;
use crate::output::{Output, PrintingImage};

const ELF: &[u8] = b"\x7fELF";
/// `EM_AMDGPU` (<https://llvm.org/docs/AMDGPUUsage.html#header>).
const EM_AMDGPU: u16 = 224;

/// A loaded module.
#[derive(Debug)]
pub(super) struct RawModule {
    raw: hipModule_t,
    context: Arc<Context>,
    /// Released after the module, whose work is done then.
    output: Option<Arc<Output>>,
}

/// Where a variable of a module is in the device's memory.
struct Variable {
    address: hipDeviceptr_t,
    size: usize,
}

// SAFETY: the runtime's functions may be called from any thread.
unsafe impl Send for RawModule {}
// SAFETY: as above; nothing changes after loading.
unsafe impl Sync for RawModule {}

impl RawModule {
    /// Loads `image`.
    pub(super) fn load(context: &Arc<Context>, image: &LoadedImage) -> Result<RawModule, Problem> {
        check(image)?;
        let entered = context.enter().map_err(problem)?;
        let code = image.bytes().as_ptr().cast();
        let mut raw = ptr::null_mut();
        // SAFETY: the image is a code object, and nothing in it reaches outside of it; the function writes one handle.
        unsafe { call!(entered.functions(), hipModuleLoadData(&raw mut raw, code)) }.map_err(refused)?;
        let mut module = RawModule { raw, context: context.clone(), output: None };
        module.output = Output::for_image(&module)?;
        Ok(module)
    }

    pub(super) fn output(&self) -> Option<&Arc<Output>> {
        self.output.as_ref()
    }

    pub(super) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    pub(super) fn raw(&self) -> hipModule_t {
        self.raw
    }

    /// The kernel `name`.
    pub(super) fn function(&self, name: &str, entered: &Entered<'_>) -> HipResult<hipFunction_t> {
        let functions = entered.functions();
        let mut found = ptr::null_mut();
        let name = CString::new(name).map_err(|_| HipError::Code(hipErrorNotFound, functions))?;
        // SAFETY: the module is loaded; the function writes one handle.
        unsafe { call!(functions, hipModuleGetFunction(&raw mut found, self.raw, name.as_ptr())) }?;
        Ok(found)
    }

    fn variable(&self, name: &str, entered: &Entered<'_>) -> Result<Variable, String> {
        let c_name = CString::new(name).map_err(|_| "the name has a NUL".to_string())?;
        let module = self.raw;
        let name = c_name.as_ptr();
        let mut address = ptr::null_mut();
        let mut size = 0;
        // SAFETY: the module is loaded; the function writes an address and a size.
        let found = unsafe {
            call!(entered.functions(), hipModuleGetGlobal(&raw mut address, &raw mut size, module, name))
        };
        match found {
            Ok(()) => Ok(Variable { address, size }),
            Err(error) if error.code() == Some(hipErrorNotFound) => {
                Err("the image has no such variable".to_string())
            }
            Err(error) => Err(error.to_string()),
        }
    }
}

impl PrintingImage for RawModule {
    fn has_variable(&self, name: &str) -> bool {
        self.context.enter().is_ok_and(|entered| self.variable(name, &entered).is_ok())
    }

    fn new_stream(&self) -> Result<Box<dyn BackendStream>, Problem> {
        Ok(Box::new(HipStream::new(self.context.clone()).map_err(problem)?))
    }

    fn write_global(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let entered = self.context.enter().map_err(|error| error.to_string())?;
        let Variable { address, size } = self.variable(name, &entered)?;
        if size != bytes.len() {
            return Err(format!("it is {size} bytes, {} are given", bytes.len()));
        }
        let stream = HipStream::new(self.context.clone()).map_err(|error| error.to_string())?;
        let copied = stream.copy_in(address, bytes).and_then(|()| stream.wait(&entered));
        copied.map_err(|error| error.to_string())
    }
}

impl Drop for RawModule {
    fn drop(&mut self) {
        if let Ok(entered) = self.context.enter() {
            // SAFETY: it was loaded once, on this device. Kernels of it may still run: the documentation does not say
            // that unloading waits for them.
            unsafe {
                let _ = call!(entered.functions(), hipDeviceSynchronize());
                let _ = call!(entered.functions(), hipModuleUnload(self.raw));
            }
        }
    }
}

/// Refuses all but a well-formed code object: the runtime gets no size, and would parse unchecked containers.
fn check(image: &LoadedImage) -> Result<(), Problem> {
    let entry = image.entry();
    if !matches!(entry.target(), Ok(Target::Amdgcn(_))) {
        let kind = entry.image_kind();
        return Err(
            format!("it is of kind {kind} for {}, which HIP does not take", entry.target_text()).into()
        );
    }
    let machine = bytes::u16_at(image.bytes(), 18, "ELF header").unwrap_or(0);
    if !image.bytes().starts_with(ELF) || machine != EM_AMDGPU {
        return Err("it is not an AMD code object".to_string().into());
    }
    image.check_structure().map_err(Problem::from)
}

fn refused(error: HipError) -> Problem {
    match error.code() {
        Some(hipErrorNoBinaryForGpu | hipErrorInvalidImage) => {
            let hint = "compare the target with `rocminfo`'s name of the device; generic targets need ROCm 6.3 or later";
            Problem::with_hint(error.to_string(), hint)
        }
        _ => problem(error),
    }
}
