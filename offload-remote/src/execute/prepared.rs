//! An action as messages of the API.

use std::collections::BTreeMap;
use std::sync::Arc;

use offload_format::remote::Action;
use prost::Message;

use crate::api::{self, Command, Platform, command, platform, protobuf};
use crate::digest::Digest;
use crate::fault::Fault;
use crate::files::Files;
use crate::store::{Blob, Lookup};
use crate::tree::Tree;

/// An action that can be run.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) action: Digest,
    /// The action and everything that it refers to.
    pub(super) blobs: Vec<Blob>,
    pub(super) outputs: Vec<String>,
    pub(super) seconds: u64,
    /// Whether an earlier result will do.
    pub(super) lookup: Lookup,
}

/// What belongs to an action beside what the build script says.
#[derive(Debug)]
pub(super) struct Terms {
    /// Makes results of workers with other tools others.
    pub(super) salt: Vec<u8>,
    pub(super) platform: BTreeMap<String, String>,
    pub(super) lookup: Lookup,
}

/// In seconds. NativeLink refuses what may run longer than twenty minutes, unless it is told otherwise; others an hour.
const LONGEST: i64 = 20 * 60;

impl Prepared {
    /// Reads the inputs of `action`.
    ///
    /// # Errors
    /// A file of this machine cannot be read.
    pub(super) async fn of(action: Action, terms: Terms, files: &Arc<Files>) -> Result<Prepared, Fault> {
        let files = Arc::clone(files);
        let prepared = tokio::task::spawn_blocking(move || {
            let tree = Tree::of(&action, &files)?;
            Ok(seal(action, terms, tree))
        });
        prepared.await.unwrap_or_else(|error| Err(Fault::lasting(error.to_string())))
    }
}

/// Properties in the order that the API wants; nothing if there are none.
fn platform(properties: BTreeMap<String, String>) -> Option<Platform> {
    let properties: Vec<_> =
        properties.into_iter().map(|(name, value)| platform::Property { name, value }).collect();
    (!properties.is_empty()).then_some(Platform { properties })
}

fn seal(action: Action, terms: Terms, tree: Tree) -> Prepared {
    let mut variables: Vec<_> = action.variables.into_iter().map(|it| (it.name, it.value)).collect();
    variables.sort_unstable();
    let mut outputs = action.outputs.clone();
    outputs.sort_unstable();
    outputs.dedup();
    let platform = platform(terms.platform);
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
    let command = Blob::of(command.encode_to_vec());
    let message = api::Action {
        command_digest: Some(command.digest.message()),
        input_root_digest: Some(tree.root.message()),
        timeout: limit(action.seconds),
        do_not_cache: terms.lookup == Lookup::Never,
        salt: terms.salt,
        platform,
    };
    let message = Blob::of(message.encode_to_vec());
    let mut blobs = tree.blobs;
    let digest = message.digest;
    blobs.extend([command, message]);
    Prepared { action: digest, blobs, outputs: action.outputs, seconds: action.seconds, lookup: terms.lookup }
}

/// The limit that a server is told: none if it is for ever, or longer than servers allow, which then have their own. How
/// long this machine waits is another matter ([`Prepared::seconds`]).
fn limit(seconds: u64) -> Option<protobuf::Duration> {
    let seconds = i64::try_from(seconds).ok().filter(|seconds| (1..=LONGEST).contains(seconds))?;
    Some(protobuf::Duration { seconds, nanos: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_hear_of_limits_that_they_allow() {
        for (seconds, told) in [(0, None), (1, Some(1)), (1200, Some(1200)), (3600, None), (u64::MAX, None)] {
            assert_eq!(limit(seconds).map(|limit| limit.seconds), told);
        }
    }
}
