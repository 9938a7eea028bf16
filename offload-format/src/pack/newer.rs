//! Packs that a running program takes in the place of its own, in development builds: `cargo offload dev` has build scripts
//! write them into a folder, which a variable names to the program.

/// The name of the file in that folder to which programs append a line for each target whose image they use, as
/// [`in_use_line`] makes it.
pub const IN_USE: &str = "in-use";

/// The name of the file with the newest pack that has the kernel module `module` of a package; `None` if one of them is
/// no part of a name.
///
/// ```
/// use offload_format::pack::newer_file;
///
/// assert_eq!(newer_file("app", "0.1.0", "blas").unwrap(), "app@0.1.0@blas.pack");
/// // The file lies in the folder and nowhere else.
/// assert!(newer_file("app", "0.1.0", "../blas").is_none());
/// ```
pub fn newer_file(package: &str, version: &str, module: &str) -> Option<String> {
    let is_plain = |part: &str| {
        let legal = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+');
        !part.is_empty() && part.chars().all(legal)
    };
    let all_plain = [package, version, module].into_iter().all(is_plain);
    all_plain.then(|| format!("{package}@{version}@{module}.pack"))
}

/// The line of [`IN_USE`] that says that a program uses an image of a package for `target`.
pub fn in_use_line(package: &str, version: &str, target: &str) -> String {
    format!("{package}\t{version}\t{target}\n")
}

/// Package, version and target of a line of [`IN_USE`]; `None` if it is none, as one whose end is not written yet.
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
    let found = [parts.next()?, parts.next()?, parts.next()?];
    parts.next().is_none().then_some(found)
}
