//! An image that the driver has loaded: finding its kernels and its variables.

use std::ffi::{CStr, CString};
use std::ptr;
use std::sync::Arc;

use offload_format::ImageKind;

use super::api::{
    CUDA_ERROR_NOT_FOUND, CUdeviceptr, CUfunction, CUmodule, CuError, CuResult, Functions, call,
};
use super::context::{Context, Entered};
use super::driver::problem;
use super::jit::{self, Ptx};
use super::stream::CudaStream;
use crate::backend::BackendStream;
use crate::entry::LoadedImage;
use crate::error::Problem;
use crate::output::{Output, PrintingImage};

/// A loaded module.
#[derive(Debug)]
pub(super) struct RawModule {
    raw: CUmodule,
    context: Arc<Context>,
    /// Released after the module, whose work is done then.
    output: Option<Arc<Output>>,
}

/// Where a variable of a module is in the device's memory.
struct Variable {
    address: CUdeviceptr,
    size: usize,
}

// SAFETY: the driver's functions may be called from any thread.
unsafe impl Send for RawModule {}
// SAFETY: as above; nothing changes after loading.
unsafe impl Sync for RawModule {}

impl RawModule {
    /// Loads `image`, linked with `libraries`. The error holds the messages of its compiler and a hint
    /// where there is one.
    pub(super) fn load(
        context: &Arc<Context>,
        image: &LoadedImage,
        libraries: &[LoadedImage],
    ) -> Result<RawModule, Problem> {
        let entered = context.enter().map_err(|error| Problem::from(error.to_string()))?;
        image.check_structure()?;
        let raw = match (image.entry().image_kind(), libraries) {
            (ImageKind::Ptx, []) => jit::load(&entered, &Ptx::new(image))?,
            (ImageKind::Ptx, _) => jit::load_linked(&entered, &linked(image, libraries)?)?,
            (ImageKind::Cubin, []) => jit::load_cubin(&entered, image.bytes())?,
            (kind, []) => return Err(format!("it is of kind {kind}, which CUDA does not take").into()),
            (kind, _) => return Err(format!("it is of kind {kind}, which CUDA does not link").into()),
        };
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

    pub(super) fn raw(&self) -> CUmodule {
        self.raw
    }

    /// The kernel `name`.
    pub(super) fn function(&self, name: &str, entered: &Entered<'_>) -> CuResult<CUfunction> {
        let functions = entered.functions();
        let mut found = ptr::null_mut();
        let name = CString::new(name).map_err(|_| CuError::Code(CUDA_ERROR_NOT_FOUND, functions))?;
        // SAFETY: the module is loaded; the function writes one handle.
        unsafe { call!(functions, cuModuleGetFunction(&raw mut found, self.raw, name.as_ptr())) }?;
        Ok(found)
    }

    /// The names of all kernels, if the driver tells them.
    pub(super) fn kernel_names(&self, entered: &Entered<'_>) -> Option<Vec<String>> {
        // SAFETY: the module is loaded in the context that is current.
        unsafe { kernel_names(entered.functions(), self.raw) }
    }

    fn variable(&self, name: &str, entered: &Entered<'_>) -> Result<Variable, String> {
        let c_name = CString::new(name).map_err(|_| "the name has a NUL".to_string())?;
        let module = self.raw;
        let name = c_name.as_ptr();
        let mut address = 0;
        let mut size = 0;
        // SAFETY: the module is loaded; the function writes an address and a size.
        let found = unsafe {
            call!(entered.functions(), cuModuleGetGlobal_v2(&raw mut address, &raw mut size, module, name))
        };
        match found {
            Ok(()) => Ok(Variable { address, size }),
            Err(error) if error.code() == Some(CUDA_ERROR_NOT_FOUND) => {
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
        Ok(Box::new(CudaStream::new(self.context.clone()).map_err(problem)?))
    }

    fn write_global(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let entered = self.context.enter().map_err(|error| error.to_string())?;
        let Variable { address, size } = self.variable(name, &entered)?;
        if size != bytes.len() {
            return Err(format!("it is {size} bytes, {} are given", bytes.len()));
        }
        let stream = CudaStream::new(self.context.clone()).map_err(|error| error.to_string())?;
        let copied = stream.copy_in(address, bytes).and_then(|()| stream.wait(&entered));
        copied.map_err(|error| error.to_string())
    }
}

impl Drop for RawModule {
    fn drop(&mut self) {
        if let Ok(entered) = self.context.enter() {
            // SAFETY: it was loaded once, in this context. Kernels of it may still run: the documentation does not say
            // that unloading waits for them.
            unsafe {
                let _ = call!(entered.functions(), cuCtxSynchronize());
                let _ = call!(entered.functions(), cuModuleUnload(self.raw));
            }
        }
    }
}

/// `image` and `libraries` for the driver's linker.
fn linked(image: &LoadedImage, libraries: &[LoadedImage]) -> Result<Vec<Ptx>, Problem> {
    let mut images = vec![Ptx::new(image)];
    for library in libraries {
        library.check_structure()?;
        images.push(Ptx::new(library));
    }
    Ok(images)
}

/// The names of a module's kernels; `None` before CUDA 12.4.
///
/// # Safety
/// `module` is loaded in the current context.
unsafe fn kernel_names(functions: &'static Functions, module: CUmodule) -> Option<Vec<String>> {
    let mut count = 0;
    // SAFETY: the function writes one number.
    unsafe { call!(functions, cuModuleGetFunctionCount(&raw mut count, module)) }.ok()?;
    let mut kernels = vec![ptr::null_mut(); count as usize];
    // SAFETY: there is space for so many handles.
    unsafe { call!(functions, cuModuleEnumerateFunctions(kernels.as_mut_ptr(), count, module)) }.ok()?;
    // SAFETY: the kernels are of the module.
    let names = kernels.into_iter().map(|kernel| unsafe { kernel_name(functions, kernel) });
    let mut names: Vec<String> = names.collect::<Option<_>>()?;
    names.sort();
    Some(names)
}

/// # Safety
/// `kernel` is of a module that is loaded in the current context.
unsafe fn kernel_name(functions: &'static Functions, kernel: CUfunction) -> Option<String> {
    let mut name = ptr::null();
    // SAFETY: the function writes one pointer.
    unsafe { call!(functions, cuFuncGetName(&raw mut name, kernel)) }.ok()?;
    if name.is_null() {
        return None;
    }
    // SAFETY: names are C strings that live as long as the module, and are copied.
    Some(unsafe { CStr::from_ptr(name) }.to_str().ok()?.to_string())
}
