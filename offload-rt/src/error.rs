//! The error of everything in this crate.

use std::fmt;
use std::sync::Arc;

use crate::text::escape;

/// Why an image could not be found, selected, loaded or launched.
///
/// [`Display`](fmt::Display) names what was asked for and what was found; mistakes that the user can repair end with
/// a line `hint: ...`. Clones share their content.
#[derive(Clone)]
pub struct Error {
    kind: Arc<Kind>,
}

#[derive(Debug)]
pub(crate) enum Kind {
    /// An image's bytes could not be restored.
    Image { image: String, cause: offload_format::Error },
    /// No image of that module exists.
    UnknownModule { module: String, present: Vec<String>, missing: Vec<String> },
    /// Two packages have a module of that name.
    Ambiguous { module: String, packages: Vec<String> },
    /// The module's images all fail to fit the device.
    NoFit { module: String, device: String, refused: Vec<String>, missing: Vec<String> },
    /// The module has no such variant, or has variants and none was asked for.
    Variant { module: String, problem: String, present: Vec<String> },
    /// None of the module's images has the kernel.
    UnknownKernel { kernel: String, module: String, present: Vec<String> },
    /// None of the images that have the kernel fits the device.
    NoFitForKernel {
        kernel: String,
        module: String,
        device: String,
        refused: Vec<String>,
        missing: Vec<String>,
        present: Vec<String>,
    },
    /// A launch was asked for that the kernel does not allow.
    Launch { kernel: String, problem: String },
    /// A device, its driver or the system refused.
    Device { device: String, problem: String, hint: Option<&'static str> },
}

impl Error {
    pub(crate) fn launch(kernel: &str, problem: impl Into<String>) -> Error {
        Kind::Launch { kernel: kernel.to_string(), problem: problem.into() }.into()
    }

    pub(crate) fn device(device: &str, problem: impl Into<String>) -> Error {
        Kind::Device { device: device.to_string(), problem: problem.into(), hint: None }.into()
    }

    pub(crate) fn hint(self, hint: &'static str) -> Error {
        match Arc::try_unwrap(self.kind) {
            Ok(Kind::Device { device, problem, .. }) => {
                Kind::Device { device, problem, hint: Some(hint) }.into()
            }
            Ok(kind) => kind.into(),
            Err(kind) => Error { kind },
        }
    }
}

impl From<Kind> for Error {
    fn from(kind: Kind) -> Error {
        Error { kind: Arc::new(kind) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.kind {
            Kind::Image { image, cause } => write!(f, "cannot load {image}: {cause}"),
            Kind::UnknownModule { module, present, missing } => {
                write!(f, "no kernel module `{}`", escape(module))?;
                list(f, "left out of this build", missing)?;
                match present.as_slice() {
                    [] if !missing.is_empty() => f.write_str(
                        "\nhint: `cargo build` makes packs of the compile cache anew; packs of a finished program belong beside it",
                    ),
                    [] => f.write_str("; there are no kernel modules at all\nhint: a crate with kernels is linked only if the program mentions it, as with `use my_kernels as _;`"),
                    names => write!(f, "\nhint: there are {}", names.join(", ")),
                }
            }
            Kind::Ambiguous { module, packages } => write!(
                f,
                "kernel module `{}` is in several packages: {}\nhint: use the function `module()` that `include_kernels!` generates in each package",
                escape(module),
                packages.join(", ")
            ),
            Kind::NoFit { module, device, refused, missing } => {
                write!(f, "no image of kernel module `{}` fits {device}", escape(module))?;
                list(f, "refused", refused)?;
                list(f, "left out of this build", missing)?;
                f.write_str("\nhint: add a target that fits, as with `cargo offload targets add opencl-c`, and rebuild")
            }
            Kind::Variant { module, problem, present } => {
                write!(f, "kernel module `{}` {problem}", escape(module))?;
                match present.as_slice() {
                    [] => f.write_str("\nhint: use `select`"),
                    present => {
                        write!(f, "\nhint: give values to `select_variant`; there are {}", present.join(", "))
                    }
                }
            }
            Kind::UnknownKernel { kernel, module, present } => write!(
                f,
                "kernel `{}`: kernel module `{}` has no such kernel\nhint: it has {}",
                escape(kernel),
                escape(module),
                present.join(", ")
            ),
            Kind::NoFitForKernel { kernel, module, device, refused, missing, present } => {
                let (kernel, module) = (escape(kernel), escape(module));
                write!(
                    f,
                    "kernel `{kernel}`: no image of kernel module `{module}` that has it fits {device}"
                )?;
                list(f, "refused", refused)?;
                list(f, "left out of this build", missing)?;
                write!(f, "\nhint: add a target that fits, or use the other kernels: {}", present.join(", "))
            }
            Kind::Launch { kernel, problem } => write!(f, "kernel `{}`: {problem}", escape(kernel)),
            Kind::Device { device, problem, hint } => {
                write!(f, "{device}: {problem}")?;
                hint.map_or(Ok(()), |hint| write!(f, "\nhint: {hint}"))
            }
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, title: &str, lines: &[String]) -> fmt::Result {
    if lines.is_empty() {
        return Ok(());
    }
    write!(f, "\n{title}:")?;
    lines.iter().try_for_each(|line| write!(f, "\n  {line}"))
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Error").field(&self.kind).finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.kind {
            Kind::Image { cause, .. } => Some(cause),
            _ => None,
        }
    }
}
