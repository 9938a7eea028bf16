//! Package sources of the new system: those of the host if it runs the same Debian release, else the public mirror.

use offload_tests::workspace::Workspace;

/// The Debian that the project promises to work on.
pub(super) const SUITE: &str = "bookworm";

const MIRROR: &str = "http://deb.debian.org/debian";
const SECURITY_MIRROR: &str = "http://deb.debian.org/debian-security";

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sources {
    pub(super) mirror: String,
    /// The text of `/etc/apt/sources.list`.
    pub(super) list: String,
}

impl Sources {
    pub(super) fn of_this_machine(workspace: &Workspace) -> Sources {
        let format =
            ["indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"];
        let targets = workspace.shell.cmd("apt-get").args(format).quiet().ignore_stderr().read();
        Sources::of_index_targets(&targets.unwrap_or_default())
    }

    fn of_index_targets(text: &str) -> Sources {
        let mut mirror = None;
        let mut list = String::new();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let (Some(uri), Some(suite), Some("main")) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            if suite == SUITE {
                mirror = Some(uri.to_string());
            }
            if [SUITE, "bookworm-updates", "bookworm-security"].contains(&suite) {
                list.push_str(&format!("deb {uri} {suite} main\n"));
            }
        }
        match mirror {
            Some(mirror) => Sources { mirror, list },
            None => Sources::default(),
        }
    }
}

impl Default for Sources {
    fn default() -> Sources {
        let updates = format!("deb {MIRROR} {SUITE} main\ndeb {MIRROR} {SUITE}-updates main\n");
        let list = format!("{updates}deb {SECURITY_MIRROR} {SUITE}-security main\n");
        Sources { mirror: MIRROR.to_string(), list }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_s_mirrors_are_used() {
        let text = "http://mirror/debian/ bookworm main\nhttp://mirror/sec/ bookworm-security main\nhttp://x y main\n";
        let sources = Sources::of_index_targets(text);
        assert_eq!(sources.mirror, "http://mirror/debian/");
        assert_eq!(
            sources.list,
            "deb http://mirror/debian/ bookworm main\ndeb http://mirror/sec/ bookworm-security main\n"
        );
    }

    #[test]
    fn another_debian_falls_back_to_the_public_mirror() {
        assert_eq!(Sources::of_index_targets("http://mirror/debian/ trixie main\n"), Sources::default());
        assert_eq!(Sources::default().list.lines().count(), 3);
    }
}
