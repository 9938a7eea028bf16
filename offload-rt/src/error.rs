//! The error of everything in this crate.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use offload_format::Import;

#[cfg(any(feature = "cuda", feature = "hip"))]
use crate::driver_library::is_not_found;
use crate::refusal::{Refusal, RefusedImage};
use crate::text::escape;

/// Why an image could not be found, selected, loaded or launched.
///
/// [`Display`](fmt::Display) names what was asked for and what was found; where there is a [`hint`](Error::hint), it is
/// the last line. Programs decide by [`kind`](Error::kind). Clones share their content.
///
/// ```
/// use offload_rt::{Device, ErrorKind, Registry};
///
/// let error = Registry::default().request("blas").select(&Device::host()).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::UnknownModule);
/// assert!(error.hint().is_some_and(|hint| hint.contains("use my_kernels as _;")));
/// ```
#[derive(Clone)]
pub struct Error {
    case: Arc<Case>,
}

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An image's bytes could not be restored: they are damaged, or compressed in a way of a later release.
    Image,
    /// No image of that kernel module exists.
    UnknownModule,
    /// Several packages have a kernel module of that name.
    AmbiguousModule,
    /// The module has no such variant, or has variants and none was asked for.
    UnknownVariant,
    /// None of the module's images has the kernel.
    UnknownKernel,
    /// No image, or none that has the kernel, fits the device.
    NoFit,
    /// A device library that the image imports is not in the process, or does not fit.
    Library,
    /// The kernel does not allow the launch, or the launch failed.
    Launch,
    /// No driver for the kind of device is installed, or it has no device.
    NoDevice,
    /// A device, its driver or the system refused.
    Device,
}

#[derive(Debug)]
pub(crate) enum Case {
    /// An image's bytes could not be restored.
    Image { image: String, cause: offload_format::Error },
    /// No image of that module exists.
    UnknownModule { module: String, present: Vec<String>, missing: Vec<String>, absence: Absence },
    /// Several packages have a module of that name.
    Ambiguous { module: String, packages: Vec<String> },
    /// The module's images all fail to fit the device.
    NoFit { module: String, device: String, refused: Vec<RefusedImage>, missing: Vec<String>, remedy: Remedy },
    /// The module has no such variant, or has variants and none was asked for.
    Variant { module: String, problem: String, present: Vec<String> },
    /// None of the module's images has the kernel.
    UnknownKernel { kernel: String, module: String, present: Vec<String> },
    /// None of the images that have the kernel fits the device.
    NoFitForKernel {
        kernel: String,
        module: String,
        device: String,
        refused: Vec<RefusedImage>,
        missing: Vec<String>,
        present: Vec<String>,
    },
    /// No device library is what the image imports.
    Library { image: String, package: String, import: Import, refused: Vec<String> },
    /// A launch was asked for that the kernel does not allow.
    Launch { kernel: String, problem: Problem },
    /// A kind of device has no driver here, or its driver has no device.
    NoDevice { device: String, problem: Problem },
    /// A device, its driver or the system refused.
    Device { device: String, problem: Problem },
}

/// The text of a failure, and a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) text: String,
    pub(crate) hint: Option<Cow<'static, str>>,
}

/// Why a kernel module has no images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absence {
    /// They are in files that were not found.
    Files,
    /// A pack cannot be read.
    Damage,
    /// The build left them out.
    Build,
    /// Nothing is known of them.
    Unknown,
}

/// The remedy if no image fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// Files with images are missing.
    Files,
    /// The device takes images of this target.
    Target(String),
    /// The images are for this GPU, but come through another driver; this one takes images of a target, if of any.
    Driver {
        feature: &'static str,
        target: Option<String>,
    },
    /// Images of a target that the device takes are there, and refused for what their kernels need.
    Kernels,
    /// Images are there, with other values of specialisation constants.
    Values,
    None,
}

/// Where packs outside the program come from.
const MISSING_FILES: &str =
    "`cargo build` recreates packs of the compile cache; packs of a finished program belong beside it";

/// Where a build compiled no kernels.
const LEFT_OUT: &str = "no device is at fault: build the program again without what the reason above names, so that its kernels are compiled";

/// Where bytes have changed since the build.
const DAMAGED: &str = "copy the program and its `.offload` files again, or rebuild; `cargo offload verify PROGRAM` names every damaged image";

impl Error {
    /// A launch of `kernel` that fails because of `problem`.
    pub fn launch(kernel: &str, problem: impl Into<String>) -> Error {
        Error::from_launch(kernel, problem.into().into())
    }

    /// A failure of `device`, which may be any part of the system, because of `problem`.
    pub fn device(device: &str, problem: impl Into<String>) -> Error {
        Error::from_device(device, problem.into().into())
    }

