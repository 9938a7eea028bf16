//! What build scripts and the process that reaches other machines say to one another.
//!
//! `cargo-offload` listens on a Unix socket. A build script sends a [`Request`] and gets a [`Reply`]; a connection may
//! carry one after another. A message is its length as a `u64`, little-endian like every number here, and that many
//! bytes. Texts and bytes have their length before them, lists their number of items. Both sides are of one release:
//! the name of the socket has the version, so that nothing has to be passed over.
//!
//! ```
//! use offload_format::Hash128;
//! use offload_format::remote::Request;
//!
//! let request = Request::Get { key: Hash128::of(b"an action") };
//! assert_eq!(Request::from_bytes(&request.to_bytes())?, request);
//! # Ok::<(), offload_format::Error>(())
//! ```

mod fields;
mod message;
mod stored;

pub use self::stored::Stored;

use crate::Hash128;

/// The most bytes of one message: more is no message of this protocol.
pub const MAX_MESSAGE: u64 = 4 << 30;

/// What a build script wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// The result under `key`, if another machine has stored one.
    Get {
        /// Of everything that the result depends on.
        key: Hash128,
    },
    /// Stores a result for other machines. The reply does not wait for it.
    Put {
        /// Of everything that the result depends on.
        key: Hash128,
        /// A [`Stored`] as bytes.
        stored: Vec<u8>,
    },
    /// Runs a command on another machine.
    Execute(Action),
    /// What a program is made of.
    Identify(Program),
    /// Waits until what was accepted so far is stored.
    Flush {
        /// The reply comes after so many seconds in any case.
        seconds: u64,
    },
    /// Whether the process runs at all: the reply comes at once.
    Alive,
}

/// A program and what it loads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Program {
    /// An absolute path.
    pub path: String,
    /// Directories in which its libraries are looked for first.
    pub library_directories: Vec<String>,
    /// Libraries that it opens while it runs: how the names of their files begin, such as `libigc.so`.
    pub opened: Vec<String>,
    /// Other files that it starts or reads, by absolute paths.
    pub others: Vec<String>,
}

/// A command for another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// The program and its arguments. The program is an absolute path, or relative to `directory`.
    pub arguments: Vec<String>,
    /// All environment variables that it gets.
    pub variables: Vec<Variable>,
    /// Where it runs, below the root of its inputs; may be empty.
    pub directory: String,
    /// Every file that it reads, but for those in `programs`.
    pub inputs: Vec<Input>,
    /// Files that it writes, relative to `directory`. One that is not there afterwards is left out of the reply.
    pub outputs: Vec<String>,
    /// Programs that the other machine must have with the same content at the same paths.
    pub programs: Vec<Program>,
    /// For how many seconds it may run; 0 is for ever.
    pub seconds: u64,
}

/// An environment variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// A file that an action reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Where the action finds it: relative to the root of the inputs, with `/`, without `.` and `..`.
    pub path: String,
    /// What it is.
    pub source: Source,
}

/// The content of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// These bytes.
    Bytes(Vec<u8>),
    /// Those of a file of this machine.
    File(String),
}

/// What a build script gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A [`Stored`] as bytes. They are those that were stored, or another's: who asked compares the key.
    Found(Vec<u8>),
    /// No machine has stored a result.
    Missing {
        /// For those who have it made elsewhere.
        room: Room,
    },
    /// The result will be stored; or everything is.
    Accepted,
    /// A command has run, now or earlier.
    Executed {
        /// How it ended.
        executed: Executed,
        /// For the next ones.
        room: Room,
    },
    /// What programs are made of.
    Identified(Vec<FileIdentity>),
    /// Other machines are of no use for this request: the build script does the work.
    Declined {
        /// Why. It is empty where an earlier reply of this process has said it.
        reason: String,
    },
}

/// How a command on another machine ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executed {
    /// As of a process.
    pub exit_code: i32,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it printed as errors.
    pub stderr: Vec<u8>,
    /// The files that it wrote.
    pub outputs: Vec<OutputFile>,
    /// Where the result is from.
    pub origin: Origin,
}

/// How many commands other machines have workers for, as far as those of all build scripts have shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// So many at once seem to be of use.
    pub commands: u64,
    /// Whether commands had to wait for workers: then local processors take the last ones.
    pub was_full: bool,
}

/// Where the result of a command is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It ran now.
    Run,
    /// It had run before.
    Cache,
}

/// A file that a command wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// As in [`Action::outputs`].
    pub path: String,
    /// Its bytes.
    pub content: Vec<u8>,
}

/// A file, by its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    /// Where it is on this machine, with every link resolved.
    pub path: String,
    /// The SHA-256 of its content.
    pub sha256: [u8; 32],
}

#[cfg(test)]
mod tests;
