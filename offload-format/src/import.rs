//! What an image needs of another package: a device library that is linked with it when it is loaded.

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
pub struct Import {
    /// The name under which it is exported.
    pub library: String,
    /// The package that exports it.
    pub package: String,
    /// The version of that package which the build saw.
    pub version: String,
}

impl Import {
    /// Those in `text`, which has `,` between them; what is not written as [`Display`](fmt::Display) writes it has no
    /// package and no version.
    pub fn list(text: &str) -> Vec<Import> {
        // Most images import nothing, and are read one after the other.
        if text.is_empty() {
            return Vec::new();
        }
        text.split(',').filter(|one| !one.is_empty()).map(Import::of).collect()
    }

    fn of(text: &str) -> Import {
        let (library, rest) = text.split_once('=').unwrap_or((text, ""));
        let (package, version) = rest.split_once('@').unwrap_or((rest, ""));
        let [library, package, version] = [library, package, version].map(str::to_string);
        Import { library, package, version }
    }

    /// Whether the package in `version` has all that its version at the build had: it is not older, and the first number
    /// that is not 0 is the same (<https://doc.rust-lang.org/cargo/reference/semver.html>). Of versions before a release
    /// only the same one does.
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

/// The numbers of a version, without what a build added; none of one before a release.
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
        let accepts = |wanted: &str, found: &str| Import::of(&format!("l=p@{wanted}")).accepts(found);
        for (wanted, found) in
            [("0.0.3", "0.0.3"), ("0.2.1", "0.2.9"), ("1.0.0", "1.9.0"), ("1.0.0-a", "1.0.0-a")]
        {
            assert!(accepts(wanted, found), "{wanted} {found}");
        }
        assert!(accepts("1.0.0", "1.0.1+build"));
        for (wanted, found) in [
            ("0.0.3", "0.0.4"),
            ("0.2.1", "0.2.0"),
            ("1.0.0", "2.0.0"),
            ("1.0.0", "1.1.0-a"),
            ("1.0.0", "1.1"),
            ("1.0.0", ""),
        ] {
            assert!(!accepts(wanted, found), "{wanted} {found}");
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
