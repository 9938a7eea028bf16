//! A module that the library has loaded: its kernels and its variables.

use std::ffi::CString;
use std::ptr;
use std::sync::Arc;

use super::api::{DriverApi, RawFunction, RawModule};
use super::context::{Context, Entered};
use super::error::{ApiError, ApiResult, NOT_FOUND};
use super::stream::GpuStream;
use crate::backend::BackendStream;
use crate::entry::LoadedImage;
use crate::error::Problem;
use crate::output::{Output, PrintingImage};

/// A loaded module.
#[derive(Debug)]
pub(crate) struct DriverModule<A: DriverApi> {
    raw: RawModule,
    context: Arc<Context<A>>,
    /// Released after the module, whose work is done then.
    output: Option<Arc<Output>>,
}

/// Where a variable of a module is in the device's memory.
struct Variable {
    address: u64,
    size: usize,
}

// SAFETY: the library's functions may be called from any thread.
unsafe impl<A: DriverApi> Send for DriverModule<A> {}
// SAFETY: as above; nothing changes after loading.
unsafe impl<A: DriverApi> Sync for DriverModule<A> {}

impl<A: DriverApi> DriverModule<A> {
    /// Loads `image`, linked with `libraries`.
    pub(super) fn load(
        context: &Arc<Context<A>>,
        image: &LoadedImage,
        libraries: &[LoadedImage],
    ) -> Result<DriverModule<A>, Problem> {
        let entered = context.enter()?;
        let raw = A::load_module(&entered, image, libraries)?;
        let mut module = DriverModule { raw, context: context.clone(), output: None };
        module.output = Output::for_image(&module)?;
        Ok(module)
    }

    pub(super) fn output(&self) -> Option<&Arc<Output>> {
        self.output.as_ref()
    }

    pub(super) fn context(&self) -> &Arc<Context<A>> {
        &self.context
    }

    pub(crate) fn raw(&self) -> RawModule {
        self.raw
    }

    /// The kernel `name`.
    pub(super) fn function(&self, name: &str, entered: &Entered<'_, A>) -> ApiResult<RawFunction, A> {
        let api = entered.api();
        let mut function = ptr::null_mut();
        let name = CString::new(name).map_err(|_| ApiError::Code(NOT_FOUND, api))?;
        // SAFETY: the module is loaded; the function writes one handle.
        unsafe { api.get_function(&raw mut function, self.raw, name.as_ptr()) }?;
        Ok(function)
    }

    /// The names of all kernels, if the library tells them.
    pub(super) fn kernel_names(&self, entered: &Entered<'_, A>) -> Option<Vec<String>> {
        // SAFETY: the module is loaded in the context that is current.
        unsafe { entered.api().kernel_names(self.raw) }
    }

    /// Where the variable `name` is, if the image has it.
    #[cfg(all(feature = "launchers", target_os = "linux"))]
    pub(super) fn variable_address(&self, name: &str) -> Option<crate::backend::ImageVariable> {
        let entered = self.context.enter().ok()?;
        let Variable { address, size } = self.variable(name, &entered).ok()?;
        Some(crate::backend::ImageVariable { address: usize::try_from(address).ok()?, size })
    }

    /// Waits for all work of the context, and reads the variable `name`.
    pub(super) fn read_global(&self, name: &str, bytes: &mut [u8]) -> Result<(), String> {
        let entered = self.context.enter().map_err(|error| error.to_string())?;
        let Variable { address, size } = self.variable(name, &entered)?;
        if size != bytes.len() {
            return Err(format!("it is {size} bytes, {} are asked for", bytes.len()));
        }
        let api = entered.api();
        let stream = GpuStream::new(self.context.clone()).map_err(|error| error.to_string())?;
        // SAFETY: the variable has this size, and `bytes` lives until the stream has been waited for.
        let copied = unsafe {
            api.synchronize()
                .and_then(|()| api.copy_from_device(bytes.as_mut_ptr().cast(), address, size, stream.raw))
        };
        copied.and_then(|()| stream.wait(&entered)).map_err(|error| error.to_string())
    }

    fn variable(&self, name: &str, entered: &Entered<'_, A>) -> Result<Variable, String> {
        let name = CString::new(name).map_err(|_| "the name has a NUL".to_string())?;
        let mut address = 0;
        let mut size = 0;
        // SAFETY: the module is loaded; the function writes an address and a size.
        let queried =
            unsafe { entered.api().get_global(&raw mut address, &raw mut size, self.raw, name.as_ptr()) };
        match queried {
            Ok(()) => Ok(Variable { address, size }),
            Err(error) if error.code() == Some(NOT_FOUND) => {
                Err("the image has no such variable".to_string())
            }
            Err(error) => Err(error.to_string()),
        }
    }
}

impl<A: DriverApi> PrintingImage for DriverModule<A> {
    fn has_variable(&self, name: &str) -> bool {
        self.context.enter().is_ok_and(|entered| self.variable(name, &entered).is_ok())
    }

    fn new_stream(&self) -> Result<Box<dyn BackendStream>, Problem> {
        Ok(Box::new(GpuStream::new(self.context.clone())?))
    }

    fn write_global(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let entered = self.context.enter().map_err(|error| error.to_string())?;
        let Variable { address, size } = self.variable(name, &entered)?;
        if size != bytes.len() {
            return Err(format!("it is {size} bytes, {} are given", bytes.len()));
        }
        let stream = GpuStream::new(self.context.clone()).map_err(|error| error.to_string())?;
        let copied = stream.copy_in(address, bytes).and_then(|()| stream.wait(&entered));
        copied.map_err(|error| error.to_string())
    }
}

impl<A: DriverApi> Drop for DriverModule<A> {
    fn drop(&mut self) {
        if let Ok(entered) = self.context.enter() {
            // SAFETY: it was loaded once, in this context. Kernels of it may still run: neither documentation says that
            // unloading waits for them.
            unsafe {
                let _ = entered.api().synchronize();
                let _ = entered.api().unload_module(self.raw);
            }
        }
    }
}
