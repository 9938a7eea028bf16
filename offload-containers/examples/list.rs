//! Lists every device image of the files on the command line, and decodes each.

use std::error::Error;
use std::io::Write;

use offload_containers::{Limits, carrier, contents};

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args_os().skip(1) {
        let path = std::path::PathBuf::from(path);
        let file = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        list(&file, &mut std::io::stdout()).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// A line for each image: for which machine it is, its size, and where its container lies.
pub fn list(file: &[u8], out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let limits = Limits::default();
    for found in carrier::find(file, &limits)? {
        for image in contents::images_of(&found, &limits)? {
            let size = image.decode(&limits)?.len();
            writeln!(out, "{:32} {size:>12} bytes, found at {:#x}", image.target_text(), found.offset)?;
        }
    }
    Ok(())
}
