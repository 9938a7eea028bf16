//! Target filters of a command line: exact names, patterns and sets.

use offload_format::{Target, TargetSet};

use crate::error::{Error, Result};

/// One word of the user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TargetFilter {
    given: String,
    /// Each a target's text, in which `*` stands for anything.
    patterns: Vec<String>,
}

impl TargetFilter {
    /// Reads `spirv64`, `intel:*` or `all-amd`.
    pub(crate) fn parse(text: &str) -> Result<TargetFilter> {
        let given = text.to_string();
        if text.contains('*') {
            return Ok(TargetFilter { given, patterns: owned(&[text]) });
        }
        let patterns = match text.parse::<TargetSet>() {
            Ok(TargetSet::Portable) => owned(&["host", "host:*", "spirv64", "spirv64:*", "opencl-c"]),
            Ok(TargetSet::AllIntel) => owned(&["intel:*"]),
            Ok(TargetSet::AllNvidia) => owned(&["nvptx:*", "cubin:*"]),
            Ok(TargetSet::AllAmd) => owned(&["amdgcn:*"]),
            Ok(set) => {
                return Err(Error::usage(format!(
                    "the targets of `{set}` depend on the machine that compiles"
                ))
                .hint("name them; `cargo offload inspect` lists those of a file"));
            }
            Err(_) => {
                let target = text.parse::<Target>().map_err(|error| Error::usage(error.to_string()))?;
                vec![target.to_string()]
            }
        };
        Ok(TargetFilter { given, patterns })
    }

    /// As `given`, which stands for any of `patterns`.
    #[cfg(feature = "devices")]
    pub(crate) fn any_of(given: &str, patterns: impl Into<Vec<String>>) -> TargetFilter {
        TargetFilter { given: given.to_string(), patterns: patterns.into() }
    }

    /// The user's word.
    pub(crate) fn given(&self) -> &str {
        &self.given
    }

    /// Whether an image with this target is meant.
    pub(crate) fn matches(&self, target: &str) -> bool {
        self.patterns.iter().any(|pattern| glob(pattern, target))
    }
}

/// Whether `pattern` describes all of `text`.
pub(crate) fn glob(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(head) else { return false };
    let starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    starts.filter_map(|at| text.get(at..)).any(|tail| glob(rest, tail))
}

fn owned(patterns: &[&str]) -> Vec<String> {
    patterns.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_mean_targets() {
        for (word, meant, not_meant) in [
            ("spirv64", "spirv64", "spirv64:v1.4"),
            ("spirv64:v1.2", "spirv64", "spirv64:v1.4"),
            ("intel:*", "intel:pvc", "spirv64"),
            ("*:*9*", "cubin:sm_90", "cubin:sm_80"),
            ("amdgcn:gfx9*:xnack+", "amdgcn:gfx90a:xnack+", "amdgcn:gfx90a"),
            ("all-nvidia", "nvptx:sm_75", "amdgcn:gfx90a"),
            ("all-nvidia", "cubin:sm_75", "host"),
            ("portable", "host:x86-64-v3", "intel:pvc"),
        ] {
            let filter = TargetFilter::parse(word).unwrap();
            assert!(filter.matches(meant), "{word} {meant}");
            assert!(!filter.matches(not_meant), "{word} {not_meant}");
        }
    }

    #[test]
    fn unknown_words_have_near_names() {
        let error = TargetFilter::parse("intel:pcv").unwrap_err();
        assert!(error.to_string().contains("intel:pvc"), "{error}");
        assert!(TargetFilter::parse("native").unwrap_err().to_string().contains("depend on the machine"));
    }
}
