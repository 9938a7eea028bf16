//! Cache entries of offload in an action cache: each key maps to an action that is never executed, and whose result has one
//! output file.
//!
//! Action caches have digests of actions as their only keys. A synthetic action makes a key distinct from those of all other
//! clients, so that any action cache can hold results of build scripts.

use offload_format::Hash128;
use prost::Message;

use crate::api::{Action, ActionResult, Command, Directory, OutputFile};
use crate::digest::{Digest, hex};
use crate::store::Blob;

/// The output file that holds the result.
pub(crate) const FILE: &str = "result";
/// The last number changes with the encoding of results.
const PROGRAM: &str = "cargo-offload-result-1";

/// The synthetic action of a key.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The key in the action cache.
    pub(crate) action: Digest,
    /// The action, its command and its input root.
    pub(crate) parts: [Blob; 3],
}

impl Entry {
    pub(crate) fn for_key(key: Hash128) -> Entry {
        let command = Blob::from_bytes(
            Command {
                arguments: vec![PROGRAM.into(), hex(&key.0)],
                output_paths: vec![FILE.into()],
                ..Default::default()
            }
            .encode_to_vec(),
        );
        let root = Blob::from_bytes(Directory::default().encode_to_vec());
        let action = Blob::from_bytes(
            Action {
                command_digest: Some(command.digest.message()),
                input_root_digest: Some(root.digest.message()),
                ..Default::default()
            }
            .encode_to_vec(),
        );
        Entry { action: action.digest, parts: [action, command, root] }
    }
}

/// An action result whose only output file is `digest`.
pub(crate) fn result(digest: &Digest) -> ActionResult {
    let file = OutputFile { path: FILE.into(), digest: Some(digest.message()), ..Default::default() };
    ActionResult { output_files: vec![file], ..Default::default() }
}

/// The output file of an action result, if offload wrote it.
pub(crate) fn file(result: ActionResult) -> Option<OutputFile> {
    result.output_files.into_iter().find(|file| file.path == FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(digest: Digest) -> Vec<u8> {
        let size = digest.size as u8;
        let mut bytes = [&b"\x0a\x40"[..], digest.hex().as_bytes()].concat();
        if size != 0 {
            bytes.extend([0x10, size]);
        }
        bytes
    }

    #[test]
    fn the_action_of_a_key_is_what_the_api_makes_of_it() {
        // Written by hand from the definitions: field 1 twice, then field 7.
        let command =
            [&b"\x0a\x16cargo-offload-result-1\x0a\x20"[..], "07".repeat(16).as_bytes(), b"\x3a\x06result"]
                .concat();
        let root = Digest::from_bytes(b"");
        let command_digest = encode(Digest::from_bytes(&command));
        let root_digest = encode(root);
        let action = [
            &[0x0a, command_digest.len() as u8][..],
            &command_digest,
            &[0x12, root_digest.len() as u8],
            &root_digest,
        ]
        .concat();
        assert_eq!(Entry::for_key(Hash128([7; 16])).action, Digest::from_bytes(&action));
    }

    #[test]
    fn a_result_of_something_else_has_no_file() {
        let digest = Digest::from_bytes(b"x");
        assert_eq!(file(result(&digest)).unwrap().digest, Some(digest.message()));
        assert!(file(ActionResult::default()).is_none());
    }
}
