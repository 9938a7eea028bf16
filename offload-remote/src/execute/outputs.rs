//! Outputs of an action, verified against their digests.

use std::collections::HashMap;

use bytes::Bytes;
use offload_protocol::remote::{Executed, Origin, OutputFile};

use crate::api::{self, ActionResult};
use crate::digest::Digest;
use crate::fault::Fault;
use crate::remote::MAX_RESULT_SIZE;
use crate::store::Store;

/// An output, inlined in the result or downloaded by its digest.
struct OutputBlob {
    digest: Option<Digest>,
    inline: Bytes,
}

/// Completes the result; `None` if an output is missing or corrupt. The origin is set by the caller.
///
/// # Errors
/// If the server fails.
pub(super) async fn fetch(
    store: &dyn Store,
    result: ActionResult,
    wanted: &[String],
) -> Result<Option<Executed>, Fault> {
    let exit_code = result.exit_code;
    let mut parts = vec![
        OutputBlob::new(result.stdout_raw, result.stdout_digest),
        OutputBlob::new(result.stderr_raw, result.stderr_digest),
    ];
    // Undeclared outputs, links and directories are ignored.
    let mut files: HashMap<String, api::OutputFile> =
        result.output_files.into_iter().map(|file| (file.path.clone(), file)).collect();
    let mut paths = Vec::new();
    for path in wanted {
        if let Some(file) = files.remove(path) {
            paths.push(path.clone());
            if Digest::from_message(file.digest.as_ref()).is_none() {
                return Ok(None);
            }
            parts.push(OutputBlob::new(file.contents, file.digest));
        }
    }
    // The timeout grows with the declared size.
    if parts.iter().filter_map(|part| part.digest).any(|digest| digest.size > MAX_RESULT_SIZE) {
        return Ok(None);
    }
    let Some(contents) = complete(store, parts).await? else { return Ok(None) };
    let mut contents = contents.into_iter().map(Vec::from);
    let stdout = contents.next().unwrap_or_default();
    let stderr = contents.next().unwrap_or_default();
    let outputs =
        paths.into_iter().zip(contents).map(|(path, content)| OutputFile { path, content }).collect();
    Ok(Some(Executed { exit_code, stdout, stderr, outputs, origin: Origin::Run }))
}

impl OutputBlob {
    fn new(inline: Vec<u8>, digest: Option<api::Digest>) -> OutputBlob {
        OutputBlob { digest: Digest::from_message(digest.as_ref()), inline: inline.into() }
    }

    /// The inlined bytes, if they match the digest.
    fn inlined(&self) -> Option<Bytes> {
        match self.digest {
            // Inlined stdout and stderr may lack a digest.
            None => Some(self.inline.clone()),
            Some(digest) => digest.matches(&self.inline).then(|| self.inline.clone()),
        }
    }
}

async fn complete(store: &dyn Store, parts: Vec<OutputBlob>) -> Result<Option<Vec<Bytes>>, Fault> {
    let mut digests: Vec<Digest> =
        parts.iter().filter(|part| part.inlined().is_none()).filter_map(|part| part.digest).collect();
    digests.sort_unstable();
    digests.dedup();
    let fetched = if digests.is_empty() { Vec::new() } else { store.blobs(&digests).await? };
    let sound = digests.iter().zip(fetched).filter_map(|(digest, bytes)| Some((digest, bytes?)));
    let sound: HashMap<Digest, Bytes> = sound
        .filter(|(digest, bytes)| digest.matches(bytes))
        .map(|(digest, bytes)| (*digest, bytes))
        .collect();
    Ok(parts.iter().map(|part| part.inlined().or_else(|| sound.get(&part.digest?).cloned())).collect())
}
