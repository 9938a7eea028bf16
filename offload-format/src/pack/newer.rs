//! File names of reloaded packs, which replace those of a running program in development builds: build scripts under
//! `cargo offload dev` write them to a folder that an environment variable names to the program.

/// The file in that folder to which programs append an [`in_use_line`] for each target whose image they load.
pub const IN_USE: &str = "in-use";

/// The file with the newest pack of the kernel module `module` of a package; `None` if one of the names is not plain.
///
/// ```
/// use offload_format::pack::newer_file;
///
/// assert_eq!(newer_file("app", "0.1.0", "blas").unwrap(), "app@0.1.0@blas.pack");
/// // No name leads out of the folder.
/// assert!(newer_file("app", "0.1.0", "../blas").is_none());
/// ```
pub fn newer_file(package: &str, version: &str, module: &str) -> Option<String> {
    if ![package, version, module].into_iter().all(is_plain_name) {
        return None;
    }
    Some(format!("{package}@{version}@{module}.pack"))
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+'))
}

/// The line of [`IN_USE`] that records the use of an image of a package for `target`.
pub fn in_use_line(package: &str, version: &str, target: &str) -> String {
    format!("{package}\t{version}\t{target}\n")
}

/// Parses package, version and target of a line of [`IN_USE`]; `None` for one without its end, which is not written yet.
///
/// ```
/// use offload_format::pack::{in_use_line, parse_in_use};
///
/// let line = in_use_line("app", "0.1.0", "host");
/// assert_eq!(parse_in_use(&line), Some(["app", "0.1.0", "host"]));
/// assert_eq!(parse_in_use("app\t0.1.0\tho"), None);
/// ```
pub fn parse_in_use(line: &str) -> Option<[&str; 3]> {
    let mut parts = line.strip_suffix('\n')?.split('\t');
    let fields = [parts.next()?, parts.next()?, parts.next()?];
    parts.next().is_none().then_some(fields)
}
