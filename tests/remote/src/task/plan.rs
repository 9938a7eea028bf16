//! Arguments of the task.

use offload_tests::error::{Error, Result};

/// A part of the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Quick,
    Tiers,
    Cuda,
    Templates,
    Schedulers,
    Nativelink,
    Packs,
    Large,
    Faults,
    Load,
}

/// Those that run where none is named.
const PARTS: [(&str, Part); 8] = [
    ("tiers", Part::Tiers),
    ("cuda", Part::Cuda),
    ("templates", Part::Templates),
    ("schedulers", Part::Schedulers),
    ("packs", Part::Packs),
    ("large", Part::Large),
    ("faults", Part::Faults),
    ("load", Part::Load),
];

/// Needs a program that no package has.
const NATIVELINK: (&str, Part) = ("nativelink", Part::Nativelink);

/// The parts, in the order in which they run.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) parts: Vec<Part>,
}

impl Plan {
    pub(super) fn parse(args: &[String]) -> Result<Plan> {
        match args {
            [] => return Ok(Plan { parts: PARTS.map(|(_, part)| part).to_vec() }),
            [quick] if quick == "--quick" => return Ok(Plan { parts: vec![Part::Quick] }),
            _ => {}
        }
        let mut parts = Vec::new();
        for arg in args {
            let known = PARTS.iter().chain([&NATIVELINK]).find(|(name, _)| name == arg);
            let Some((_, part)) = known else {
                let names = PARTS.map(|(name, _)| name).join("`, `");
                return Err(Error::new(format!("`remote` takes `--quick`, or some of `{names}`")));
            };
            parts.push(*part);
        }
        Ok(Plan { parts })
    }

    /// Whether the client is measured, and needs a release build. Otherwise that of the tests is used.
    pub(super) fn measures(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Large | Part::Load))
    }

    /// Whether servers other than the stand-in are needed.
    pub(super) fn needs_servers(&self) -> bool {
        self.parts.iter().any(|part| !matches!(part, Part::Quick | Part::Packs | Part::Load))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Plan> {
        Plan::parse(&words.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn parts_are_named() {
        assert_eq!(parse(&[]).unwrap().parts.len(), 8);
        assert_eq!(parse(&["load", "tiers"]).unwrap().parts, [Part::Load, Part::Tiers]);
        let quick = parse(&["--quick"]).unwrap();
        assert!(!quick.needs_servers() && !quick.measures());
        assert_eq!(parse(&["nativelink"]).unwrap().parts, [Part::Nativelink]);
        assert!(parse(&["--quick", "load"]).is_err() && parse(&["loads"]).is_err());
    }
}
