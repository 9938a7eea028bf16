//! A Debian in a directory, and commands in it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use xshell::Cmd;

use super::sources::{SUITE, Sources};
use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;

/// What a person has on the machine before cloning this project, besides Rust.
const PACKAGES: &str = "--include=ca-certificates,gcc,libc6-dev,python3,git";

/// What a machine with Rust alone has.
const CERTIFICATES: &str = "--include=ca-certificates";

/// Where an ordinary user is at home, whose name is `user`.
pub(super) const HOME: &str = "/home/user";
/// What that user has in addition: pip is a package of its own.
const USER_PACKAGES: &str = "python3-pip";
/// Makes that user, who reaches the network as root does.
const ADD_USER: &str = r#"
useradd --create-home user
for settings in .cargo .config .pip; do
    if [ -e "/root/$settings" ]; then cp -r "/root/$settings" /home/user/; fi
done
chown -R user: /home/user
"#;
/// Becomes that user, for good.
const AS_USER: [&str; 4] = ["setpriv", "--reuid=user", "--regid=user", "--init-groups"];

/// Files of this machine that say how the network is reached.
const NETWORK_FILES: [&str; 9] = [
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/ssl/certs/ca-certificates.crt",
    "/usr/local/share/ca-certificates",
    "/etc/apt/auth.conf",
    "/etc/apt/auth.conf.d",
    "/etc/pip.conf",
    "/root/.config/pip/pip.conf",
    "/root/.pip/pip.conf",
];

/// Beginnings of the variables that say how the network is reached.
const NETWORK_VARIABLES: [&str; 15] = [
    "PIP_",
    "CARGO_HTTP_",
    "CARGO_NET_",
    "CARGO_REGISTRIES_",
    "CARGO_REGISTRY_",
    "CARGO_SOURCE_",
    "SSL_CERT_",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
];

/// Each command gets mounts and processes of its own: both are gone when it ends, however it ends. The root is a mount
/// too, as on a real machine: without it, commands there could not have mounts of their own.
const ENTER: &str = r#"
root=$1 rust=$2; shift 2
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount --bind "$rust" "$root/opt/rust"
mount -o remount,bind,ro "$root/opt/rust"
exec chroot "$root" "$@"
"#;

/// Who runs commands in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum User {
    Root,
    /// May neither install packages nor mount anything.
    Ordinary,
    /// The same, on a machine that has Rust alone.
    WithRustAlone,
}

/// The new machine; its directory is deleted with it.
#[derive(Debug)]
pub(super) struct Machine<'a> {
    workspace: &'a Workspace,
    root: PathBuf,
    rust: PathBuf,
    user: User,
}

impl<'a> Machine<'a> {
    /// A machine in which `user` runs commands.
    pub(super) fn new(workspace: &'a Workspace, user: User) -> Result<Machine<'a>> {
        let root = workspace.target_dir.join("fresh");
        // An interrupted run could not delete its machine.
        remove(workspace, &root)?;
        let rust = workspace.shell.cmd("rustc").args(["--print", "sysroot"]).quiet().read()?;
        let root = workspace.shell.create_dir(root)?;
        let mut machine = Machine { workspace, root, rust: rust.into(), user: User::Root };
        machine.debootstrap(user)?;
        if user != User::Root {
            machine.run(&["sh", "-eu", "-c", ADD_USER])?;
            machine.user = user;
        }
        Ok(machine)
    }

    /// Where `path` of the new machine lies on this one.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// Runs a command in the new machine, without standard input, as CI does.
    pub(super) fn run(&self, command: &[&str]) -> Result<()> {
        eprintln!("fresh$ {}", command.join(" "));
        let enter = self.isolated().args(["sh", "-eu", "-c", ENTER, "sh"]).arg(&self.root).arg(&self.rust);
        let env = enter.args(self.prefix()).args(["/usr/bin/env", "-i"]).args(self.environment());
        let outcome = env.args(command).stdin("").quiet().run();
        outcome.map_err(|_| Error::new(format!("`{}` failed in the new machine", command.join(" "))))
    }

    fn prefix(&self) -> &'static [&'static str] {
        match self.user {
            User::Root => &[],
            User::Ordinary | User::WithRustAlone => &AS_USER,
        }
    }

