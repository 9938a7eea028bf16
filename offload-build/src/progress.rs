//! How far device compiles are, told to whoever runs cargo.
//!
//! The variable `OFFLOAD_PROGRESS` names a file. Build scripts append a line for every compile of a module for a target
//! when it is known and when it is done; cargo hides what a build script prints until it ends. Nothing that is built
//! depends on the variable, so a change of it makes no build script run again.

use std::ffi::OsString;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write;

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
/// use offload_build::progress::{Compile, Event};
///
/// let compile = Compile { package: "app".into(), module: "blas".into(), target: "intel:pvc".into() };
/// assert_eq!(Event::Done(compile).to_string(), "done\tapp\tblas\tintel:pvc");
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

/// Where events go.
#[derive(Debug)]
pub(crate) struct Progress {
    file: File,
    package: String,
}

impl Progress {
    /// Those of `package` into the file that `OFFLOAD_PROGRESS` names; nowhere if it cannot be written: nobody watches then.
    pub(crate) fn open(file: OsString, package: &str) -> Option<Progress> {
        let file = OpenOptions::new().append(true).open(file).ok()?;
        Some(Progress { file, package: package.to_string() })
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
        // Whoever watched may be gone; that is no reason for a build to fail.
        let _ = (&self.file).write_all(format!("{event}\n").as_bytes());
    }
}
