//! Installs packages with the system's package manager, or prints the command.

use std::collections::BTreeSet;

use super::need::Need;
use crate::error::{Error, Result};
use crate::workspace::Workspace;

/// Package managers that this file knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manager {
    Apt,
    Dnf,
    Pacman,
    Brew,
}

/// Installs what `missing` needs where that can be done without asking; else an error that holds the command.
pub(super) fn install(workspace: &Workspace, missing: &[&Need]) -> Result<()> {
    println!("missing on this machine:");
    for need in missing {
        println!("  {} ({})", need.what, need.purpose);
    }
    match manager(workspace) {
        Some(Manager::Apt) if workspace.is_root() => apt(workspace, &names(Manager::Apt, missing)),
        manager => Err(Error::new("this task cannot go on without them").hint(advice(manager, missing))),
    }
}

fn apt(workspace: &Workspace, packages: &BTreeSet<&str>) -> Result<()> {
    println!("installing with apt-get: {}", joined(packages));
    let quiet = ["--quiet", "--option=Dpkg::Use-Pty=0", "--option=Acquire::Retries=3"];
    apt_get(workspace).arg("update").args(quiet).run()?;
    apt_get(workspace)
        .args(["install", "--yes", "--no-install-recommends"])
        .args(quiet)
        .args(packages)
        .run()?;
    Ok(())
}

/// An interactive package configuration would block a non-interactive run.
fn apt_get(workspace: &Workspace) -> xshell::Cmd<'_> {
    workspace.shell.cmd("apt-get").env("DEBIAN_FRONTEND", "noninteractive").stdin("")
}

/// What a person has to type.
fn advice(manager: Option<Manager>, missing: &[&Need]) -> String {
    match manager {
        Some(Manager::Brew) => format!("run `{}`", install_command(Manager::Brew, missing)),
        Some(manager) => format!("run as root: {}", install_command(manager, missing)),
        None => {
            let known = [Manager::Apt, Manager::Dnf, Manager::Pacman]
                .map(|manager| install_command(manager, missing));
            format!("install them; where there is one of these package managers:\n  {}", known.join("\n  "))
        }
    }
}

fn install_command(manager: Manager, missing: &[&Need]) -> String {
    let packages = joined(&names(manager, missing));
    match manager {
        Manager::Apt => format!("apt-get update && apt-get install --yes --no-install-recommends {packages}"),
        Manager::Dnf => format!("dnf install {packages}"),
        Manager::Pacman => format!("pacman -S {packages}"),
        Manager::Brew => format!("brew install {packages}"),
    }
}

fn names(manager: Manager, missing: &[&Need]) -> BTreeSet<&'static str> {
    let names = missing.iter().map(|need| match manager {
        Manager::Apt => need.packages.apt,
        Manager::Dnf => need.packages.dnf,
        Manager::Pacman => need.packages.pacman,
        Manager::Brew => need.packages.brew,
    });
    names.flat_map(str::split_whitespace).filter(|name| *name != "-").collect()
}

fn joined(packages: &BTreeSet<&str>) -> String {
    packages.iter().copied().collect::<Vec<_>>().join(" ")
}

fn manager(workspace: &Workspace) -> Option<Manager> {
    if cfg!(target_os = "macos") {
        return Some(Manager::Brew);
    }
    let text = workspace.shell.read_file("/etc/os-release").unwrap_or_default();
    let manager = from_os_release(&text)?;
    // An apt-less system that calls itself a Debian gets the command to read, not a failing one to watch.
    let there = manager != Manager::Apt || workspace.program("apt-get").is_some();
    there.then_some(manager)
}

/// <https://www.freedesktop.org/software/systemd/man/latest/os-release.html>
fn from_os_release(text: &str) -> Option<Manager> {
    let ids = text.lines().filter_map(|line| line.strip_prefix("ID=").or(line.strip_prefix("ID_LIKE=")));
    ids.flat_map(|ids| ids.trim_matches(['"', '\'']).split_whitespace()).find_map(|id| match id {
        "debian" | "ubuntu" => Some(Manager::Apt),
        "fedora" | "rhel" | "centos" => Some(Manager::Dnf),
        "arch" => Some(Manager::Pacman),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::BUILD;

    fn all() -> Vec<&'static Need> {
        BUILD.iter().collect()
    }

    #[test]
    fn systems_are_known_by_their_relatives() {
        assert_eq!(from_os_release("NAME=x\nID=debian\n"), Some(Manager::Apt));
        assert_eq!(from_os_release("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"), Some(Manager::Apt));
        assert_eq!(from_os_release("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"), Some(Manager::Dnf));
        assert_eq!(from_os_release("ID=plan9\n"), None);
    }

    #[test]
    fn a_package_is_named_once() {
        let text = advice(Some(Manager::Apt), &all());
        assert_eq!(text.matches("llvm-22").count(), 1, "{text}");
        assert!(text.contains("apt-get install --yes --no-install-recommends clang-22"), "{text}");
    }

    #[test]
    fn a_missing_package_is_left_out() {
        let text = advice(Some(Manager::Brew), &all());
        assert!(!text.contains(" - ") && !text.contains("ocloc"), "{text}");
    }

    #[test]
    fn an_unknown_system_gets_every_command() {
        let text = advice(None, &all());
        assert!(text.contains("apt-get") && text.contains("dnf") && text.contains("pacman"), "{text}");
    }
}
