//! `remote` in `offload.toml`, and the variable that overrides it.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;

use offload_protocol::variable;

use crate::error::{Error, Result};
use crate::settings::Value;
use crate::toml_text::quoted;

/// Settings of the remote cache and of remote execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RemoteSettings {
    pub(crate) url: String,
    /// Whether compilers are executed remotely.
    pub(crate) execute: bool,
    /// Whether results are uploaded.
    pub(crate) upload: bool,
    /// The limit of concurrent actions.
    pub(crate) jobs: usize,
    pub(crate) tools: ToolsFrom,
    /// All other keys, as lines of TOML.
    rest: String,
}

/// The source of compilers on workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ToolsFrom {
    /// Installed on the workers, at the same paths.
    #[default]
    Worker,
    /// Uploaded from the folder of `cargo offload toolchain install`, in the input root.
    Upload,
}

const KEYS: [&str; 14] = [
    "url",
    "instance",
    "region",
    "endpoint",
    "execute",
    "upload",
    "platform",
    "headers",
    "ca",
    "certificate",
    "key",
    "jobs",
    "timeout",
    "tools",
];

/// The default of `jobs`: as many as most clusters give one user.
const DEFAULT_JOBS: usize = 128;

impl RemoteSettings {
    /// Reads the table `remote` of a file in `directory`, the base of relative paths.
    pub(crate) fn read(value: Value<'_>, directory: &Path) -> Result<RemoteSettings> {
        let table = value.table()?;
        table.only(&KEYS)?;
        let mut rest = String::new();
        for (key, value) in table.entries() {
            let line = match key {
                "instance" | "region" | "endpoint" => quoted(value.str()?),
                "ca" | "certificate" | "key" => quoted(&absolute(value.str()?, directory)),
                "platform" => inline(value, |value| Ok(quoted(value.str()?)))?,
                "headers" => inline(value, |value| header(value, directory))?,
                "timeout" => value.number::<u32>()?.to_string(),
                _ => continue,
            };
            let _ = writeln!(rest, "{key} = {line}");
        }
        let url = table.required("url")?.str()?;
        check_public(url)?;
        Ok(RemoteSettings {
            url: if url.contains("://") { url.to_string() } else { absolute(url, directory) },
            execute: table.optional("execute", Value::bool)?.unwrap_or(false),
            upload: table.optional("upload", Value::bool)?.unwrap_or(true),
            jobs: table.optional("jobs", Value::number::<u16>)?.map_or(DEFAULT_JOBS, usize::from),
            tools: table
                .optional("tools", |value| {
                    value.choice(&[("worker", ToolsFrom::Worker), ("upload", ToolsFrom::Upload)])
                })?
                .unwrap_or_default(),
            rest,
        })
    }

    /// The settings of the file, overridden by the variable: `0` disables them, any other value is a URL.
    pub(crate) fn overridden(
        file: Option<RemoteSettings>,
        value: Option<OsString>,
    ) -> Result<Option<RemoteSettings>> {
        let Some(value) = value else { return Ok(file) };
        let text = value
            .into_string()
            .map_err(|_| Error::new(format!("the value of `{}` is not UTF-8", variable::REMOTE)))?;
        if text == "0" {
            return Ok(None);
        }
        check_public(&text)?;
        let usual = RemoteSettings {
            url: String::new(),
            execute: false,
            upload: true,
            jobs: DEFAULT_JOBS,
            tools: ToolsFrom::default(),
            rest: String::new(),
        };
        Ok(Some(RemoteSettings { url: text, ..file.unwrap_or(usual) }))
    }

    /// The table as `cargo-offload` reads it.
    pub(crate) fn to_toml(&self) -> String {
        let RemoteSettings { execute, upload, jobs, rest, .. } = self;
        format!("url = {}\nexecute = {execute}\nupload = {upload}\njobs = {jobs}\n{rest}", quoted(&self.url))
    }
}

