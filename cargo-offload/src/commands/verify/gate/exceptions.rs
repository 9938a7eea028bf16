//! Exceptions: modules that may lack a requirement, and files that may stay unread.

use serde::Serialize;

use super::verdict::Summary;
use crate::cli;
use crate::error::{Error, Result};
use crate::print::output::Output;
use crate::print::text::escaped;
use crate::settings::offload_toml::Required;
use crate::settings::target_filter::glob;

/// Exceptions of the user.
#[derive(Debug, Default)]
pub(super) struct Exceptions {
    except: Vec<Exception>,
    allow_unread: Vec<String>,
}

/// Modules with such a name need not meet these demands.
#[derive(Debug)]
struct Exception {
    name: String,
    demands: Vec<String>,
}

/// A file that was not looked into, and why.
pub(super) struct UnreadMessage<'a> {
    pub(super) file: &'a str,
    pub(super) why: &'a str,
}

#[derive(Debug, Serialize)]
struct Unread<'a> {
    reason: &'static str,
    file: &'a str,
    problem: &'a str,
    /// Whether it may stay so.
    allowed: bool,
}

impl Exceptions {
    /// Those of the command line.
    ///
    /// # Errors
    /// One does not say what may be lacking.
    pub(super) fn parse(gate: &cli::Gate) -> Result<Exceptions> {
        let except = gate.except.iter().map(|text| Exception::parse(text)).collect::<Result<_>>()?;
        let all = gate.allow_unread.then(|| "*".to_string());
        let allow_unread = gate.allow_unread_of.iter().cloned().chain(all).collect();
        Ok(Exceptions { except, allow_unread })
    }

    /// The same with those of a configuration file.
    #[must_use]
    pub(super) fn with(mut self, required: &Required) -> Exceptions {
        for (name, demands) in &required.except {
            self.except.push(Exception { name: name.clone(), demands: demands.clone() });
        }
        self.allow_unread.extend(required.allow_unread.iter().cloned());
        self
    }

    /// The requirements that `module` in `file` may lack.
    pub(super) fn for_module(&self, module: &str, file: &str) -> Vec<String> {
        let meant =
            |exception: &&Exception| glob(&exception.name, module) || is_called(&exception.name, file);
        self.except.iter().filter(meant).flat_map(|exception| exception.demands.iter().cloned()).collect()
    }

    /// Says that a file was not looked into.
    pub(super) fn print_unread(
        &self,
        output: &Output,
        unread: &UnreadMessage<'_>,
        summary: &mut Summary,
    ) -> Result<()> {
        let UnreadMessage { file, why } = *unread;
        let allowed = self.allow_unread.iter().any(|pattern| is_called(pattern, file));
        let message = Unread { reason: "unread", file, problem: why, allowed };
        let shown = escaped(file);
        let why = escaped(why);
        if allowed {
            return output.done(&message, &format!("unread: {shown}: {why}"));
        }
        summary.add_unread();
        let text = format!(
            "error: {shown} cannot be searched: {why}\nhint: use `--allow-unread-of {}` to accept it",
            escaped(base_name(file))
        );
        output.message(&message, &text)
    }
}

impl Exception {
    fn parse(text: &str) -> Result<Exception> {
        let parts = text.split_once('=').filter(|(name, demand)| !name.is_empty() && !demand.is_empty());
        let (name, demand) = parts.ok_or_else(|| {
            Error::usage(format!("`{}` is not an exception", text.escape_debug()))
                .hint("use NAME=WHAT, such as `--except 'nccl*=sm_100f'`")
        })?;
        Ok(Exception { name: name.to_string(), demands: vec![demand.to_string()] })
    }
}

/// Whether `pattern` means a file: by its path with all that it lies in, by its path there, by its name, or by that of its
/// library.
fn is_called(pattern: &str, file: &str) -> bool {
    let inner = file.rsplit(": ").next().unwrap_or(file);
    let name = base_name(file);
    let library = name.strip_prefix("lib").unwrap_or(name);
    [file, inner, name, library].iter().any(|name| glob(pattern, name))
}

fn base_name(file: &str) -> &str {
    let inner = file.rsplit(": ").next().unwrap_or(file);
    inner.rsplit('/').next().unwrap_or(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_meant_by_any_of_their_names() {
        let file = "dist/x.whl: nvidia/nccl/lib/libnccl.so.2";
        for pattern in ["nccl*", "libnccl.so.2", "nvidia/*", "*/nccl/*", "dist/x.whl: *", "*"] {
            assert!(is_called(pattern, file), "{pattern}");
        }
        for pattern in ["ccl*", "libnccl", "dist/x.whl", "lib/*"] {
            assert!(!is_called(pattern, file), "{pattern}");
        }
    }
}
