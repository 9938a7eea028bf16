//! What a server does that it should not.

use std::str::FromStr;
use std::time::Duration;

/// The exit code of a server that a fault ended.
const DIED: i32 = 9;

/// One thing that it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Every call takes so much longer: `delay=MILLISECONDS`.
    Delay(Duration),
    /// Nothing more fits on its disk: `full`.
    Full,
    /// The files of a result are those of another action's: `exchanged`.
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
    /// Does to the call with this number what befalls every call.
    pub(super) async fn befall(self, number: u64) {
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
        let number = || value.parse::<u64>().map_err(|error| format!("`{text}`: {error}"));
        match name {
            "delay" => Ok(Fault::Delay(Duration::from_millis(number()?))),
            "dies" => Ok(Fault::Dies(number()?)),
            "hangs" => Ok(Fault::Hangs(number()?)),
            "full" => Ok(Fault::Full),
            "exchanged" => Ok(Fault::Exchanged),
            "truncated" => Ok(Fault::Truncated),
            "unavailable" => Ok(Fault::Unavailable),
            _ => Err(format!("there is no fault `{text}`")),
        }
    }
}
