//! Names of blobs: the SHA-256 of their bytes, and their size.

use prost::Message;
use sha2::Digest as _;

use crate::api::Digest;

/// The name of `bytes`.
///
/// ```
/// let digest = offload_remote_tests::blobs::digest(b"");
/// assert!(digest.hash.starts_with("e3b0c442") && digest.size_bytes == 0);
/// ```
pub fn digest(bytes: &[u8]) -> Digest {
    let hash = sha2::Sha256::digest(bytes);
    let hash = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    Digest { hash, size_bytes: i64::try_from(bytes.len()).unwrap_or(i64::MAX) }
}

/// A message as a blob: its name and its bytes.
pub fn of_message(message: &impl Message) -> (Digest, Vec<u8>) {
    let bytes = message.encode_to_vec();
    (digest(&bytes), bytes)
}

/// The digest at the end of a resource's name, such as `uploads/UUID/blobs/HASH/SIZE`.
///
/// ```
/// let digest = offload_remote_tests::blobs::of_resource("main/blobs/ab/12").unwrap();
/// assert_eq!((digest.hash.as_str(), digest.size_bytes), ("ab", 12));
/// assert_eq!(offload_remote_tests::blobs::of_resource("main/ab/12"), None);
/// ```
pub fn of_resource(name: &str) -> Option<Digest> {
    let (_, rest) = name.rsplit_once("blobs/")?;
    let (hash, size) = rest.split_once('/')?;
    Some(Digest { hash: hash.to_string(), size_bytes: size.parse().ok()? })
}

/// The name of the server's part in a resource's name: what stands before `blobs` or `uploads`.
///
/// ```
/// use offload_remote_tests::blobs::instance;
/// assert_eq!(instance("a/b/uploads/1/blobs/ab/12"), "a/b");
/// assert_eq!(instance("blobs/ab/12"), "");
/// ```
pub fn instance(resource: &str) -> &str {
    let end = resource.find("uploads/").or_else(|| resource.find("blobs/")).unwrap_or_default();
    resource.get(..end).unwrap_or_default().trim_end_matches('/')
}
