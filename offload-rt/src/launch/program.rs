//! Programs: the loaded images of a module on a device, and their kernels.

use std::sync::{Arc, OnceLock};
#[cfg(debug_assertions)]
use std::sync::{Mutex, PoisonError};

use offload_format::pack::KernelInfo;

use super::check::{ArgShape, check, word};
#[cfg(debug_assertions)]
use super::newer::{Newer, Newest};
use super::signature::Signature;
use super::stream::Stream;
use crate::backend::{BackendKernel, BackendModule, KernelArg, find_kernel};
use crate::device::Device;
use crate::entry::{Entry, LoadedImage};
use crate::error::Error;
use crate::group_size::required_range;
use crate::index::Index;
use crate::libraries;
use crate::properties::KernelProperties;
use crate::range::NdRange;
use crate::select::Selection;
use crate::specialization::Specialization;

/// Images that a device's driver has accepted, with their kernels; made by
/// [`ImageRequest::load`](crate::ImageRequest::load), [`Device::open_selection`] or [`Device::open`].
///
/// ```no_run
/// use offload_rt::{KernelArg, NdRange};
/// # fn blas() -> &'static offload_rt::Module { unimplemented!() }
/// let device = offload_rt::Device::host();
/// let stream = device.stream()?;
/// let saxpy = blas().load(&device)?.kernel("saxpy")?;
///
/// let x = stream.upload(&vec![1.0f32; 1 << 20])?;
/// let mut y = stream.zeroed::<f32>(x.len())?;
/// let n = x.len() as u32;
/// let args = [KernelArg::value(&2.5f32), KernelArg::buffer(&x), KernelArg::buffer_mut(&mut y), KernelArg::value(&n)];
/// // SAFETY: each work-item reads and writes one element, and compares its number with `n`.
/// unsafe { saxpy.launch(&stream, NdRange::linear_at_least(x.len(), 256), &args)? };
/// assert_eq!(stream.download(&y)?[0], 2.5);
/// # Ok::<(), offload_rt::Error>(())
/// ```
#[derive(Debug)]
pub struct Program {
    device: Device,
    parts: Vec<ImageSlot>,
    /// The selection, which maps kernels to parts; `None` for a program of one image.
    selection: Option<Selection>,
    #[cfg(debug_assertions)]
    newer: Option<Arc<Newer<Program>>>,
}

/// A kernel of a [`Program`](crate::Program), ready to be launched. It keeps the program's image loaded.
#[derive(Debug)]
pub struct Kernel {
    backend: Arc<dyn BackendKernel>,
    device: Device,
    name: Arc<str>,
    signature: Signature,
    #[cfg(debug_assertions)]
    newer: Option<NewerKernel>,
}

/// The same kernel in newer images of its program.
#[cfg(debug_assertions)]
#[derive(Debug)]
struct NewerKernel {
    images: Arc<Newer<Program>>,
    last: Mutex<LastKernel>,
}

/// The last lookup of a launch.
#[cfg(debug_assertions)]
#[derive(Debug, Default)]
struct LastKernel {
    /// The number of the images of the lookup; 0 for none.
    number: u64,
    /// `None` if they have none that can be launched.
    kernel: Option<Arc<Kernel>>,
}

/// One image, opened when one of its kernels is used.
#[derive(Debug)]
struct ImageSlot {
    entry: Option<Entry>,
    /// The values of the image's specialisation constants.
    spec: Arc<Specialization>,
    module: OnceLock<Result<Arc<dyn BackendModule>, Error>>,
}

impl Device {
    /// Makes one program of all images of `selection`.
    ///
    /// A selection of one image is opened now. Of several, each is loaded and opened when one of its kernels is used for
    /// the first time, so that parts of a split module that are not used cost nothing.
    ///
    /// # Errors
    /// As [`Entry::load`] and [`Device::open`], if there is one image.
    pub fn open_selection(&self, selection: &Selection) -> Result<Program, Error> {
        let program = Program::from_selection(self, selection)?;
        #[cfg(debug_assertions)]
        let program = Program { newer: Newer::from_env(selection).map(Arc::new), ..program };
        Ok(program)
    }

    /// Hands `image` to the device's driver.
    ///
    /// # Errors
    /// The driver refuses the image (the message holds its build log), or the crate feature for the device is not
    /// enabled.
    pub fn open(&self, image: &LoadedImage) -> Result<Program, Error> {
        Ok(Program::from_module(self, load(self, image, None)?))
    }
}

