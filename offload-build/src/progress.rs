//! How far device compiles are, told to whoever runs cargo.
//!
//! The variable `OFFLOAD_PROGRESS` names a file. Build scripts append a line for every compile of a module for a target
//! when it is known and when it is done; cargo hides what a build script prints until it ends. Nothing that is built
//! depends on the variable, so a change of it makes no build script run again.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::str::FromStr;

use crate::env::CargoEnv;

/// The variable that names the file.
pub const VARIABLE: &str = "OFFLOAD_PROGRESS";

/// The compile of a kernel module, in one variant, for one target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Compile {
    /// The package whose build script compiles it.
    pub package: String,
    /// The module, with the values of its variant.
    pub module: String,
    /// The target's text.
    pub target: String,
}

/// A line of the file.
///
/// ```
/// use offload_build::progress::Event;
///
/// let event: Event = "done\tapp\tblas\tintel:pvc".parse().unwrap();
/// let Event::Done(compile) = &event else { panic!() };
/// assert_eq!(compile.target, "intel:pvc");
/// assert_eq!(event.to_string(), "done\tapp\tblas\tintel:pvc");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// It will be compiled.
    Planned(Compile),
    /// It is compiled, was found in the cache, or has failed.
    Done(Compile),
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, compile) = match self {
            Event::Planned(compile) => ("planned", compile),
            Event::Done(compile) => ("done", compile),
        };
        let Compile { package, module, target } = compile;
        write!(f, "{word}\t{package}\t{module}\t{target}")
    }
}

impl FromStr for Event {
    type Err = UnknownEvent;

    fn from_str(line: &str) -> Result<Event, UnknownEvent> {
        let fields: Vec<&str> = line.split('\t').collect();
        let [word, package, module, target] = fields.as_slice() else { return Err(UnknownEvent) };
        let compile = Compile {
            package: (*package).to_string(),
            module: (*module).to_string(),
            target: (*target).to_string(),
        };
        match *word {
            "planned" => Ok(Event::Planned(compile)),
            "done" => Ok(Event::Done(compile)),
            _ => Err(UnknownEvent),
        }
    }
}

/// A line that this release does not understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownEvent;

impl fmt::Display for UnknownEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the line tells nothing that this release knows of device compiles")
    }
}

impl std::error::Error for UnknownEvent {}

/// Where events go.
#[derive(Debug)]
pub(crate) struct Progress {
    file: Option<File>,
    package: String,
}

impl Progress {
    pub(crate) fn of(env: &CargoEnv) -> Progress {
        let file = env.setting(VARIABLE).and_then(|path| OpenOptions::new().append(true).open(path).ok());
        Progress { file, package: env.package.clone() }
    }

    pub(crate) fn planned(&self, module: &str, target: &dyn fmt::Display) {
        self.tell(&Event::Planned(self.compile(module, target)));
    }

    pub(crate) fn done(&self, module: &str, target: &dyn fmt::Display) {
        self.tell(&Event::Done(self.compile(module, target)));
    }

    fn compile(&self, module: &str, target: &dyn fmt::Display) -> Compile {
        // The values of variants are the user's; a tab among them would be the end of a field.
        let module = module.escape_default().to_string();
        Compile { package: self.package.clone(), module, target: target.to_string() }
    }

    /// One write a line, so that those of several build scripts do not mix.
    fn tell(&self, event: &Event) {
        if let Some(mut file) = self.file.as_ref() {
            // Whoever watched may be gone; that is no reason for a build to fail.
            let _ = file.write_all(format!("{event}\n").as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_later_releases_are_told_apart() {
        for line in ["", "paused\ta\tb\tc", "done\ta\tb", "done\ta\tb\tc\td"] {
            assert_eq!(line.parse::<Event>(), Err(UnknownEvent), "{line:?}");
        }
    }
}