    /// There is no device of the kind `device`, because of `problem`.
    pub(crate) fn no_device(device: &str, problem: impl Into<String>) -> Error {
        Case::NoDevice { device: device.to_string(), problem: problem.into().into() }.into()
    }

    /// The library of a driver cannot be opened: it is not installed, or broken.
    #[cfg(any(feature = "cuda", feature = "hip"))]
    pub(crate) fn driver_library(device: &str, problem: String) -> Error {
        if is_not_found(&problem) {
            Error::no_device(device, problem)
        } else {
            Error::device(device, problem)
        }
    }

    /// The same error of a launch or a device with what its reader can do about it.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<Cow<'static, str>>) -> Error {
        let hint = Some(hint.into());
        match &*self.case {
            Case::Launch { kernel, problem } => {
                Error::from_launch(kernel, Problem { hint, ..problem.clone() })
            }
            Case::Device { device, problem } => {
                Error::from_device(device, Problem { hint, ..problem.clone() })
            }
            Case::NoDevice { device, problem } => {
                Case::NoDevice { device: device.clone(), problem: Problem { hint, ..problem.clone() } }.into()
            }
            _ => self,
        }
    }

    pub(crate) fn from_launch(kernel: &str, problem: Problem) -> Error {
        Case::Launch { kernel: kernel.to_string(), problem }.into()
    }

    pub(crate) fn from_device(device: &str, problem: Problem) -> Error {
        Case::Device { device: device.to_string(), problem }.into()
    }

    /// The kind of failure, for programs that react to it.
    pub fn kind(&self) -> ErrorKind {
        match &*self.case {
            Case::Image { .. } => ErrorKind::Image,
            Case::UnknownModule { .. } => ErrorKind::UnknownModule,
            Case::Ambiguous { .. } => ErrorKind::AmbiguousModule,
            Case::NoFit { .. } | Case::NoFitForKernel { .. } => ErrorKind::NoFit,
            Case::Variant { .. } => ErrorKind::UnknownVariant,
            Case::UnknownKernel { .. } => ErrorKind::UnknownKernel,
            Case::Library { .. } => ErrorKind::Library,
            Case::Launch { .. } => ErrorKind::Launch,
            Case::NoDevice { .. } => ErrorKind::NoDevice,
            Case::Device { .. } => ErrorKind::Device,
        }
    }

    /// The candidates of a failed selection with their refusals; none for other errors.
    pub fn refused_images(&self) -> &[RefusedImage] {
        match &*self.case {
            Case::NoFit { refused, .. } | Case::NoFitForKernel { refused, .. } => refused,
            _ => &[],
        }
    }

    /// The message without the hint.
    pub fn problem(&self) -> String {
        self.case.to_string()
    }

    /// The hint, if there is one; [`Display`](fmt::Display) has it as its last line.
    pub fn hint(&self) -> Option<String> {
        Some(match &*self.case {
            Case::Image { cause, .. } => match cause.kind() {
                offload_format::ErrorKind::Damaged { .. } => DAMAGED.to_string(),
                _ => return None,
            },
            Case::Launch { problem, .. } | Case::NoDevice { problem, .. } | Case::Device { problem, .. } => {
                return problem.hint.clone().map(Cow::into_owned);
            }
            Case::Library { import, refused, .. } if refused.is_empty() => format!(
                "mention the crate in the program, as with `use {} as _;`, or load the library that has it before; it exports `{}` with `.link(Link::Load)`",
                escape(&import.package.replace('-', "_")),
                escape(&import.library)
            ),
            Case::Library { .. } => {
                "build both with one version of that crate, and for the same targets".to_string()
            }
            Case::UnknownModule { absence: Absence::Files, .. } => MISSING_FILES.to_string(),
            Case::UnknownModule { absence: Absence::Damage, .. } => DAMAGED.to_string(),
            Case::UnknownModule { absence: Absence::Build, .. } => LEFT_OUT.to_string(),
            Case::UnknownModule { present, .. } => match present.as_slice() {
                [] => "a crate with kernels is linked only if the program mentions it, as with `use my_kernels as _;`".to_string(),
                names => list_names("there are", names),
            },
            Case::Ambiguous { .. } => {
                "use the function `module()` that `include_kernels!` generates in each package".to_string()
            }
            Case::NoFit { remedy, .. } => match remedy {
                Remedy::Files => MISSING_FILES.to_string(),
                Remedy::Target(target) => {
                    format!("add a target that fits, as with `cargo offload targets add {target}`, and rebuild")
                }
                Remedy::Driver { feature, target } => {
                    let other = target.as_ref().map(|target| format!("; for OpenCL, `cargo offload targets add {target}`"));
                    let other = other.unwrap_or_default();
                    format!("take the device from `offload_rt::{feature}::devices()` (feature `{feature}`), for which there are images{other}")
                }
                Remedy::Kernels => "an image of a target that the device takes is there; the reason above says what it needs more".to_string(),
                Remedy::Values => "list the value in build.rs, as with `.variants(\"TILE\", [16, 32])`; OpenCL devices take any value of images for `spirv64` or `opencl-c`".to_string(),
                Remedy::None => "this device takes no target that there is: the target `host` runs on every CPU".to_string(),
            },
            Case::Variant { present, .. } if present.is_empty() => "ask for the module without `.variant(...)`".to_string(),
            Case::Variant { present, .. } => list_names("choose one by `.variant(NAME, VALUE)` of the request; there are", present),
            Case::UnknownKernel { present, .. } => list_names("it has", present),
            Case::NoFitForKernel { present, refused, .. }
                if refused.iter().any(|image| matches!(image.refusal(), Refusal::LackingKernel { .. })) =>
            {
                list_names("take a device whose image has it, or use the other kernels:", present)
            }
            Case::NoFitForKernel { present, .. } => {
                list_names("add a target that fits, or use the other kernels:", present)
            }
        })
    }
}

