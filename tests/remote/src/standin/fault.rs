//! Fault injection.

use std::str::FromStr;
use std::time::Duration;

/// The exit code of a server that a fault ended.
const DIED: i32 = 9;

/// An injected fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Every call takes so much longer: `delay=MILLISECONDS`.
    Delay(Duration),
    /// Nothing more fits on its disk: `full`.
    Full,
    /// A result has the output files of another action: `exchanged`.
    Exchanged,
    /// Half of each blob is sent: `truncated`.
    Truncated,
    /// Actions find no worker: `unavailable`.
    Unavailable,
    /// The call with this number ends the process: `dies=NUMBER`, from 1.
    Dies(u64),
    /// The call with this number and all later ones get no answer: `hangs=NUMBER`.
    Hangs(u64),
}

impl Fault {
    /// Injects the fault into the call with this number.
    pub(super) async fn inject(self, number: u64) {
        match self {
            Fault::Delay(time) => tokio::time::sleep(time).await,
            Fault::Dies(at) if number >= at => std::process::exit(DIED),
            Fault::Hangs(at) if number >= at => std::future::pending().await,
            _ => {}
        }
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Fault, String> {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        match name {
            "full" => return Ok(Fault::Full),
            "exchanged" => return Ok(Fault::Exchanged),
            "truncated" => return Ok(Fault::Truncated),
            "unavailable" => return Ok(Fault::Unavailable),
            "delay" | "dies" | "hangs" => {}
            _ => return Err(format!("there is no fault `{text}`")),
        }
        let number = value.parse::<u64>().map_err(|error| format!("`{text}`: {error}"))?;
        match name {
            "delay" => Ok(Fault::Delay(Duration::from_millis(number))),
            "dies" => Ok(Fault::Dies(number)),
            _ => Ok(Fault::Hangs(number)),
        }
    }
}
