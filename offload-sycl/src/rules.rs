//! By whose rules bundles are made.

use std::fmt;

use offload_containers::syclbin::{File, ImageKindNumber};

/// By whose rules images are chosen and linked.
///
/// | | `Spec` | `Runtime` |
/// |---|---|---|
/// | native image of an executable | the first for exactly the device's architecture | the first whose triple fits, whatever its architecture |
/// | IR | the first SPIR-V of a version that the device takes | the first, whatever it says of itself |
/// | a native image without a target | is passed over | the load fails |
/// | a required sub-group size as bytes | counts | leaves the module out |
/// | an aspect that does not exist | leaves the module out | the load fails |
/// | modules of objects | linked as their symbols ask for | all linked into one |
/// | a file without an envelope, the draft of version 2, image kind 6 of oneAPI 2025.3 | is read | is refused |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rules {
    /// As the extension has it: <https://github.com/intel/llvm/blob/sycl/sycl/doc/extensions/proposed/sycl_ext_oneapi_syclbin.asciidoc>,
    /// with the design document's properties.
    #[default]
    Spec,
    /// The rules of oneAPI 2026's runtime.
    Runtime,
}

/// Why a device takes no form of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// The bundle goes without it.
    Missing(String),
    /// There is no bundle.
    Refused(String),
}

impl Unfit {
    pub(super) fn missing(reason: impl Into<String>) -> Unfit {
        Unfit::Missing(reason.into())
    }

    pub(super) fn refused(reason: impl Into<String>) -> Unfit {
        Unfit::Refused(reason.into())
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Rules::Spec => "spec",
            Rules::Runtime => "runtime",
        })
    }
}

/// Refuses a file that the runtime does not read.
pub(crate) fn check_file(rules: Rules, file: &File<'_>) -> Result<(), String> {
    let Some(envelope) = file.envelope.filter(|_| file.version < 2) else {
        return match rules {
            Rules::Spec => Ok(()),
            Rules::Runtime => Err("the runtime reads version 1 in an OffloadBinary alone".to_string()),
        };
    };
    match envelope.image_kind {
        ImageKindNumber(kind) if rules == Rules::Runtime && kind != ImageKindNumber::ONEAPI_2026.0 => {
            Err(format!("the runtime takes no image of kind {kind} for a SYCLBIN"))
        }
        _ => Ok(()),
    }
}