fn list_names(before: &str, names: &[String]) -> String {
    format!("{before} {}", names.join(", "))
}

impl From<Case> for Error {
    fn from(case: Case) -> Error {
        Error { case: Arc::new(case) }
    }
}

impl From<String> for Problem {
    fn from(text: String) -> Problem {
        Problem { text, hint: None }
    }
}

impl Problem {
    pub(crate) fn with_hint(text: String, hint: impl Into<Cow<'static, str>>) -> Problem {
        Problem { text, hint: Some(hint.into()) }
    }

    /// The same with what was tried in front of it.
    pub(crate) fn during(self, what: &str) -> Problem {
        Problem { text: format!("{what}: {}", self.text), hint: self.hint }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.case.fmt(f)?;
        self.hint().map_or(Ok(()), |hint| write!(f, "\nhint: {hint}"))
    }
}

impl fmt::Display for Case {
    /// The message without the hint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Case::Image { image, cause } => write!(f, "cannot load {image}: {cause}"),
            Case::UnknownModule { module, present, missing, .. } => {
                write!(f, "no kernel module `{}`", escape(module))?;
                list(f, "not in this program", missing)?;
                if present.is_empty() && missing.is_empty() {
                    f.write_str("; there are no kernel modules at all")
                } else {
                    Ok(())
                }
            }
            Case::Ambiguous { module, packages } => {
                write!(
                    f,
                    "kernel module `{}` is in several packages: {}",
                    escape(module),
                    packages.join(", ")
                )
            }
            Case::NoFit { module, device, refused, missing, .. } => {
                write!(f, "no image of kernel module `{}` fits {device}", escape(module))?;
                list(f, "refused", refused)?;
                list(f, "not in this program", missing)
            }
            Case::Variant { module, problem, .. } => {
                write!(f, "kernel module `{}` {problem}", escape(module))
            }
            Case::UnknownKernel { kernel, module, .. } => {
                let kernel = escape(kernel);
                let module = escape(module);
                write!(f, "kernel `{kernel}`: kernel module `{module}` has no such kernel")
            }
            Case::NoFitForKernel { kernel, module, device, refused, missing, .. } => {
                let kernel = escape(kernel);
                let module = escape(module);
                write!(
                    f,
                    "kernel `{kernel}`: no image of kernel module `{module}` that has it fits {device}"
                )?;
                list(f, "refused", refused)?;
                list(f, "not in this program", missing)
            }
            Case::Library { image, package, import, refused } => {
                let Import { library, package: other, version, .. } = import;
                write!(
                    f,
                    "cannot load {image}: crate `{}` imports the device library `{}` of crate `{}` {}, ",
                    escape(package),
                    escape(library),
                    escape(other),
                    escape(version)
                )?;
                if refused.is_empty() {
                    f.write_str("which is nowhere in this process")
                } else {
                    f.write_str("and none in this process fits")
                }?;
                list(f, "refused", refused)
            }
            Case::Launch { kernel, problem } => write!(f, "kernel `{}`: {}", escape(kernel), problem.text),
            Case::NoDevice { device, problem } | Case::Device { device, problem } => {
                write!(f, "{device}: {}", problem.text)
            }
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, title: &str, lines: &[impl fmt::Display]) -> fmt::Result {
    if lines.is_empty() {
        return Ok(());
    }
    write!(f, "\n{title}:")?;
    lines.iter().try_for_each(|line| write!(f, "\n  {line}"))
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Error").field(&self.case).finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.case {
            Case::Image { cause, .. } => Some(cause),
            _ => None,
        }
    }
}