    fn debootstrap(&self, user: User) -> Result<()> {
        let sources = Sources::of_this_machine(self.workspace);
        let packages = match user {
            User::Root => PACKAGES.to_string(),
            User::WithRustAlone => CERTIFICATES.to_string(),
            User::Ordinary => format!("{PACKAGES},{USER_PACKAGES}"),
        };
        let debootstrap = self.isolated().args(["debootstrap", "--variant=minbase", &packages, SUITE]);
        println!("fresh: debootstrap of {SUITE} from {}", sources.mirror);
        debootstrap.arg(&self.root).arg(&sources.mirror).ignore_stdout().quiet().run()?;
        let shell = &self.workspace.shell;
        shell.create_dir(self.path("/opt/rust"))?;
        shell.write_file(self.path("/etc/apt/sources.list"), &sources.list)?;
        self.copy_network_files()
    }

    /// A command prefix for mounts and processes of its own.
    fn isolated(&self) -> Cmd<'a> {
        self.workspace.shell.cmd("unshare").args(["--mount", "--pid", "--fork", "--kill-child"])
    }

    fn copy_network_files(&self) -> Result<()> {
        for file in NETWORK_FILES {
            copy(self.workspace, Path::new(file), &self.path(file))?;
        }
        for file in apt_network_settings(self.workspace)? {
            copy(self.workspace, &file, &self.path(&file.to_string_lossy()))?;
        }
        let home = self.workspace.shell.var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(PathBuf::from(self.workspace.shell.var_os("HOME")?).join(".cargo")));
        home.map_or(Ok(()), |home| {
            copy(self.workspace, &home.join("config.toml"), &self.path("/root/.cargo/config.toml"))
        })
    }

    fn environment(&self) -> Vec<OsString> {
        let home = match self.user {
            User::Root => "/root",
            User::Ordinary | User::WithRustAlone => HOME,
        };
        let path = format!("PATH={home}/.cargo/bin:/opt/rust/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        let fixed = [path, format!("HOME={home}"), "LANG=C.UTF-8".to_string(), "CI=true".to_string()];
        let carried = std::env::vars_os().filter(|(name, _)| {
            let name = name.to_string_lossy();
            NETWORK_VARIABLES.iter().any(|start| name.starts_with(start)) && !name.ends_with("_TOKEN")
        });
        let carried = carried.map(|(name, value)| {
            let mut pair = name;
            pair.push("=");
            pair.push(value);
            pair
        });
        fixed.into_iter().map(OsString::from).chain(carried).collect()
    }
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        if let Err(error) = remove(self.workspace, &self.root) {
            eprintln!("warning: {} is left over: {error}", self.root.display());
        }
    }
}

/// Nothing is mounted there any more; `--one-file-system` is for the day when that is wrong.
fn remove(workspace: &Workspace, root: &Path) -> Result<()> {
    Ok(workspace.shell.cmd("rm").args(["-rf", "--one-file-system", "--"]).arg(root).quiet().run()?)
}

fn copy(workspace: &Workspace, from: &Path, to: &Path) -> Result<()> {
    if !from.exists() {
        return Ok(());
    }
    if let Some(dir) = to.parent() {
        workspace.shell.create_dir(dir)?;
    }
    // The new machine's own file may be a link out of it, as /etc/resolv.conf often is.
    let cp = workspace.shell.cmd("cp").args(["--recursive", "--dereference", "--no-target-directory"]);
    Ok(cp.arg("--remove-destination").arg(from).arg(to).quiet().run()?)
}

/// The files of apt.conf.d that set proxies or certificates; others belong to packages that are not there.
fn apt_network_settings(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let dir = Path::new("/etc/apt/apt.conf.d");
    if !dir.is_dir() {
        return Ok(Vec::new());
    }
    let files = workspace.shell.read_dir(dir)?.into_iter();
    Ok(files.filter(|file| std::fs::read_to_string(file).is_ok_and(|text| sets_network(&text))).collect())
}

fn sets_network(text: &str) -> bool {
    let acquire = ["Acquire::http", "Acquire::https", "Acquire::Check-"];
    text.lines().any(|line| acquire.iter().any(|start| line.trim_start().starts_with(start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_network_settings_are_carried() {
        assert!(sets_network("Acquire::http::Proxy \"http://proxy:3128\";\n"));
        assert!(sets_network("  Acquire::Check-Valid-Until \"false\";"));
        assert!(!sets_network("Acquire::IndexTargets {\n}"));
        assert!(!sets_network("DPkg::Post-Invoke { \"true\"; };"));
    }
}
