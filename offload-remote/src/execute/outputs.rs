//! What a command has printed and written, compared with its digests.

use std::collections::HashMap;

use bytes::Bytes;
use offload_format::remote::{Executed, Origin, OutputFile};

use crate::api::{self, ActionResult};
use crate::digest::Digest;
use crate::fault::Fault;
use crate::remote::LARGEST;
use crate::store::Store;

/// Something that came with the result, or is fetched by its digest.
struct Part {
    digest: Option<Digest>,
    inline: Bytes,
}

/// The result with all its bytes; `None` where some are lost or damaged. The origin and the times are for the caller to say.
///
/// # Errors
/// The server fails.
pub(super) async fn fetch(
    store: &dyn Store,
    result: ActionResult,
    wanted: &[String],
) -> Result<Option<Executed>, Fault> {
    let exit_code = result.exit_code;
    let mut parts = vec![
        Part::of(result.stdout_raw, result.stdout_digest),
        Part::of(result.stderr_raw, result.stderr_digest),
    ];
    // Names that were not asked for, links and directories are nothing that anyone reads.
    let mut files: HashMap<String, api::OutputFile> =
        result.output_files.into_iter().map(|file| (file.path.clone(), file)).collect();
    let mut paths = Vec::new();
    for path in wanted {
        if let Some(file) = files.remove(path) {
            paths.push(path.clone());
            if Digest::from_message(file.digest.as_ref()).is_none() {
                return Ok(None);
            }
            parts.push(Part::of(file.contents, file.digest));
        }
    }
    // A limit of time grows with the size that is claimed.
    if parts.iter().filter_map(|part| part.digest).any(|digest| digest.size > LARGEST) {
        return Ok(None);
    }
    let Some(contents) = complete(store, parts).await? else { return Ok(None) };
    let mut contents = contents.into_iter().map(Vec::from);
    let (stdout, stderr) = (contents.next().unwrap_or_default(), contents.next().unwrap_or_default());
    let outputs =
        paths.into_iter().zip(contents).map(|(path, content)| OutputFile { path, content }).collect();
    Ok(Some(Executed { exit_code, stdout, stderr, outputs, origin: Origin::Run }))
}

impl Part {
    fn of(inline: Vec<u8>, digest: Option<api::Digest>) -> Part {
        Part { digest: Digest::from_message(digest.as_ref()), inline: inline.into() }
    }

    /// The bytes that are here already.
    fn here(&self) -> Option<Bytes> {
        match self.digest {
            // What is printed may come without a digest.
            None => Some(self.inline.clone()),
            Some(digest) => digest.is_of(&self.inline).then(|| self.inline.clone()),
        }
    }
}

async fn complete(store: &dyn Store, parts: Vec<Part>) -> Result<Option<Vec<Bytes>>, Fault> {
    let mut digests: Vec<Digest> =
        parts.iter().filter(|part| part.here().is_none()).filter_map(|part| part.digest).collect();
    digests.sort_unstable();
    digests.dedup();
    let fetched = if digests.is_empty() { Vec::new() } else { store.blobs(&digests).await? };
    let sound = digests.iter().zip(fetched).filter_map(|(digest, bytes)| Some((digest, bytes?)));
    let sound: HashMap<Digest, Bytes> =
        sound.filter(|(digest, bytes)| digest.is_of(bytes)).map(|(digest, bytes)| (*digest, bytes)).collect();
    let whole = |part: &Part| part.here().or_else(|| sound.get(&part.digest?).cloned());
    Ok(parts.iter().map(whole).collect())
}
