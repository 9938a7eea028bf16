//! Files that appear whole.

use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};

/// Writes `path` by way of a temporary file beside it.
pub(crate) fn publish(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |error: std::io::Error| Error::io("write", path, &error);
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What an ordinary file gets, less the user's mask; one that exists keeps its own.
        let mode = std::fs::metadata(path).map_or(0o666, |data| data.permissions().mode());
        builder.permissions(std::fs::Permissions::from_mode(mode));
    }
    let mut file = builder.prefix(".offload-").tempfile_in(parent).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}
