//! The protocol between build scripts and `cargo-offload`, the client of Remote Execution and shared caches.
//!
//! `cargo-offload` listens on a Unix socket. A build script sends a [`Request`] and receives a [`Reply`]; a connection
//! carries any number of them in sequence. A message is its length as a `u64` and that many bytes; integers are
//! little-endian. Texts and bytes are prefixed by their length, lists by the number of items. Both sides are of the same
//! release, whose version is part of the socket's name, so that the protocol needs no compatibility rules.
//!
//! ```
//! use offload_format::Hash128;
//! use offload_protocol::remote::Request;
//!
//! let request = Request::Get { key: Hash128::digest(b"an action") };
//! assert_eq!(Request::from_bytes(&request.to_bytes())?, request);
//! # Ok::<(), offload_format::Error>(())
//! ```

mod fields;
mod message;
mod stored;

pub use self::stored::Stored;

use offload_format::Hash128;

/// The size limit of a message in bytes.
pub const MAX_MESSAGE: u64 = 4 << 30;

/// A request of a build script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Looks up the result under `key` in the shared cache.
    Get {
        /// The digest of everything that the result depends on.
        key: Hash128,
    },
    /// Stores a result in the shared cache. The reply does not wait for it.
    Put {
        /// The digest of everything that the result depends on.
        key: Hash128,
        /// A [`Stored`] as bytes.
        stored: Vec<u8>,
    },
    /// Executes an action remotely.
    Execute(Action),
    /// Computes the digests of the files of a program.
    Identify(Program),
    /// Waits until all accepted results are stored.
    Flush {
        /// The timeout in seconds.
        seconds: u64,
    },
    /// Checks that the process is alive.
    Alive,
}

/// A program with the files that it loads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Program {
    /// An absolute path.
    pub path: String,
    /// Directories that are searched first for its libraries.
    pub library_directories: Vec<String>,
    /// Libraries that it opens at run time, by the prefixes of their file names, such as `libigc.so`.
    pub opened: Vec<String>,
    /// Other files that it executes or reads, by absolute paths.
    pub others: Vec<String>,
}

/// An action: a command for remote execution with its inputs and outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// The program and its arguments. The program is an absolute path, or relative to `directory`.
    pub arguments: Vec<String>,
    /// All of its environment variables.
    pub variables: Vec<Variable>,
    /// The working directory, relative to the input root; may be empty.
    pub directory: String,
    /// All files that it reads, except for `programs`.
    pub inputs: Vec<Input>,
    /// Files that it writes, relative to `directory`. Absent ones are left out of the reply.
    pub outputs: Vec<String>,
    /// Programs that the worker must have with the same content at the same paths.
    pub programs: Vec<Program>,
    /// The timeout in seconds; 0 for none.
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

/// An input file of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its path relative to the input root, with `/`, without `.` and `..`.
    pub path: String,
    /// Its content.
    pub source: Source,
}

/// The content of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// These bytes.
    Bytes(Vec<u8>),
    /// A local file with this path.
    File(String),
}

/// The reply to a build script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A cache hit: a [`Stored`] as bytes. The cache is not trusted: the build script verifies the key in it.
    Found(Vec<u8>),
    /// A cache miss.
    Missing {
        /// The capacity of workers, for remote execution.
        room: Room,
    },
    /// The result will be stored; or all results are.
    Accepted,
    /// An action was executed, now or earlier.
    Executed {
        /// Its result.
        executed: Executed,
        /// The capacity of workers, for the next actions.
        room: Room,
    },
    /// The digests of a program's files.
    Identified(Vec<FileIdentity>),
    /// The request cannot be served remotely: the build script does the work.
    Declined {
        /// The reason; empty if an earlier reply of this process contained it.
        reason: String,
    },
}

/// The result of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executed {
    /// The exit code of the process.
    pub exit_code: i32,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
    /// The files that it wrote.
    pub outputs: Vec<OutputFile>,
    /// The origin of the result.
    pub origin: Origin,
}

/// The capacity of workers, estimated from the actions of all build scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The number of actions in flight that seems useful.
    pub commands: u64,
    /// Whether actions were queued: then local processors take the last ones.
    pub was_full: bool,
}

/// The origin of an action's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was executed.
    Run,
    /// It was in the action cache.
    Cache,
}

/// An output file of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// As in [`Action::outputs`].
    pub path: String,
    /// Its bytes.
    pub content: Vec<u8>,
}

/// A local file with its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    /// Its path with all links resolved.
    pub path: String,
    /// The SHA-256 of its content.
    pub sha256: [u8; 32],
}

#[cfg(test)]
mod tests;
