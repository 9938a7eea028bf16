//! A network namespace for a server, with a link that can be cut.

use std::path::Path;
use std::process::Command;

use super::process::bound;
use super::standin::Standin;
use offload_tests::error::{Error, Result};

/// Two namespaces, each with an end of the cable: this machine may have rules of its own for what leaves it.
#[derive(Debug)]
pub(in super::super) struct Namespace {
    here: String,
    there: String,
}

/// Addresses for documentation, which no network has (<https://www.rfc-editor.org/rfc/rfc5737>).
const HERE: &str = "192.0.2.1/30";
const THERE: &str = "192.0.2.2/30";
/// The name of the card in both.
const CARD: &str = "cable";

impl Namespace {
    /// Makes both; only root may.
    pub(in super::super) fn new() -> Result<Namespace> {
        let [here, there] = ["here", "there"].map(|end| format!("offload-{end}-{}", std::process::id()));
        let namespace = Namespace { here, there };
        let here = &namespace.here;
        let there = &namespace.there;
        ip(&["netns", "add", here])?;
        ip(&["netns", "add", there])?;
        ip(&["-n", here, "link", "add", CARD, "type", "veth", "peer", "name", CARD, "netns", there])?;
        for (end, address) in [(here, HERE), (there, THERE)] {
            ip(&["-n", end, "address", "add", address, "dev", CARD])?;
            ip(&["-n", end, "link", "set", CARD, "up"])?;
            ip(&["-n", end, "link", "set", "lo", "up"])?;
        }
        Ok(namespace)
    }

    /// The name of that in which builds run.
    pub(in super::super) fn here(&self) -> &str {
        &self.here
    }

    /// A stand-in there.
    pub(in super::super) fn standin(&self, program: &Path) -> Result<Standin> {
        let mut command = bound("ip");
        let address = THERE.split('/').next().unwrap_or_default();
        command.args(["netns", "exec", &self.there]).arg(program).args(["--listen", address]);
        Standin::started(command)
    }

    /// Drops all packets from now on, without an error at either end.
    pub(in super::super) fn cut(&self) -> Result<()> {
        // A card that is down here would be an error at once: the packets have to vanish on the way.
        ip(&["-n", &self.there, "link", "set", "dev", CARD, "down"])
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // The cards go with them.
        for end in [&self.here, &self.there] {
            let _ = ip(&["netns", "delete", end]);
        }
    }
}

fn ip(args: &[&str]) -> Result<()> {
    let output = Command::new("ip").args(args).output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(Error::new(format!("ip {args:?}: {}", text.trim()))) }
}
