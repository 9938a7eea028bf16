//! Results that are known to be outside of the specification, and why: whatever else is wrong fails the task.

use super::case::Case;

struct Known {
    target: &'static str,
    built_ins: &'static [&'static str],
    /// The types concerned.
    elements: &'static [&'static str],
    cause: &'static str,
}

impl Known {
    fn covers(&self, target: &str, case: &Case) -> bool {
        target == self.target
            && self.built_ins.contains(&case.built_in)
            && self.elements.contains(&case.element.as_str())
    }
}

const KNOWN: &[Known] = &[
    Known {
        target: "host",
        built_ins: &["ldexp", "tgamma"],
        elements: &["float", "double"],
        cause: "PoCL's function rounds subnormal results twice.",
    },
    Known {
        target: "spirv64",
        built_ins: &["fract", "modf", "sincos"],
        elements: &["double"],
        cause: "Intel's runtime for CPUs crashes on pointers to private vectors of doubles.",
    },
    Known {
        target: "spirv64",
        built_ins: &["mad_sat"],
        elements: &["int", "uint", "long", "ulong"],
        cause: "Intel's runtime for CPUs computes it so; the module has the instruction `s_mad_sat` or `u_mad_sat`.",
    },
    Known {
        target: "spirv64",
        built_ins: &["shuffle"],
        elements: &["long", "ulong", "double"],
        cause: "Intel's runtime for CPUs computes it so; the module has the instruction `shuffle`.",
    },
];

/// Why results of the case are wrong on the target, if that is known.
pub(super) fn cause(target: &str, case: &Case) -> Option<&'static str> {
    KNOWN.iter().find(|known| known.covers(target, case)).map(|known| known.cause)
}
