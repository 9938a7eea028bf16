//! Our results among those of actions: a key becomes an action that no server runs, and whose result has one file.
//!
//! Caches know no other names than digests of actions. So every cache of the API keeps our results, whatever else it
//! keeps, and none mistakes one for another's.

use offload_format::Hash128;
use prost::Message;

use crate::api::{Action, ActionResult, Command, Directory, OutputFile};
use crate::digest::{Digest, hex};
use crate::store::Blob;

/// The file of the result.
pub(crate) const FILE: &str = "result";
/// Its last figure changes when the form of results does.
const PROGRAM: &str = "cargo-offload-result-1";

/// The action of a key.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The digest by which caches know it.
    pub(crate) action: Digest,
    /// The action and what it refers to.
    pub(crate) parts: [Blob; 3],
}

impl Entry {
    pub(crate) fn of(key: Hash128) -> Entry {
        let command = Blob::of(
            Command {
                arguments: vec![PROGRAM.into(), hex(&key.0)],
                output_paths: vec![FILE.into()],
                ..Default::default()
            }
            .encode_to_vec(),
        );
        let root = Blob::of(Directory::default().encode_to_vec());
        let action = Blob::of(
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

/// The result that consists of the file `digest`.
pub(crate) fn result(digest: &Digest) -> ActionResult {
    let file = OutputFile { path: FILE.into(), digest: Some(digest.message()), ..Default::default() };
    ActionResult { output_files: vec![file], ..Default::default() }
}

/// The file in a result, if it is one of ours.
pub(crate) fn file(result: ActionResult) -> Option<OutputFile> {
    result.output_files.into_iter().find(|file| file.path == FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_action_of_a_key_is_what_the_api_makes_of_it() {
        // Written by hand from the definitions: field 1 twice, then field 7.
        let command =
            [&b"\x0a\x16cargo-offload-result-1\x0a\x20"[..], "07".repeat(16).as_bytes(), b"\x3a\x06result"]
                .concat();
        let root = Digest::of(b"");
        let digest = |digest: Digest| {
            let size = digest.size as u8;
            let mut bytes = [&b"\x0a\x40"[..], digest.hex().as_bytes()].concat();
            if size != 0 {
                bytes.extend([0x10, size]);
            }
            bytes
        };
        let (command_digest, root_digest) = (digest(Digest::of(&command)), digest(root));
        let action = [
            &[0x0a, command_digest.len() as u8][..],
            &command_digest,
            &[0x12, root_digest.len() as u8],
            &root_digest,
        ]
        .concat();
        assert_eq!(Entry::of(Hash128([7; 16])).action, Digest::of(&action));
    }

    #[test]
    fn a_result_of_something_else_has_no_file() {
        let digest = Digest::of(b"x");
        assert_eq!(file(result(&digest)).unwrap().digest, Some(digest.message()));
        assert!(file(ActionResult::default()).is_none());
    }
}
