//! What is asked for.

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

/// It needs a program that is in no package.
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
        let known = |arg: &String| {
            PARTS.iter().chain([&NATIVELINK]).find(|(name, _)| name == arg).map(|(_, part)| *part)
        };
        let parts: Option<Vec<Part>> = args.iter().map(known).collect();
        let parts = parts.ok_or_else(|| {
            let names = PARTS.map(|(name, _)| name).join("`, `");
            Error::new(format!("`remote` takes `--quick`, or some of `{names}`"))
        })?;
        Ok(Plan { parts })
    }

    /// Whether the client is measured: then it is optimised. Otherwise it is the one that tests have compiled already.
    pub(super) fn measures(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Large | Part::Load))
    }

    /// Whether others' servers are needed, not the stand-in alone.
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
