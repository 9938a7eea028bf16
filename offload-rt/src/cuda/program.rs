//! An image as a module of CUDA's driver, and its launches.

use std::borrow::Cow;
use std::ffi::c_void;
use std::ptr;
use std::time::Duration;

use offload_format::pack::KernelInfo;

use super::api::{CuError, CuResult, call};
use super::buffer::Buffer;
use super::context::Entered;
use super::device::Found;
use super::driver::aftermath;
use super::function::Function;
use super::limits::Shape;
use super::module::CudaModule;
use super::params::{self, Param, Params};
use super::stream::Stream;
use crate::device::Device;
use crate::entry::LoadedImage;
use crate::error::{Error, Problem};
use crate::launch::{self, Arg, Driver, NdRange, Program};
use crate::text::escape;

/// An image that CUDA's driver has loaded. It may be launched from several threads at once.
///
/// Its kernels' records have what the pack knows, completed by the driver: registers, shared and private memory, the
/// largest work-group, and the sizes of arguments of which the pack knows nothing.
#[derive(Debug)]
pub struct CudaProgram {
    kernels: Vec<KernelInfo>,
    /// Of each kernel, in the same order.
    functions: Vec<Function>,
    module: CudaModule,
}

/// A kernel's record and handle. It has none of the pack if the pack has no records and the driver tells no names.
struct Kernel<'p> {
    name: &'p str,
    info: Option<&'p KernelInfo>,
    function: Cow<'p, Function>,
}

impl CudaProgram {
    /// Has the driver of `device` load `image`, a cubin or PTX.
    ///
    /// # Errors
    /// The device is not of CUDA; the image is of a kind that CUDA does not take; or the driver refuses it, and then
    /// the message holds its compiler's messages.
    pub fn new(device: &Device, image: &LoadedImage) -> Result<CudaProgram, Error> {
        let found = device.driver().ok_or_else(|| {
            Error::device(&device.to_string(), "it is not a CUDA device")
                .with_hint("take devices from offload_rt::cuda::devices()")
        })?;
        CudaProgram::on(found, image)
    }

    fn on(device: &Found, image: &LoadedImage) -> Result<CudaProgram, Error> {
        let failed = |what: &str| {
            let (name, what) = (device.name(), what.to_string());
            move |problem: Problem| Error::of_device(&name, problem.during(&what))
        };
        let context = device.context().map_err(|error| error.to_string().into());
        let context = context.map_err(failed("cannot use the device's context"))?;
        let module =
            CudaModule::load(&context, image).map_err(failed(&format!("cannot load {}", image.entry())))?;
        let resolved = resolve(&module, image.entry().kernels()).map_err(Problem::from);
        let (kernels, functions) = resolved.map_err(failed(&format!("cannot use {}", image.entry())))?;
        Ok(CudaProgram { kernels, functions, module })
    }

    fn kernel<'p>(&'p self, name: &'p str, entered: &Entered<'_>) -> Result<Kernel<'p>, Error> {
        if self.kernels.is_empty() {
            let function = self.module.function(name, entered).and_then(|raw| Function::of(raw, entered));
            let function = function.map_err(failed(name, "the image does not have it"))?;
            return Ok(Kernel { name, info: None, function: Cow::Owned(function) });
        }
        let info = launch::find(&self.kernels, name)?;
        let found = self.kernels.iter().zip(&self.functions).find(|(kernel, _)| kernel.name == name);
        let (_, function) = found.ok_or_else(|| Error::launch(name, "the image lost its entry"))?;
        Ok(Kernel { name, info: Some(info), function: Cow::Borrowed(function) })
    }
}

type Resolved = (Vec<KernelInfo>, Vec<Function>);

/// The kernels that the pack knows, or those that the driver knows, each with its handle.
fn resolve(module: &CudaModule, known: &[KernelInfo]) -> Result<Resolved, String> {
    let entered = module.context().enter().map_err(|error| error.to_string())?;
    let kernels = match known {
        [] => module.kernel_names(&entered).unwrap_or_default().into_iter().map(named).collect(),
        known => known.to_vec(),
    };
    let resolved = kernels.into_iter().map(|info| {
        let function = module.function(&info.name, &entered).and_then(|raw| Function::of(raw, &entered));
        let function = function.map_err(|error| format!("kernel `{}`: {error}", escape(&info.name)))?;
        Ok((function.complete(info), function))
    });
    Ok(resolved.collect::<Result<Vec<_>, String>>()?.into_iter().unzip())
}

fn named(name: String) -> KernelInfo {
    KernelInfo::new(name)
}

impl Driver for Found {
    fn open(&self, image: &LoadedImage) -> Result<Box<dyn Program>, Error> {
        Ok(Box::new(CudaProgram::on(self, image)?))
    }
}

