//! A network of its own for a server, with a cable that can be pulled.

use std::path::Path;
use std::process::Command;

use super::process::bound;
use super::standin::Standin;
use offload_tests::error::{Error, Result};

/// A network namespace, and a pair of virtual cards between it and this machine.
#[derive(Debug)]
pub(in super::super) struct Namespace {
    name: String,
    card: String,
}

/// Addresses for documentation, which no network has (<https://www.rfc-editor.org/rfc/rfc5737>).
const HERE: &str = "192.0.2.1";
const THERE: &str = "192.0.2.2";

impl Namespace {
    /// Makes one; only root may.
    pub(in super::super) fn new() -> Result<Namespace> {
        let id = std::process::id();
        let (name, card) = (format!("offload{id}"), format!("of{id}"));
        let (other, mask) = (format!("og{id}"), "30");
        ip(&["netns", "add", &name])?;
        let namespace = Namespace { name, card };
        let (name, card) = (&namespace.name, &namespace.card);
        ip(&["link", "add", card, "type", "veth", "peer", "name", &other, "netns", name])?;
        ip(&["address", "add", &format!("{HERE}/{mask}"), "dev", card])?;
        ip(&["link", "set", card, "up"])?;
        ip(&["-n", name, "address", "add", &format!("{THERE}/{mask}"), "dev", &other])?;
        ip(&["-n", name, "link", "set", &other, "up"])?;
        Ok(namespace)
    }

    /// A stand-in there.
    pub(in super::super) fn standin(&self, program: &Path) -> Result<Standin> {
        let mut command = bound("ip");
        command.args(["netns", "exec", &self.name]).arg(program).args(["--listen", THERE]);
        Standin::started(command)
    }

    /// From now on nothing arrives, and nobody is told.
    pub(in super::super) fn cut(&self) -> Result<()> {
        // A card that is down would be an error at once: the packets have to vanish on the way.
        ip(&["-n", &self.name, "link", "set", "dev", &self.card.replacen("of", "og", 1), "down"])
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // The cards go with it.
        let _ = ip(&["netns", "delete", &self.name]);
    }
}

fn ip(args: &[&str]) -> Result<()> {
    let output = Command::new("ip").args(args).output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(Error::new(format!("ip {args:?}: {}", text.trim()))) }
}
