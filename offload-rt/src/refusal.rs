//! Refusals: the reasons why a device does not take an image.

use std::fmt;

use offload_format::{Aspects, ImageKind, SpecValue};

use crate::text::escape;

/// The reason why a device does not take an image.
///
/// Programs match the variants; [`Display`](fmt::Display) is a sentence about the image, for messages. The texts of some
/// variants name versions and architectures, in words that may change.
///
/// ```
/// use offload_format::codec::{self, Codec};
/// use offload_format::pack::{NewImage, PackBuilder};
/// use offload_rt::{Aspects, DeviceDescription, OpenClDescription, Refusal, Registry};
///
/// let frame = codec::encode(b"", Codec::Raw, 0)?;
/// let mut builder = PackBuilder::new("my-crate", "0.1.0");
/// let image = NewImage { aspects: Aspects::FP64, ..NewImage::new("blas", "opencl-c".parse()?) };
/// builder.image(image, frame.info())?;
/// let registry = Registry::from_pack(builder.finish()?.with_frames([&frame])?);
///
/// let gpu = DeviceDescription::from(OpenClDescription::new("some GPU", "someone").opencl_c());
/// let error = registry.request("blas").select(&gpu).unwrap_err();
/// let [refused] = error.refused_images() else { panic!() };
/// assert_eq!(*refused.refusal(), Refusal::LackingAspects(Aspects::FP64));
/// assert_eq!(refused.to_string(), "opencl-c: it needs fp64, which the device lacks");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Its target is of a later release.
    UnknownTarget,
    /// It is of a kind of a later release.
    UnknownKind(ImageKind),
    /// Its variant is written as in a later release.
    UnknownVariant,
    /// It needs aspects of a later release.
    UnknownAspects(Aspects),
    /// This program cannot decompress it; the text is the cause.
    Unreadable(String),
    /// It is for another kind of device, as an NVIDIA GPU.
    OtherDevice {
        /// The devices that it is for.
        target: &'static str,
        /// The device.
        device: &'static str,
    },
    /// It is for another architecture, family, stepping or level of the same kind of device.
    Architecture(String),
    /// It is for another mode of an AMD GPU, or for one that the GPU does not have.
    Mode {
        /// `xnack` or `sramecc`.
        mode: &'static str,
        /// The mode is on in the image.
        is_on: bool,
        /// The mode of the device, if it has it.
        device: Option<bool>,
    },
    /// The device takes no image of its form: no OpenCL C, no SPIR-V, or not in this version.
    Form(String),
    /// The driver or the runtime is too old for it.
    Driver(String),
    /// No image runs on the device: the device, its driver or its runtime is not supported.
    Device(String),
    /// It needs these aspects, which the device lacks.
    LackingAspects(Aspects),
    /// A kernel requires sub-groups of a size that the device does not have.
    SubGroup {
        /// The kernel.
        kernel: String,
        /// Work-items of the sub-groups that it requires.
        required: u32,
        /// The sizes that the device has.
        supported: Vec<u32>,
    },
    /// A kernel requires larger work-groups than the device has.
    WorkGroup {
        /// Work-items of the work-groups that it requires.
        required: u64,
        /// Work-items of the device's largest work-group.
        largest: u64,
    },
    /// It was built without the kernel.
    LackingKernel {
        /// The kernel.
        kernel: String,
        /// Why, if its pack tells: an inline assembly of another vendor, or the settings of the build.
        reason: Option<String>,
    },
    /// It lacks a requested specialisation constant.
    MissingConstant(String),
    /// Its specialisation constant has another type than the requested value.
    ConstantType {
        /// The constant.
        name: String,
        /// Its default.
        default: SpecValue,
        /// The requested value.
        requested: SpecValue,
    },
    /// It was compiled with another value of a specialisation constant, and takes no other.
    ConstantValue {
        /// The constant.
        name: String,
        /// The value that it was compiled with.
        compiled: SpecValue,
        /// The requested value.
        requested: SpecValue,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::UnknownTarget => f.write_str("its target is newer than this release of offload-rt"),
            Refusal::UnknownKind(kind) => {
                write!(f, "it is of kind {kind}, which is newer than this release of offload-rt")
            }
            Refusal::LackingKernel { kernel, reason } => {
                write!(f, "it was built without kernel `{}`", escape(kernel))?;
                reason.iter().try_for_each(|reason| write!(f, ": {}", escape(reason)))
            }
            Refusal::UnknownVariant => f.write_str("its variant is newer than this release of offload-rt"),
            Refusal::UnknownAspects(aspects) => {
                write!(f, "it needs {aspects}, which is newer than this release of offload-rt")
            }
            Refusal::Unreadable(cause) => write!(f, "it cannot be read: {cause}"),
            Refusal::OtherDevice { target, device } => write!(f, "it is for {target}, not for {device}"),
            Refusal::Architecture(text)
            | Refusal::Form(text)
            | Refusal::Driver(text)
            | Refusal::Device(text) => f.write_str(text),
            Refusal::Mode { mode, is_on, device: Some(device) } => {
                write!(f, "it needs {mode} {}, the device has it {}", on_or_off(*is_on), on_or_off(*device))
            }
            Refusal::Mode { mode, is_on, device: None } => {
                write!(f, "it needs {mode} {}, which the device does not have", on_or_off(*is_on))
            }
            Refusal::LackingAspects(aspects) => write!(f, "it needs {aspects}, which the device lacks"),
            Refusal::SubGroup { kernel, required, supported } => {
                let kernel = escape(kernel);
                let sizes: Vec<String> = supported.iter().map(ToString::to_string).collect();
                let sizes = sizes.join(", ");
                write!(f, "its kernel `{kernel}` requires sub-groups of {required}, the device has {sizes}")
            }
            Refusal::WorkGroup { required, largest } => write!(
                f,
                "it requires work-groups of {required} work-items, the device's largest has {largest}"
            ),
            Refusal::MissingConstant(name) => {
                write!(f, "it has no specialisation constant `{}`", escape(name))
            }
            Refusal::ConstantType { name, default, requested } => {
                let name = escape(name);
                let own = default.type_name();
                let requested = requested.type_name();
                write!(f, "its specialisation constant `{name}` is of the type `{own}`, not `{requested}`")
            }
            Refusal::ConstantValue { name, compiled, requested } => {
                let name = escape(name);
                write!(f, "it was compiled with {name} = {compiled}, and {requested} is asked for")
            }
        }
    }
}

fn on_or_off(mode: bool) -> &'static str {
    if mode { "on" } else { "off" }
}

/// A candidate of a failed selection, with its refusal; see [`Error::refused_images`](crate::Error::refused_images).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedImage {
    target: String,
    part: String,
    refusal: Refusal,
}

impl RefusedImage {
    pub(crate) fn new(target: &str, part: &str, refusal: Refusal) -> RefusedImage {
        RefusedImage { target: target.to_string(), part: part.to_string(), refusal }
    }

    /// The text of the image's target.
    pub fn target_text(&self) -> &str {
        &self.target
    }

    /// The part of a split module; empty if the image has all kernels of the module.
    pub fn part(&self) -> &str {
        &self.part
    }

    /// The reason.
    pub fn refusal(&self) -> &Refusal {
        &self.refusal
    }
}

impl fmt::Display for RefusedImage {
    /// `target: reason`, or `target [part]: reason`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape(&self.target))?;
        if !self.part.is_empty() {
            write!(f, " [{}]", escape(&self.part))?;
        }
        write!(f, ": {}", self.refusal)
    }
}