impl Program for CudaProgram {
    fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    unsafe fn launch(&self, name: &str, range: &NdRange, args: &mut [Arg<'_>]) -> Result<Duration, Error> {
        let entered = self.module.context().enter().map_err(failed(name, "the context cannot be used"))?;
        let kernel = self.kernel(name, &entered)?;
        let (shape, offsets) = kernel.prepare(&entered, range, args)?;
        // Dropped from the last to the first: the stream ends before the host's buffers can.
        let stream = Stream::new(&entered).map_err(failed(name, "no stream"))?;
        // SAFETY: a stream is waited for when it is dropped, if not before.
        let buffers = unsafe { copy_in(args, &stream) };
        let buffers = buffers.map_err(failed(name, "an argument cannot be copied to the device"))?;
        let mut params = Params::new(params_of(args, &buffers, &offsets));
        // SAFETY: the parameters are as many and as large as the kernel's, as far as pack and driver know them; the
        // caller answers for what the kernel does with them.
        unsafe {
            let took = run(&kernel, &shape, &mut params, &stream)?;
            copy_out(args, &buffers, &stream).map_err(failed(name, "results cannot be read"))?;
            Ok(took)
        }
    }

    fn write_global(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        self.module
            .write_global(name, bytes)
            .map_err(|problem| Error::device(&format!("variable `{}`", escape(name)), problem))
    }
}

impl Kernel<'_> {
    /// The shape of the launch, and where each local argument starts in the dynamic shared memory.
    fn prepare(
        &self,
        entered: &Entered<'_>,
        range: &NdRange,
        args: &[Arg<'_>],
    ) -> Result<(Shape, Vec<u64>), Error> {
        self.check(range, args)?;
        let (offsets, local) = params::local_layout(args)
            .ok_or_else(|| Error::launch(self.name, "it is given more than 2^64 bytes of local memory"))?;
        let shape = entered.limits().shape(self.function.needs, range, local);
        let shape = shape.map_err(|problem| Error::of_launch(self.name, problem))?;
        self.function.opt_in(&shape, entered).map_err(failed(self.name, "the shared memory is refused"))?;
        Ok((shape, offsets))
    }

    /// Compares the launch with what the pack knows, and with what the driver knows.
    fn check(&self, range: &NdRange, args: &[Arg<'_>]) -> Result<(), Error> {
        match self.info {
            // A pack has no arguments of a kernel without any, and of one that it knows only by name; an old driver
            // does not tell which it is.
            Some(info) if info.args.as_ref().is_none_or(Vec::is_empty) && self.function.sizes.is_none() => {
                launch::check_range(info, range)?;
            }
            Some(info) => launch::check(info, range, args)?,
            None => (),
        }
        match &self.function.sizes {
            Some(sizes) => {
                params::check_sizes(sizes, args).map_err(|problem| Error::launch(self.name, problem))
            }
            None => Ok(()),
        }
    }
}

/// # Safety
/// The arguments live until the stream has been waited for.
unsafe fn copy_in<'c>(args: &[Arg<'_>], stream: &Stream<'c>) -> CuResult<Vec<Option<Buffer<'c>>>> {
    let copy = |arg: &Arg<'_>| {
        let bytes = match arg {
            Arg::In(bytes) => *bytes,
            Arg::InOut(bytes) => &**bytes,
            Arg::Value(_) | Arg::Local(_) => return Ok(None),
        };
        // SAFETY: as promised.
        unsafe { Buffer::copied(bytes, stream).map(Some) }
    };
    args.iter().map(copy).collect()
}

fn params_of(args: &[Arg<'_>], buffers: &[Option<Buffer<'_>>], offsets: &[u64]) -> Vec<Param> {
    let param = |((arg, buffer), offset): ((&Arg<'_>, &Option<Buffer<'_>>), &u64)| match (arg, buffer) {
        (Arg::Value(bytes), _) => Param::Bytes(bytes.as_ptr().cast_mut().cast::<c_void>()),
        (_, Some(buffer)) => Param::Word(buffer.address()),
        (_, None) => Param::Word(*offset),
    };
    args.iter().zip(buffers).zip(offsets).map(param).collect()
}

/// Launches the kernel, waits for it, and says how long it ran.
///
/// # Safety
/// As [`Program::launch`]; the parameters are the kernel's.
unsafe fn run(
    kernel: &Kernel<'_>,
    shape: &Shape,
    params: &mut Params,
    stream: &Stream<'_>,
) -> Result<Duration, Error> {
    let ([gx, gy, gz], [bx, by, bz]) = (shape.grid, shape.block);
    let failed = |error| failed(kernel.name, "the launch failed")(error);
    let start = stream.mark().map_err(failed)?;
    // SAFETY: the kernel's module is loaded in the current context; the driver copies the parameters during the
    // call. The caller answers for the rest.
    unsafe {
        let (function, shared, stream, functions) =
            (kernel.function.raw, shape.shared, stream.raw(), stream.functions());
        let (mut params, no_extra) = (params.pointers(), ptr::null_mut());
        let params = params.as_mut_ptr();
        call!(functions, cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, params, no_extra))
    }
    .map_err(failed)?;
    let end = stream.mark().map_err(failed)?;
    stream.wait().map_err(failed)?;
    Ok(end.since(&start))
}

/// # Safety
/// The buffers are those of `args`.
unsafe fn copy_out(
    args: &mut [Arg<'_>],
    buffers: &[Option<Buffer<'_>>],
    stream: &Stream<'_>,
) -> CuResult<()> {
    for (arg, buffer) in args.iter_mut().zip(buffers) {
        if let (Arg::InOut(bytes), Some(buffer)) = (arg, buffer) {
            // SAFETY: the buffer was made of these bytes, and the stream is waited for below, or when it is dropped.
            unsafe { buffer.read(bytes, stream)? };
        }
    }
    stream.wait()
}

fn failed(kernel: &str, what: &str) -> impl Fn(CuError) -> Error + use<> {
    let (kernel, what) = (kernel.to_string(), what.to_string());
    move |error| {
        let failed = Error::launch(&kernel, format!("{what}: {error}"));
        match aftermath(error) {
            Some(hint) => failed.with_hint(hint),
            None => failed,
        }
    }
}