/// Checks that a URL has no secrets: it appears in messages, and in the arguments of a process, visible to all users.
///
/// # Errors
/// If it has user information or a query. The message does not show them.
fn check_public(url: &str) -> Result<()> {
    let Some((scheme, rest)) = url.split_once("://").filter(|(scheme, _)| *scheme != "file") else {
        return Ok(());
    };
    let (before, query) = match rest.split_once(['?', '#']) {
        Some((before, _)) => (before, true),
        None => (rest, false),
    };
    let (authority, path) = before.split_at(before.find('/').unwrap_or(before.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    let what = match (host == authority, query) {
        (true, false) => return Ok(()),
        (false, _) => "a user name or password",
        (true, true) => "a query",
    };
    let message =
        format!("the URL `{scheme}://{host}{path}` of `remote` has {what} in it, which others would see");
    Err(Error::new(message).with_hint(match scheme {
        "s3" => "give AWS's credentials by its variables or in `~/.aws/credentials`",
        _ => "give credentials by `headers`, as `headers = { authorization = { env = \"BUILD_TOKEN\" } }`",
    }))
}

/// A table with `write` of each of its values, on one line.
fn inline(value: Value<'_>, write: impl Fn(Value<'_>) -> Result<String>) -> Result<String> {
    let mut parts = Vec::new();
    for (key, value) in value.table()?.entries() {
        parts.push(format!("{} = {}", quoted(key), write(value)?));
    }
    Ok(format!("{{ {} }}", parts.join(", ")))
}

/// The source of a header value. The value itself must not be in the file, which is in a repository.
fn header(value: Value<'_>, directory: &Path) -> Result<String> {
    let table = value.as_table();
    let env = table.and_then(|table| table.get("env")?.as_str());
    let file = table.and_then(|table| table.get("file")?.as_str());
    match (env, file) {
        (Some(name), None) => Ok(format!("{{ env = {} }}", quoted(name))),
        (None, Some(file)) => Ok(format!("{{ file = {} }}", quoted(&absolute(file, directory)))),
        _ => Err(value.refuse(
            Error::new(
                "a header has `env`, the name of a variable with its value, or `file`, a file with it",
            )
            .with_hint("write for example { env = \"BUILD_API_KEY\" }"),
        )),
    }
}

fn absolute(path: &str, directory: &Path) -> String {
    directory.join(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings;

    fn read(text: &str) -> Result<RemoteSettings> {
        let mut found = None;
        settings::read(text, |table| {
            found = Some(RemoteSettings::read(table.required("remote")?, Path::new("/app"))?);
            Ok(())
        })?;
        Ok(found.unwrap())
    }

    #[test]
    fn both_forms_of_tables_are_handed_on() {
        let inline = "remote = { url = 'grpcs://a:1', platform = { OS = \"linux\" }, ca = 'x.pem', execute = true, jobs = 7, headers = { k = { env = 'K' } } }";
        let tables = "[remote]\nurl = 'grpcs://a:1'\nca = 'x.pem'\nexecute = true\njobs = 7\n[remote.platform]\nOS = 'linux'\n[remote.headers.k]\nenv = 'K'\n";
        let expected = "url = \"grpcs://a:1\"\nexecute = true\nupload = true\njobs = 7\nca = \"/app/x.pem\"\nheaders = { \"k\" = { env = \"K\" } }\nplatform = { \"OS\" = \"linux\" }\n";
        for text in [inline, tables] {
            assert_eq!(read(text).unwrap().to_toml(), expected);
        }
    }

    #[test]
    fn a_bucket_is_handed_on_with_its_place() {
        let text = "remote = { url = 's3://b/p', region = 'eu-west-1', endpoint = 'http://[::1]:9000' }";
        let expected = "url = \"s3://b/p\"\nexecute = false\nupload = true\njobs = 128\nendpoint = \"http://[::1]:9000\"\nregion = \"eu-west-1\"\n";
        assert_eq!(read(text).unwrap().to_toml(), expected);
    }

    #[test]
    fn a_folder_is_relative_to_the_file() {
        assert_eq!(read("remote = { url = 'shared' }").unwrap().url, "/app/shared");
        assert_eq!(read("remote = { url = 'file:///x' }").unwrap().url, "file:///x");
    }

    #[test]
    fn secrets_and_unknown_keys_are_refused() {
        for (text, part) in [
            ("remote = { url = 'grpc://a', headers = { k = 'secret' } }", "a header has `env`"),
            ("remote = { url = 'grpc://a', exec = true }", "unknown field `exec`"),
            ("remote = { execute = true }", "missing field `url`"),
            ("remote = { url = 'grpc://a', tools = 'mine' }", "expected `worker` or `upload`"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("unwrap"), "{error}");
        }
    }

    #[test]
    fn a_secret_in_the_url_is_refused_and_not_shown() {
        for url in ["https://h/c?token=hidden", "http://me:hidden@h/c", "grpc://h#hidden", "s3://b/p?hidden"]
        {
            let read = read(&format!("remote = {{ url = '{url}' }}")).unwrap_err();
            let variable = RemoteSettings::overridden(None, Some(url.into())).unwrap_err();
            for error in [read, variable] {
                assert!(!error.to_string().contains("hidden") && error.hint().is_some(), "{error}");
            }
        }
        // Names of folders have any characters.
        assert_eq!(read("remote = { url = '/a?b@c' }").unwrap().url, "/a?b@c");
    }

    #[test]
    fn the_variable_overrides_the_url_alone() {
        let file = read("remote = { url = 'grpc://a', execute = true }").unwrap();
        let b = RemoteSettings { url: "http://b".into(), ..file.clone() };
        for (variable, settings) in
            [(Some("0"), None), (Some("http://b"), Some(b)), (None, Some(file.clone()))]
        {
            let overridden = RemoteSettings::overridden(Some(file.clone()), variable.map(Into::into));
            assert_eq!(overridden.unwrap(), settings);
        }
        assert!(!RemoteSettings::overridden(None, Some("http://b".into())).unwrap().unwrap().execute);
    }
}