impl Program {
    /// A program of one image is opened now: there is nothing to save by waiting, and its errors come early.
    pub(crate) fn from_selection(device: &Device, selection: &Selection) -> Result<Program, Error> {
        let spec = selection.spec();
        let mut parts = Vec::with_capacity(selection.entries().len());
        for entry in selection.entries() {
            parts.push(ImageSlot {
                entry: Some(entry.clone()),
                spec: Arc::clone(&spec),
                module: OnceLock::new(),
            });
        }
        if let [only] = parts.as_slice() {
            only.open(device, Some(selection.index()))?;
        }
        Ok(Program {
            device: device.clone(),
            parts,
            selection: Some(selection.clone()),
            #[cfg(debug_assertions)]
            newer: None,
        })
    }

    pub(crate) fn from_module(device: &Device, module: Arc<dyn BackendModule>) -> Program {
        let part = ImageSlot { entry: None, spec: Arc::default(), module: OnceLock::from(Ok(module)) };
        Program {
            device: device.clone(),
            parts: vec![part],
            selection: None,
            #[cfg(debug_assertions)]
            newer: None,
        }
    }

    /// The device that it is loaded on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Whether there is one image, which is open.
    pub(super) fn is_one_image(&self) -> bool {
        self.parts.len() == 1
    }

    /// The kernels, as far as the image's pack knows them, or those that the driver lists.
    pub fn kernels(&self) -> &[KernelInfo] {
        let known = self.selection.as_ref().map_or(&[][..], Selection::kernels);
        match self.parts.as_slice() {
            [only] => only.open(&self.device, self.index()).map_or(known, |module| module.kernels()),
            _ => known,
        }
    }

