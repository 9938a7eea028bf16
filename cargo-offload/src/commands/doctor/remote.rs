//! `doctor`: the permissions of this machine on the server of the table `remote`.

use std::path::Path;

use serde::Serialize;

use crate::error::{Error, ExitStatus, Result};
use crate::print::output::Output;
use crate::print::table::Table;
use crate::settings::offload_toml::ConfigFile;

#[derive(Debug, Default, Serialize)]
struct Message {
    reason: &'static str,
    url: Option<String>,
    instance: Option<String>,
    /// Until the first answer.
    milliseconds: Option<u64>,
    /// Of the Remote Execution API.
    version: Option<String>,
    /// These are nothing where they were not tried.
    reads: Option<bool>,
    writes: Option<bool>,
    executes: Option<bool>,
    problems: Vec<RemoteProblem>,
}

#[derive(Debug, Serialize)]
struct RemoteProblem {
    problem: String,
    remedy: Option<String>,
}

impl Message {
    fn new() -> Message {
        Message { reason: "remote", ..Message::default() }
    }

    fn problem(&mut self, error: &Error) {
        let remedy = error.hint_text().map(str::to_string);
        self.problems.push(RemoteProblem { problem: error.message().to_string(), remedy });
    }
}

/// Examines the server, if a build would ask one.
pub(super) fn run(output: &Output, config: Option<&Path>) -> Result<ExitStatus> {
    let Some(settings) = ConfigFile::remote(config)? else { return Ok(ExitStatus::Success) };
    output.space()?;
    let mut message = Message::new();
    let mut table = Table::new(&["remote", "outcome"]);
    examine(&settings, &mut message, &mut table)?;
    output.table(&[&message], &table)?;
    for remedy in message.problems.iter().filter_map(|problem| problem.remedy.as_ref()) {
        output.remark(&format!("hint: {remedy}"))?;
    }
    Ok(if message.problems.is_empty() { ExitStatus::Success } else { ExitStatus::CheckFailed })
}

#[cfg(not(all(feature = "remote", unix)))]
fn examine(_settings: &str, message: &mut Message, table: &mut Table) -> Result<()> {
    let error = Error::without_remote();
    table.row(vec!["not checked".into(), error.message().into()]);
    table.problem("outcome");
    message.problem(&error);
    Ok(())
}

#[cfg(all(feature = "remote", unix))]
fn examine(settings: &str, message: &mut Message, table: &mut Table) -> Result<()> {
    let settings = offload_remote::Settings::parse(settings).map_err(Error::from_remote)?;
    let found = offload_remote::examine(&settings).map_err(Error::from_remote)?;
    message.url = Some(settings.url().to_string());
    message.instance = Some(settings.instance().to_string());
    let version = found.version.as_ref().map(|version| format!(", version {version} of the API"));
    let time = found.connection.as_ref().ok().map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    let answer = found
        .connection
        .map(|_| format!("answers within {} ms{}", time.unwrap_or_default(), version.unwrap_or_default()));
    show(settings.url(), answer, message, table);
    let accesses = [found.reads, found.writes, found.executes];
    let tried = accesses.each_ref().map(access);
    for (what, access) in ["find results", "store results", "run commands"].into_iter().zip(accesses) {
        match access {
            offload_remote::Access::Granted => show(what, Ok("yes".to_string()), message, table),
            offload_remote::Access::NotTried => show(what, Ok("not tried".to_string()), message, table),
            offload_remote::Access::Refused(error) => show(what, Err(error), message, table),
        }
    }
    [message.reads, message.writes, message.executes] = tried;
    (message.milliseconds, message.version) = (time, found.version);
    Ok(())
}

#[cfg(all(feature = "remote", unix))]
fn show(
    what: &str,
    outcome: std::result::Result<String, offload_remote::Error>,
    message: &mut Message,
    table: &mut Table,
) {
    match outcome {
        Ok(text) => table.row(vec![what.to_string(), text]),
        Err(error) => {
            table.row(vec![what.to_string(), format!("no: {}", error.message())]);
            table.problem("outcome");
            message.problem(&Error::from_remote(error));
        }
    }
}

#[cfg(all(feature = "remote", unix))]
fn access(access: &offload_remote::Access) -> Option<bool> {
    match access {
        offload_remote::Access::Granted => Some(true),
        offload_remote::Access::NotTried => None,
        offload_remote::Access::Refused(_) => Some(false),
    }
}
