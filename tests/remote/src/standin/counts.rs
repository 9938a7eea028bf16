//! Counters of calls and bytes.

use std::fmt;
use std::str::FromStr;

/// A call of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `GetCapabilities`.
    Capabilities,
    /// `GetActionResult`.
    GetResult,
    /// `UpdateActionResult`.
    UpdateResult,
    /// `FindMissingBlobs`.
    FindMissing,
    /// `BatchUpdateBlobs`.
    Update,
    /// `BatchReadBlobs`.
    Read,
    /// `GetTree`.
    Tree,
    /// `ByteStream.Read`.
    StreamRead,
    /// `ByteStream.Write` and `QueryWriteStatus`.
    StreamWrite,
    /// `Execute` and `WaitExecution`.
    Execute,
}

/// Counters of calls and bytes. As text: `NAME=NUMBER`, separated by spaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All calls.
    pub calls: u64,
    /// `Execute`.
    pub executes: u64,
    /// `GetActionResult`.
    pub gets: u64,
    /// Results that were there.
    pub hits: u64,
    /// `UpdateActionResult` that was accepted.
    pub puts: u64,
    /// Actions that a worker did.
    pub worked: u64,
    /// Bytes of blobs that came in.
    pub received: u64,
    /// Bytes of blobs that went out.
    pub sent: u64,
}

impl Counts {
    /// Counts a call; returns its number.
    pub(super) fn add(&mut self, call: Call) -> u64 {
        let counter = match call {
            Call::Execute => Some(&mut self.executes),
            Call::GetResult => Some(&mut self.gets),
            _ => None,
        };
        if let Some(counter) = counter {
            *counter = counter.saturating_add(1);
        }
        self.calls = self.calls.saturating_add(1);
        self.calls
    }

    fn fields(&mut self) -> [(&'static str, &mut u64); 8] {
        [
            ("calls", &mut self.calls),
            ("executes", &mut self.executes),
            ("gets", &mut self.gets),
            ("hits", &mut self.hits),
            ("puts", &mut self.puts),
            ("worked", &mut self.worked),
            ("received", &mut self.received),
            ("sent", &mut self.sent),
        ]
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut copy = self.clone();
        let fields = copy.fields().map(|(name, value)| format!("{name}={value}"));
        f.write_str(&fields.join(" "))
    }
}

impl FromStr for Counts {
    type Err = String;

    fn from_str(text: &str) -> Result<Counts, String> {
        let mut counts = Counts::default();
        for (name, value) in counts.fields() {
            let mut words = text.split_whitespace().filter_map(|word| word.split_once('='));
            let found = words.find(|(other, _)| *other == name);
            let number = found.and_then(|(_, number)| number.parse().ok());
            *value = number.ok_or_else(|| format!("`{text}` has no number `{name}`"))?;
        }
        Ok(counts)
    }
}