    /// Looks up a kernel, and opens its image if that has not happened yet.
    ///
    /// # Errors
    /// The kernel does not exist, or its image cannot be opened.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        let module = self.part_of(name)?.open(&self.device, self.index())?;
        // An image without records is left to the driver, which knows its kernels.
        if !module.kernels().is_empty() {
            find_kernel(module.kernels(), name)?;
        }
        let kernel = Kernel::new(Arc::clone(module).kernel(name)?, self.device.clone());
        #[cfg(debug_assertions)]
        let kernel = Kernel { newer: self.newer.clone().map(NewerKernel::new), ..kernel };
        Ok(kernel)
    }

    /// Writes `bytes` to the variable `name` of each image that has it (CUDA's `__constant__` and `__device__` data),
    /// of the same size.
    ///
    /// It does not wait for kernels that run at the same time: those may see old and new bytes.
    ///
    /// # Errors
    /// There is no such variable, it has another size, or the device has none that a program can write to.
    pub fn write_global(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let mut outcome = None;
        for part in &self.parts {
            let written = part.open(&self.device, self.index())?.write_global(name, bytes);
            outcome = match (outcome, written) {
                (Some(Ok(())), _) | (_, Ok(())) => Some(Ok(())),
                (Some(first), _) => Some(first),
                (None, failed) => Some(failed),
            };
        }
        outcome.unwrap_or(Ok(()))?;
        #[cfg(debug_assertions)]
        if let Some(newer) = &self.newer {
            newer.wrote_global(name, bytes);
            newer.latest(&self.device).map_or(Ok(()), |newest| newest.program.write_global(name, bytes))?;
        }
        Ok(())
    }

    /// Reads the variable `name` of the first image that has it to `bytes`, of the same size. It waits for all work of the
    /// device.
    ///
    /// # Errors
    /// There is no such variable, it has another size, or the device has none that a program can read.
    pub fn read_global(&self, name: &str, bytes: &mut [u8]) -> Result<(), Error> {
        #[cfg(debug_assertions)]
        if let Some(newest) = self.newer.as_ref().and_then(|newer| newer.latest(&self.device)) {
            return newest.program.read_global(name, bytes);
        }
        let mut failure = None;
        for part in &self.parts {
            match part.open(&self.device, self.index())?.read_global(name, bytes) {
                Ok(()) => return Ok(()),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(()), Err)
    }

    /// Where the variable `name` is in the first image that has it. Images are opened up to that one.
    #[cfg(all(feature = "launchers", target_os = "linux"))]
    pub(crate) fn variable(&self, name: &str) -> Result<Option<crate::backend::ImageVariable>, Error> {
        for part in &self.parts {
            if let Some(found) = part.open(&self.device, self.index())?.variable(name) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The images that those of the program were chosen from.
    fn index(&self) -> Option<&Arc<Index>> {
        self.selection.as_ref().map(Selection::index)
    }

    /// The image that has `kernel`.
    fn part_of(&self, kernel: &str) -> Result<&ImageSlot, Error> {
        match (self.parts.as_slice(), &self.selection) {
            ([only], None) => Ok(only),
            (parts, Some(selection)) => {
                let part = selection.index_for(kernel).and_then(|index| parts.get(index));
                part.ok_or_else(|| selection.without(kernel))
            }
            _ => Err(Error::launch(kernel, "the program has no image")),
        }
    }
}

#[cfg(debug_assertions)]
impl Newer<Program> {
    /// The newest program, with what was written to variables of the images before.
    fn latest(&self, device: &Device) -> Option<Arc<Newest<Program>>> {
        self.newest(|selection| {
            let program = Program::from_selection(device, selection)?;
            for (name, bytes) in self.globals().iter() {
                program.write_global(name, bytes)?;
            }
            Ok(program)
        })
    }
}

#[cfg(debug_assertions)]
impl NewerKernel {
    fn new(images: Arc<Newer<Program>>) -> NewerKernel {
        NewerKernel { images, last: Mutex::default() }
    }

    /// `kernel` in the newest images, if there are newer ones than its own.
    fn newest(&self, kernel: &Kernel) -> Option<Arc<Kernel>> {
        let newest = self.images.latest(&kernel.device)?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.number != newest.number {
            let found = newest.program.kernel(&kernel.name);
            found.as_ref().err().into_iter().for_each(|error| self.images.refuse_kernel(error));
            *last = LastKernel { number: newest.number, kernel: found.ok().map(Arc::new) };
        }
        last.kernel.clone()
    }
}

impl ImageSlot {
    fn open(&self, device: &Device, index: Option<&Arc<Index>>) -> Result<&Arc<dyn BackendModule>, Error> {
        let module = self.module.get_or_init(|| match &self.entry {
            Some(entry) => load(device, &entry.load()?.with_spec(Arc::clone(&self.spec)), index),
            None => Err(Error::device(&device.to_string(), "the program has no image")),
        });
        module.as_ref().map_err(Clone::clone)
    }
}

/// Hands `image` to the device's driver, with the libraries that it imports; `index` is that of its registry.
fn load(
    device: &Device,
    image: &LoadedImage,
    index: Option<&Arc<Index>>,
) -> Result<Arc<dyn BackendModule>, Error> {
    let libraries = libraries::resolve(image.entry(), index, device.description())?;
    device.backend().load(image, &libraries)
}

impl Kernel {
    pub(crate) fn new(backend: Box<dyn BackendKernel>, device: Device) -> Kernel {
        let name = backend.info().name.as_str().into();
        let signature = Signature::new(backend.info(), backend.context());
        Kernel {
            backend: backend.into(),
            device,
            name,
            signature,
            #[cfg(debug_assertions)]
            newer: None,
        }
    }

    /// The record of the kernel: arguments, registers, the largest work-group.
    pub fn info(&self) -> &KernelInfo {
        self.backend.info()
    }

    /// The properties of the kernel as it is loaded: registers, memory, and its work-groups. The driver is asked at each
    /// call.
    pub fn properties(&self) -> KernelProperties {
        #[cfg(debug_assertions)]
        if let Some(newest) = self.newer.as_ref().and_then(|newer| newer.newest(self)) {
            return newest.properties();
        }
        let properties = self.backend.properties();
        let required_work_group = properties.required_work_group.or(self.info().required_work_group);
        KernelProperties { required_work_group, ..properties }
    }

    /// At least `items` work-items in one dimension, in work-groups of a size that suits the kernel and its device: rounded
    /// up to whole groups as by [`NdRange::linear_at_least`], so that the kernel compares its id with the number that it needs.
    ///
    /// The size is the one with which the driver of a CUDA or HIP device expects the most work-items at a time on each
    /// multiprocessor. OpenCL devices and the host CPU get a multiple of what their vectors or sub-groups have, and small
    /// launches are spread over their units. A work-group size that the source requires is kept; if it has several
    /// dimensions, the groups lie along the first.
    ///
    /// The driver is asked at each call: keep the range where `items` stays.
    ///
    /// ```no_run
    /// # fn blas() -> &'static offload_rt::Module { unimplemented!() }
    /// let saxpy = blas().load(&offload_rt::Device::host())?.kernel("saxpy")?;
    /// let range = saxpy.suggest_at_least(1000)?;
    /// assert!(range.global()[0] >= 1000);
    /// # Ok::<(), offload_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// The driver does not answer.
    pub fn suggest_at_least(&self, items: usize) -> Result<NdRange, Error> {
        self.suggest_at_least_with(items, 0)
    }

    /// As [`suggest_at_least`](Kernel::suggest_at_least), for a launch with `shared_memory` bytes of shared memory for each
    /// work-group, which the range has: [`NdRange::with_shared_memory`].
    ///
    /// # Errors
    /// The driver does not answer, or no work-group can have so much shared memory.
    pub fn suggest_at_least_with(&self, items: usize, shared_memory: u32) -> Result<NdRange, Error> {
        #[cfg(debug_assertions)]
        if let Some(newest) = self.newer.as_ref().and_then(|newer| newer.newest(self)) {
            return newest.suggest_at_least_with(items, shared_memory);
        }
        let sizes = self.backend.group_sizes(shared_memory);
        let sizes = sizes.map_err(|problem| Error::from_launch(&self.name, problem))?;
        let range = match self.properties().required_work_group {
            Some(group) => required_range(items, group),
            None => sizes.range(items),
        };
        Ok(range.with_shared_memory(shared_memory))
    }

    /// The most work-groups of a cooperative launch ([`NdRange::cooperative`]): those of the local size and the shared memory
    /// of `range` that the device runs at the same time. The driver is asked at each call.
    ///
    /// ```
    /// use offload_rt::{Error, Kernel, NdRange};
    ///
    /// /// The largest range in work-groups of 256 that may meet at a grid-wide barrier.
    /// fn cooperative_range(kernel: &Kernel) -> Result<NdRange, Error> {
    ///     let groups = kernel.max_cooperative_groups(NdRange::linear_at_least(256, 256))?;
    ///     Ok(NdRange::linear_at_least(groups * 256, 256).cooperative())
    /// }
    /// ```
    ///
    /// # Errors
    /// The device has no cooperative launches, as OpenCL devices and the host CPU, cannot launch work-groups of this size,
    /// or the driver does not answer.
    pub fn max_cooperative_groups(&self, range: NdRange) -> Result<usize, Error> {
        #[cfg(debug_assertions)]
        if let Some(newest) = self.newer.as_ref().and_then(|newer| newer.newest(self)) {
            return newest.max_cooperative_groups(range);
        }
        let groups = self.backend.cooperative_groups(&range);
        match groups.map_err(|problem| Error::from_launch(&self.name, problem))? {
            Some(groups) => Ok(usize::try_from(groups).unwrap_or(usize::MAX)),
            None => Err(Error::launch(&self.name, format!("{} has no cooperative launches", self.device))),
        }
    }

    /// Puts the kernel into `stream` over `range`, and returns at once. On the host CPU it runs before this returns.
    ///
    /// The number of arguments, their kinds, the sizes of values and a required work-group size are compared with what
    /// the pack knows. Over a range without work-items nothing runs. A failure while it runs is reported by whatever waits for the stream next.
    ///
    /// # Errors
    /// Range or arguments do not fit the kernel, the stream or a buffer is of another device, or the driver refuses.
    ///
    /// # Safety
    /// A kernel can read and write anywhere in the memory of its device, which may be the program's own. The caller
    /// makes sure that it stays within its buffers for this range and these arguments, that it does not write to
    /// [`KernelArg::buffer`] and [`KernelArg::image`] arguments, that its work-items do not race, and that other streams use its buffers only
    /// after an [`Event`](crate::Event) orders them.
    #[allow(unsafe_code, reason = "what a kernel does is up to its author and the caller")]
    pub unsafe fn launch(
        &self,
        stream: &Stream,
        range: NdRange,
        args: &[KernelArg<'_>],
    ) -> Result<(), Error> {
        #[cfg(debug_assertions)]
        if let Some(newest) = self.newer.as_ref().and_then(|newer| newer.newest(self)) {
            // SAFETY: the contract is the same, and the caller's to keep.
            return unsafe { newest.launch(stream, range, args) };
        }
        if !self.signature.fit(stream.backend(), &range, args) {
            self.check(stream, &range, args)?;
        }
        // CUDA and HIP refuse a grid without blocks, and OpenCL does before 2.1; what it would order is in order without it.
        if range.is_empty() {
            return Ok(());
        }
        if let Some(recording) = stream.recording() {
            let recorded = recording.launch(&self.backend, &self.name, range, args);
            return recorded.map_err(|problem| Error::from_launch(&self.name, problem));
        }
        #[cfg(any(feature = "opencl", feature = "cuda", feature = "hip"))]
        stream.queued().prints(&*self.backend);
        // SAFETY: the contract is the same, and the caller's to keep.
        let launched = unsafe { self.backend.launch(stream.backend(), &range, args) };
        launched.map_err(|problem| Error::from_launch(&self.name, problem))?;
        stream.queued().add(&self.name);
        Ok(())
    }

    /// The device that it is loaded on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    #[cfg(any(feature = "opencl", feature = "cuda", feature = "hip"))]
    pub(crate) fn backend(&self) -> &Arc<dyn BackendKernel> {
        &self.backend
    }

    pub(super) fn check_given(
        &self,
        range: &NdRange,
        args: impl ExactSizeIterator<Item = ArgShape>,
    ) -> Result<(), Error> {
        check(self.info(), range, args)
    }

    /// Why the launch is refused, if it is.
    #[cold]
    fn check(&self, stream: &Stream, range: &NdRange, args: &[KernelArg<'_>]) -> Result<(), Error> {
        self.check_given(range, args.iter().map(KernelArg::given))?;
        self.check_context(stream, args)
    }

    fn check_context(&self, stream: &Stream, args: &[KernelArg<'_>]) -> Result<(), Error> {
        let own = self.backend.context();
        if stream.backend().context() != own {
            let problem = format!("it is loaded on {}, the stream is of {}", self.device, stream.device());
            return Err(Error::launch(&self.name, problem).with_hint("make the stream with that device"));
        }
        let mut numbered = args.iter().enumerate();
        let other = numbered.find(|(_, arg)| !arg.0.is_usable_in(own));
        match other {
            None => Ok(()),
            Some((index, arg)) => Err(Kernel::other_device(&self.name, index, arg, &self.device)),
        }
    }

    /// The error of an argument that is not of `device`, on which the kernel `name` is loaded.
    pub(super) fn other_device(name: &str, index: usize, arg: &KernelArg<'_>, device: &Device) -> Error {
        let problem = format!("argument {index} is {} of another device than {device}", word(arg.given()));
        Error::launch(name, problem).with_hint("upload the values with a stream of the kernel's device")
    }
}

#[cfg(all(test, feature = "opencl"))]
mod tests {
    use offload_format::codec::{self, Codec};
    use offload_format::pack::{NewImage, PackBuilder};

    use super::*;
    use crate::backend::{BackendDevice, BackendKernel, BackendStream};
    use crate::error::Problem;
    use crate::{OpenClDescription, Registry};

    /// A driver that has its copy of an image, as all do, when it has loaded it.
    #[derive(Debug)]
    struct Copying;

    #[derive(Debug)]
    struct Copied {
        size: usize,
    }

    impl BackendDevice for Copying {
        fn load(&self, image: &LoadedImage, _: &[Entry]) -> Result<Arc<dyn BackendModule>, Error> {
            Ok(Arc::new(Copied { size: image.bytes().len() }))
        }

        fn stream(&self) -> Result<Box<dyn BackendStream>, Problem> {
            Err("it has no streams".to_string().into())
        }
    }

    impl BackendModule for Copied {
        fn kernels(&self) -> &[KernelInfo] {
            &[]
        }

        fn kernel(self: Arc<Self>, name: &str) -> Result<Box<dyn BackendKernel>, Error> {
            Err(Error::launch(name, format!("an image of {} bytes is loaded", self.size)))
        }
    }

    #[test]
    fn bytes_are_released_when_the_driver_has_its_copy() {
        let frame = codec::encode(&[7; 1 << 20], Codec::Zstd, 3).unwrap();
        let mut builder = PackBuilder::new("p", "1.0.0");
        builder.image(NewImage::new("m", "opencl-c".parse().unwrap()), frame.info()).unwrap();
        let registry = Registry::from_pack(builder.finish().unwrap().with_frames([&frame]).unwrap());
        let device = Device::from_backend(OpenClDescription::new("d", "v").opencl_c(), Copying);
        let selection = registry.request("m").select(&device).unwrap();
        let program = device.open_selection(&selection).unwrap();
        let error = program.kernel("k").unwrap_err().to_string();
        assert!(error.contains("an image of 1048576 bytes is loaded"), "{error}");
        assert!(!selection.entry().is_held());
        // Only bytes in use are kept.
        let image = selection.entry().load().unwrap();
        assert!(selection.entry().is_held());
        drop(image);
        assert!(!selection.entry().is_held());
    }
}
