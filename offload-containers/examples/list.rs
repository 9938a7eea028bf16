//! Lists every device image of the files on the command line, and decodes each.

use std::error::Error;

use offload_containers::{Limits, carrier, contents};

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args_os().skip(1) {
        let file = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        list(&file).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

fn list(file: &[u8]) -> Result<(), offload_containers::Error> {
    let limits = Limits::default();
    for found in carrier::find(file, &limits)? {
        for image in contents::images_of(&found, &limits)? {
            let size = image.decode(&limits)?.len();
            println!("{:32} {size:>12} bytes, found at {:#x}", image.target_text(), found.offset);
        }
    }
    Ok(())
}
