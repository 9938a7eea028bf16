//! Named sets of targets.

use std::fmt;

/// A named set of targets. Except for `portable`, the installed tools or this machine determine its members.
///
/// | name | targets |
/// |---|---|
/// | `portable` | `host`, `spirv64`, `opencl-c`: any CPU or OpenCL driver |
/// | `all-intel` | native code for every device that the installed ocloc supports |
/// | `all-nvidia` | PTX for the oldest and cubins for every architecture that the installed ptxas supports |
/// | `all-amd` | code objects for every known processor that the installed clang supports |
/// | `native` | the devices of the machine that compiles |
///
/// ```
/// use offload_format::TargetSet;
///
/// assert_eq!("all-amd".parse(), Ok(TargetSet::AllAmd));
/// assert!("all-adm".parse::<TargetSet>().unwrap_err().to_string().contains("all-amd"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum TargetSet {
    /// `portable`.
    Portable,
    /// `all-intel`.
    AllIntel,
    /// `all-nvidia`.
    AllNvidia,
    /// `all-amd`.
    AllAmd,
    /// `native`.
    Native,
}

impl TargetSet {
    /// Every set.
    pub const ALL: [TargetSet; 5] = [
        TargetSet::Portable,
        TargetSet::AllIntel,
        TargetSet::AllNvidia,
        TargetSet::AllAmd,
        TargetSet::Native,
    ];

    /// Its name in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            TargetSet::Portable => "portable",
            TargetSet::AllIntel => "all-intel",
            TargetSet::AllNvidia => "all-nvidia",
            TargetSet::AllAmd => "all-amd",
            TargetSet::Native => "native",
        }
    }
}

impl fmt::Display for TargetSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
