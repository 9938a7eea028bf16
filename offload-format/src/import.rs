//! Imports of device libraries, which are linked with an image when it is loaded.

use std::fmt;

/// A device library that an image imports, as its build found it.
///
/// ```
/// use offload_format::Import;
///
/// let all = Import::list("bf16=bf16-device@1.2.0,vec=vec@0.3.1");
/// assert_eq!((all[0].library.as_str(), all[0].package.as_str()), ("bf16", "bf16-device"));
/// assert_eq!(all[1].to_string(), "vec=vec@0.3.1");
/// // The rules of Cargo.toml.
/// assert!(all[0].accepts("1.4.1") && !all[0].accepts("1.1.9") && !all[0].accepts("2.0.0"));
/// assert!(all[1].accepts("0.3.1") && !all[1].accepts("0.4.0"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Import {
    /// The name under which it is exported.
    pub library: String,
    /// The package that exports it.
    pub package: String,
    /// The version of that package at build time.
    pub version: String,
}

impl Import {
    /// The device library `library` that `package` exports in `version`.
    pub fn new(library: impl Into<String>, package: impl Into<String>, version: impl Into<String>) -> Import {
        Import { library: library.into(), package: package.into(), version: version.into() }
    }

    /// Parses the imports in `text`, separated by `,`. A malformed one has no package and no version.
    pub fn list(text: &str) -> Vec<Import> {
        // The fast path: most images import nothing.
        if text.is_empty() {
            return Vec::new();
        }
        text.split(',').filter(|one| !one.is_empty()).map(Import::parse).collect()
    }

    fn parse(text: &str) -> Import {
        let (library, rest) = text.split_once('=').unwrap_or((text, ""));
        let (package, version) = rest.split_once('@').unwrap_or((rest, ""));
        Import::new(library, package, version)
    }

    /// Whether `version` of the package is compatible with the one at build time, by Cargo's rules
    /// (<https://doc.rust-lang.org/cargo/reference/semver.html>): it is not older, and the leftmost non-zero number is the
    /// same. A pre-release is compatible with itself alone.
    pub fn accepts(&self, version: &str) -> bool {
        if self.version == version {
            return true;
        }
        let (Some(wanted), Some(found)) = (numbers(&self.version), numbers(version)) else { return false };
        let fixed = wanted.iter().position(|number| *number != 0).unwrap_or(wanted.len().saturating_sub(1));
        found >= wanted
            && found.iter().take(fixed.saturating_add(1)).eq(wanted.iter().take(fixed.saturating_add(1)))
    }
}

/// The numbers of a version without its build metadata; `None` for a pre-release.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let plain = version.split('+').next()?;
    let mut parts = plain.split('.').map(|part| part.parse().ok());
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}

impl fmt::Display for Import {
    /// `LIBRARY=PACKAGE@VERSION`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}@{}", self.library, self.package, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_fit_as_cargo_says() {
        for (wanted, found) in [
            ("0.0.3", "0.0.3"),
            ("0.2.1", "0.2.9"),
            ("1.0.0", "1.9.0"),
            ("1.0.0-a", "1.0.0-a"),
            ("1.0.0", "1.0.1+build"),
        ] {
            assert!(Import::parse(&format!("l=p@{wanted}")).accepts(found), "{wanted} {found}");
        }
        for (wanted, found) in [
            ("0.0.3", "0.0.4"),
            ("0.2.1", "0.2.0"),
            ("1.0.0", "2.0.0"),
            ("1.0.0", "1.1.0-a"),
            ("1.0.0", "1.1"),
            ("1.0.0", ""),
        ] {
            assert!(!Import::parse(&format!("l=p@{wanted}")).accepts(found), "{wanted} {found}");
        }
    }

    #[test]
    fn damaged_texts_accept_nothing() {
        assert_eq!(Import::list(""), []);
        let all = Import::list("a,=,b=c");
        assert_eq!(all.len(), 3);
        assert!(!all.iter().any(|import| import.accepts("1.0.0")));
    }
}
