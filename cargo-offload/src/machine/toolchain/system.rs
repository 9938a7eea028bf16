//! System that packages are for, and the compatibility of packages with this one.

use std::fmt;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use super::run;

/// A distribution with its release, and the architecture, as `debian 12 x86_64`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct System {
    pub(super) name: String,
    pub(super) glibc: Option<Glibc>,
    pub(super) packages: PackageManager,
}

/// Package manager of this system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PackageManager {
    Apt,
    /// No program that this project knows.
    Unsupported,
}

/// A version of the GNU C library: programs run with the one that they were linked with, and with later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Glibc {
    major: u32,
    minor: u32,
}

impl System {
    /// <https://www.freedesktop.org/software/systemd/man/latest/os-release.html>
    pub(super) fn this() -> System {
        let text = fs::read_to_string("/etc/os-release").unwrap_or_default();
        let words = [
            os_release_value(&text, "ID"),
            os_release_value(&text, "VERSION_ID"),
            Some(run::ARCH.to_string()),
        ];
        let version = run::output("getconf", &["GNU_LIBC_VERSION"], Path::new("/")).unwrap_or_default();
        System {
            name: words.into_iter().flatten().collect::<Vec<_>>().join(" "),
            glibc: version.trim().strip_prefix("glibc ").and_then(|text| text.parse().ok()),
            packages: if run::which("apt-get").is_some() {
                PackageManager::Apt
            } else {
                PackageManager::Unsupported
            },
        }
    }

    /// The last word of a system's name.
    pub(super) fn architecture(name: &str) -> &str {
        name.rsplit(' ').next().unwrap_or_default()
    }
}

impl FromStr for Glibc {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Glibc, std::num::ParseIntError> {
        let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
        Ok(Glibc { major: major.parse()?, minor: minor.parse()? })
    }
}

impl fmt::Display for Glibc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The value of a variable in the file os-release.
fn os_release_value(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
    Some(line.trim_matches('"').to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Glibc {
        text.parse().unwrap()
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(version("2.9") < version("2.36") && version("2.36") < version("3.0"));
        assert_eq!(version("2.36").to_string(), "2.36");
        assert!("musl".parse::<Glibc>().is_err());
    }

    #[test]
    fn this_system_has_a_name() {
        let this = System::this();
        assert_eq!(System::architecture(&this.name), std::env::consts::ARCH);
    }
}
