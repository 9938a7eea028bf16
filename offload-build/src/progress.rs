//! Progress events of device compiles, for `cargo offload build`.
//!
//! The variable `OFFLOAD_PROGRESS` names a file. Build scripts append a line for every compile of a module for a target
//! when it is known and when it is done; cargo hides what a build script prints until it ends. Nothing that is built
//! depends on the variable, so a change of it makes no build script run again.

use std::ffi::OsString;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write;

use offload_protocol::variable;

use crate::env::CargoEnv;
use offload_cache::{Origin, Origins, Results};

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
/// use offload_build::shared::progress::{Compile, Done, Event, CompileOrigin};
///
/// let compile = Compile { package: "app".into(), module: "blas".into(), target: "intel:pvc".into() };
/// let done = Done { compile, place: CompileOrigin::Here };
/// assert_eq!(Event::Done(done).to_string(), "done\tapp\tblas\tintel:pvc\there");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// It will be compiled.
    Planned(Compile),
    /// It is compiled, was found somewhere, or has failed.
    Done(Done),
    /// A build script has ended that took results from other machines.
    Remote(FromRemote),
}

/// A compile that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// Which one.
    pub compile: Compile,
    /// The origin of its most expensive step.
    pub place: CompileOrigin,
}

/// The origin of a compile's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompileOrigin {
    /// The compile cache of this machine had all of it.
    Cache,
    /// Another machine had stored what the cache lacked.
    Stored,
    /// Compilers ran on this machine.
    Here,
    /// The code generator ran on another machine.
    Elsewhere,
}

impl CompileOrigin {
    /// All of them, as lines of the file name them.
    pub const ALL: [(&str, CompileOrigin); 4] = [
        ("cache", CompileOrigin::Cache),
        ("stored", CompileOrigin::Stored),
        ("here", CompileOrigin::Here),
        ("elsewhere", CompileOrigin::Elsewhere),
    ];

    /// The origin of the most expensive step: small steps run here even if a code generator ran on another machine.
    pub(crate) fn from_origins(origins: &Origins) -> CompileOrigin {
        match [Origin::Executed, Origin::Here, Origin::Stored].map(|origin| origins.has(origin)) {
            [true, _, _] => CompileOrigin::Elsewhere,
            [_, true, _] => CompileOrigin::Here,
            [_, _, true] => CompileOrigin::Stored,
            _ => CompileOrigin::Cache,
        }
    }
}

impl fmt::Display for CompileOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = CompileOrigin::ALL.iter().find(|(_, place)| place == self).map(|(name, _)| *name);
        f.write_str(name.unwrap_or_default())
    }
}

/// How many results of compilers a build script took from other machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FromRemote {
    /// The package whose build script it is.
    pub package: String,
    /// They were stored there.
    pub stored: u64,
    /// Compilers ran there.
    pub executed: u64,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Planned(Compile { package, module, target }) => {
                write!(f, "planned\t{package}\t{module}\t{target}")
            }
            Event::Done(Done { compile: Compile { package, module, target }, place }) => {
                write!(f, "done\t{package}\t{module}\t{target}\t{place}")
            }
            Event::Remote(FromRemote { package, stored, executed }) => {
                write!(f, "remote\t{package}\t{stored}\t{executed}")
            }
        }
    }
}

/// The writer of events.
#[derive(Debug)]
pub(crate) struct Progress {
    file: File,
    package: String,
}

impl Progress {
    /// The progress file of a build script, if `OFFLOAD_PROGRESS` names one.
    pub(crate) fn from_env(env: &CargoEnv) -> Option<Progress> {
        env.setting(variable::PROGRESS).and_then(|file| Progress::open(file, &env.package))
    }

    /// Opens `file` for the events of `package`; `None` if it cannot be written, as its reader has ended then.
    fn open(file: OsString, package: &str) -> Option<Progress> {
        let file = OpenOptions::new().append(true).open(file).ok()?;
        Some(Progress { file, package: package.to_string() })
    }

    pub(crate) fn planned(&self, module: &str, target: &dyn fmt::Display) {
        self.write(&Event::Planned(self.compile(module, target)));
    }

    pub(crate) fn done(&self, module: &str, target: &dyn fmt::Display, place: CompileOrigin) {
        self.write(&Event::Done(Done { compile: self.compile(module, target), place }));
    }

    pub(crate) fn remote(&self, results: &Results) {
        let Results { stored, executed, .. } = *results;
        if stored > 0 || executed > 0 {
            self.write(&Event::Remote(FromRemote { package: self.package.clone(), stored, executed }));
        }
    }

    fn compile(&self, module: &str, target: &dyn fmt::Display) -> Compile {
        // The values of variants are the user's; a tab among them would be the end of a field.
        let module = module.escape_default().to_string();
        Compile { package: self.package.clone(), module, target: target.to_string() }
    }

    /// One write a line, so that those of several build scripts do not mix.
    fn write(&self, event: &Event) {
        // The reader may have ended, which must not fail a build.
        let _ = (&self.file).write_all(format!("{event}\n").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_expensive_step_tells_where_a_compile_ran() {
        let origins = Origins::default();
        assert_eq!(CompileOrigin::from_origins(&origins), CompileOrigin::Cache);
        for (origin, place) in [
            (Origin::Local, CompileOrigin::Cache),
            (Origin::Stored, CompileOrigin::Stored),
            (Origin::Here, CompileOrigin::Here),
            (Origin::Executed, CompileOrigin::Elsewhere),
        ] {
            origins.add(origin);
            assert_eq!(CompileOrigin::from_origins(&origins), place);
        }
    }
}
