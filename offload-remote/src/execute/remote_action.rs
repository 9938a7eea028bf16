//! Encoding of actions as messages of the API.

use std::collections::BTreeMap;
use std::sync::Arc;

use offload_protocol::remote::Action;
use prost::Message;

use crate::api::{self, Command, Platform, command, platform, protobuf};
use crate::digest::Digest;
use crate::fault::Fault;
use crate::files::Files;
use crate::input_root::InputRoot;
use crate::store::{Blob, Lookup};

/// An action with its blobs, ready for execution.
#[derive(Debug)]
pub(super) struct RemoteAction {
    pub(super) action: Digest,
    /// The action, its command and its input root.
    pub(super) blobs: Vec<Blob>,
    pub(super) outputs: Vec<String>,
    pub(super) seconds: u64,
    /// Whether a cached result is accepted.
    pub(super) lookup: Lookup,
}

/// Properties of an action that the build script does not set.
#[derive(Debug)]
pub(super) struct ActionOptions {
    /// Separates cached results of workers with different tools.
    pub(super) salt: Vec<u8>,
    pub(super) platform: BTreeMap<String, String>,
    pub(super) lookup: Lookup,
}

/// The longest timeout that servers accept, in seconds: NativeLink rejects more than twenty minutes by default, others more
/// than an hour.
const MAX_TIMEOUT: i64 = 20 * 60;

impl RemoteAction {
    /// Reads the inputs of `action`, and encodes it.
    ///
    /// # Errors
    /// If a local file cannot be read.
    pub(super) async fn build(
        action: Action,
        options: ActionOptions,
        files: &Arc<Files>,
    ) -> Result<RemoteAction, Fault> {
        let files = Arc::clone(files);
        let prepared = tokio::task::spawn_blocking(move || {
            let input_root = InputRoot::build(&action, &files)?;
            Ok(seal(action, options, input_root))
        });
        prepared.await.unwrap_or_else(|error| Err(Fault::lasting(error.to_string())))
    }
}

/// Platform properties, sorted as the API requires; `None` if there are none.
fn platform(properties: BTreeMap<String, String>) -> Option<Platform> {
    let properties: Vec<_> =
        properties.into_iter().map(|(name, value)| platform::Property { name, value }).collect();
    (!properties.is_empty()).then_some(Platform { properties })
}

fn seal(action: Action, options: ActionOptions, input_root: InputRoot) -> RemoteAction {
    let mut variables: Vec<_> = action.variables.into_iter().map(|it| (it.name, it.value)).collect();
    variables.sort_unstable();
    let mut outputs = action.outputs.clone();
    outputs.sort_unstable();
    outputs.dedup();
    let platform = platform(options.platform);
    #[expect(deprecated, reason = "servers below 2.2 look for the platform in the command")]
    let command = Command {
        arguments: action.arguments,
        environment_variables: variables
            .into_iter()
            .map(|(name, value)| command::EnvironmentVariable { name, value })
            .collect(),
        output_paths: outputs,
        working_directory: action.directory,
        platform: platform.clone(),
        ..Default::default()
    };
    let command = Blob::from_bytes(command.encode_to_vec());
    let message = api::Action {
        command_digest: Some(command.digest.message()),
        input_root_digest: Some(input_root.root.message()),
        timeout: limit(action.seconds),
        do_not_cache: options.lookup == Lookup::Never,
        salt: options.salt,
        platform,
    };
    let message = Blob::from_bytes(message.encode_to_vec());
    let mut blobs = input_root.blobs;
    let digest = message.digest;
    blobs.extend([command, message]);
    RemoteAction {
        action: digest,
        blobs,
        outputs: action.outputs,
        seconds: action.seconds,
        lookup: options.lookup,
    }
}

/// The timeout for the server; none if it is unlimited or longer than servers accept, which then apply their default. The
/// client waits for [`RemoteAction::seconds`] in any case.
fn limit(seconds: u64) -> Option<protobuf::Duration> {
    let seconds = i64::try_from(seconds).ok().filter(|seconds| (1..=MAX_TIMEOUT).contains(seconds))?;
    Some(protobuf::Duration { seconds, nanos: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_hear_of_limits_that_they_allow() {
        for (seconds, expected) in
            [(0, None), (1, Some(1)), (1200, Some(1200)), (3600, None), (u64::MAX, None)]
        {
            assert_eq!(limit(seconds).map(|limit| limit.seconds), expected);
        }
    }
}
