//! Families of targets: what a package for machines of one kind ships.

use offload_format::Target;

/// The family of a target, as it stands in the name of a file.
pub(crate) fn of(target: &str) -> &'static str {
    match target.parse::<Target>() {
        Ok(Target::Host(_)) => "host",
        Ok(Target::Spirv64(_)) => "spirv",
        Ok(Target::Intel(_)) => "intel",
        Ok(Target::Nvptx(_) | Target::Cubin(_)) => "nvidia",
        Ok(Target::Amdgcn(_)) => "amd",
        Ok(Target::OpenClC) => "source",
        _ => "other",
    }
}
