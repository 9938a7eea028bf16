//! Ids of bundle entries: `hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+`.

use std::fmt;

use offload_format::OffloadKind;

/// The programming model of an entry, or the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BundleKind<'a> {
    /// Code for the host, or an empty placeholder.
    Host,
    /// OpenMP.
    OpenMp,
    /// HIP, code objects of version 2 and 3; readers treat it as [`BundleKind::HipV4`].
    Hip,
    /// HIP, code objects of version 4 and later.
    HipV4,
    /// SYCL, as DPC++ writes it.
    Sycl,
    /// Another word.
    Other(&'a str),
}

impl<'a> BundleKind<'a> {
    fn parse(word: &'a str) -> BundleKind<'a> {
        match word {
            "host" => BundleKind::Host,
            "openmp" => BundleKind::OpenMp,
            "hip" => BundleKind::Hip,
            "hipv4" => BundleKind::HipV4,
            "sycl" => BundleKind::Sycl,
            other => BundleKind::Other(other),
        }
    }

    /// LLVM's word for the programming model.
    pub fn offload_kind(self) -> OffloadKind {
        match self {
            BundleKind::OpenMp => OffloadKind::OpenMp,
            BundleKind::Hip | BundleKind::HipV4 => OffloadKind::Hip,
            BundleKind::Sycl => OffloadKind::Sycl,
            BundleKind::Host | BundleKind::Other(_) => OffloadKind::None,
        }
    }
}

impl fmt::Display for BundleKind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BundleKind::Host => "host",
            BundleKind::OpenMp => "openmp",
            BundleKind::Hip => "hip",
            BundleKind::HipV4 => "hipv4",
            BundleKind::Sycl => "sycl",
            BundleKind::Other(word) => word,
        })
    }
}

/// An entry id, `kind-arch-vendor-os-env[-target id]`
/// (<https://clang.llvm.org/docs/ClangOffloadBundler.html#bundle-entry-id>).
///
/// ```
/// use offload_containers::bundle::{BundleId, BundleKind};
///
/// let id = BundleId::parse("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+").unwrap();
/// assert_eq!(id, BundleId::hip("gfx90a:xnack+"));
/// assert_eq!((id.kind, id.triple), (BundleKind::HipV4, "amdgcn-amd-amdhsa-"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BundleId<'a> {
    /// The programming model that launches the image.
    pub kind: BundleKind<'a>,
    /// LLVM's target triple.
    pub triple: &'a str,
    /// The processor with its features, if the image is for one.
    pub target_id: Option<&'a str>,
}

impl<'a> BundleId<'a> {
    /// The empty entry that HIP's readers require first.
    pub const HOST: BundleId<'static> =
        BundleId { kind: BundleKind::Host, triple: "x86_64-unknown-linux-gnu", target_id: None };
    /// AMD's SPIR-V, which HIP compiles on the machine that runs it.
    pub const AMD_SPIRV: BundleId<'static> =
        BundleId { kind: BundleKind::HipV4, triple: "spirv64-amd-amdhsa-", target_id: Some("amdgcnspirv") };

    /// An AMD code object, `target_id` as `gfx90a:xnack+`.
    pub fn hip(target_id: &'a str) -> BundleId<'a> {
        BundleId { kind: BundleKind::HipV4, triple: "amdgcn-amd-amdhsa-", target_id: Some(target_id) }
    }

    /// Parses an id; `None` if it lacks a kind or an architecture.
    pub fn parse(text: &'a str) -> Option<BundleId<'a>> {
        let (kind, rest) =
            text.split_once('-').filter(|(kind, rest)| !kind.is_empty() && !rest.is_empty())?;
        // A target id may have dashes (`gfx9-4-generic`), a triple has three.
        let (triple, target_id) = match rest.match_indices('-').nth(3) {
            Some((at, _)) => (rest.get(..at)?, rest.get(at.checked_add(1)?..)?),
            None => processor_as_environment(rest),
        };
        let target_id = Some(target_id).filter(|id| !id.is_empty());
        Some(BundleId { kind: BundleKind::parse(kind), triple, target_id })
    }
}

/// clang up to 13 wrote `hip-amdgcn-amd-amdhsa-gfx906`.
fn processor_as_environment(rest: &str) -> (&str, &str) {
    let split = rest.rsplit_once('-');
    split.filter(|(_, last)| last.starts_with("gfx") || last.starts_with("sm_")).unwrap_or((rest, ""))
}

/// With the trailing dash of an empty target id, as LLVM writes it.
impl fmt::Display for BundleId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.kind, self.triple, self.target_id.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_all_compilers() {
        for (text, kind, triple, target_id) in [
            ("host-x86_64-unknown-linux--", BundleKind::Host, "x86_64-unknown-linux-", None),
            ("host-x86_64-unknown-linux-gnu-", BundleKind::Host, "x86_64-unknown-linux-gnu", None),
            ("host-x86_64-unknown-linux", BundleKind::Host, "x86_64-unknown-linux", None),
            ("hip-amdgcn-amd-amdhsa-gfx906", BundleKind::Hip, "amdgcn-amd-amdhsa", Some("gfx906")),
            (
                "hipv4-amdgcn-amd-amdhsa--gfx9-4-generic",
                BundleKind::HipV4,
                "amdgcn-amd-amdhsa-",
                Some("gfx9-4-generic"),
            ),
            ("sycl-spir64_gen", BundleKind::Sycl, "spir64_gen", None),
            ("new-a-b-c-d-e", BundleKind::Other("new"), "a-b-c-d", Some("e")),
        ] {
            assert_eq!(BundleId::parse(text), Some(BundleId { kind, triple, target_id }), "{text}");
        }
        for bad in ["", "host", "host-", "-x86_64-a-b-c-"] {
            assert_eq!(BundleId::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn ids_round_trip() {
        for id in [
            "host-x86_64-unknown-linux-gnu-",
            "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc-:xnack+",
            "openmp-amdgcn-amd-amdhsa-unknown-gfx906",
        ] {
            assert_eq!(BundleId::parse(id).unwrap().to_string(), id);
        }
        assert_eq!(BundleId::HOST.to_string(), "host-x86_64-unknown-linux-gnu-");
        assert_eq!(BundleId::AMD_SPIRV.to_string(), "hipv4-spirv64-amd-amdhsa--amdgcnspirv");
    }

    #[test]
    fn kinds_are_llvm_s() {
        for (text, kind) in [
            ("hip-amdgcn-amd-amdhsa--gfx906", OffloadKind::Hip),
            ("sycl-spir64-unknown-unknown", OffloadKind::Sycl),
            ("host-x86_64-unknown-linux--", OffloadKind::None),
        ] {
            assert_eq!(BundleId::parse(text).unwrap().kind.offload_kind(), kind);
        }
    }
}
