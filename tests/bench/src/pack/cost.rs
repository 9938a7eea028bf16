//! One line of measurement: who packed or read what, and what it took.

use serde_json::{Value, json};

use super::sets::Set;
use super::tool::Ran;
use offload_tests::error::Result;

/// What one way to pack a set took, over all of its processes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cost {
    pub(super) set: String,
    pub(super) who: String,
    /// The images, in bytes.
    pub(super) raw: u64,
    /// What they became, in bytes.
    pub(super) bytes: u64,
    /// Of these, what a pack needs to find an image.
    pub(super) index: u64,
    pub(super) seconds: f64,
    /// Peak resident memory of the largest process, in bytes.
    pub(super) peak: u64,
}

impl Cost {
    pub(super) fn new(set: &Set, who: &str) -> Result<Cost> {
        let raw = set.size()?;
        Ok(Cost {
            set: set.name.clone(),
            who: who.to_string(),
            raw,
            bytes: 0,
            index: 0,
            seconds: 0.0,
            peak: 0,
        })
    }

    /// Adds a process and the size of what it wrote.
    pub(super) fn add(&mut self, ran: &Ran, bytes: u64) {
        self.bytes += bytes;
        self.index += ran.value("index").unwrap_or(0.0) as u64;
        self.seconds += ran.seconds;
        self.peak = self.peak.max(ran.peak);
    }

    /// Images in bytes a second.
    pub(super) fn throughput(&self) -> f64 {
        self.raw as f64 / self.seconds
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "set": self.set,
            "who": self.who,
            "raw_bytes": self.raw,
            "bytes": self.bytes,
            "index_bytes": self.index,
            "seconds": self.seconds,
            "peak_bytes": self.peak,
        })
    }
}
