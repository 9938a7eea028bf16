//! buildbox: a server of the Remote Execution API with a store on disk, whose workers run commands in sandboxes.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::process::{Process, bound};
use super::{free_address, wait_for};
use offload_tests::error::{Error, Result};

/// Where workers find the machine's compilers. Its links would lead nowhere in a sandbox, so that each stands here by the
/// directory that it leads to.
const MOUNTS: [&str; 4] = ["/usr:/usr", "/usr/bin:/bin", "/usr/lib:/lib", "/usr/lib64:/lib64"];

/// Of a worker without compilers: the C library alone.
const BARE_MOUNTS: [&str; 3] = [
    "/usr/lib64:/lib64",
    "/usr/lib/x86_64-linux-gnu:/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu:/lib/aarch64-linux-gnu",
];

/// A running server.
#[derive(Debug)]
pub(in super::super) struct Buildbox {
    _process: Process,
    address: SocketAddr,
    dir: PathBuf,
}

/// How many there are, and what they find outside of their inputs: `from:to`.
struct Workers<'a> {
    jobs: usize,
    mounts: &'a [&'a str],
}

impl Buildbox {
    /// Starts the programs in `programs` with what lies in `dir`, or with nothing.
    pub(in super::super) fn start(programs: &Path, dir: &Path, jobs: usize) -> Result<Buildbox> {
        Buildbox::start_with(programs, dir, Workers { jobs, mounts: &MOUNTS })
    }

    /// The same with two workers that also find `toolkit`, at this path.
    pub(in super::super) fn start_beside(programs: &Path, dir: &Path, toolkit: &Path) -> Result<Buildbox> {
        let toolkit = format!("{0}:{0}", toolkit.display());
        let mounts: Vec<&str> = MOUNTS.into_iter().chain([&*toolkit]).collect();
        Buildbox::start_with(programs, dir, Workers { jobs: 2, mounts: &mounts })
    }

    /// The same with workers that have no compilers.
    pub(in super::super) fn start_bare(programs: &Path, dir: &Path, jobs: usize) -> Result<Buildbox> {
        Buildbox::start_with(programs, dir, Workers { jobs, mounts: &BARE_MOUNTS })
    }

    fn start_with(programs: &Path, dir: &Path, workers: Workers<'_>) -> Result<Buildbox> {
        std::fs::create_dir_all(dir)?;
        let address = free_address()?;
        let mut command = bound(programs.join("buildbox-casd"));
        command.arg(format!("--bind={address}")).arg(format!("--jobs={}", workers.jobs));
        command.arg(format!("--buildbox-run={}", programs.join("buildbox-run").display()));
        for mount in
            workers.mounts.iter().filter(|mount| mount.split(':').all(|path| Path::new(path).exists()))
        {
            command.arg(format!("--runner-arg=--ro-bind-mount={mount}"));
        }
        // What a build has stored stays, also where there is no room for more.
        command.args(["--reserved=0", "--protect-session-blobs", "--log-level=warning"]).arg(dir);
        command.env("PATH", with(programs)?).stdin(Stdio::null());
        let log = std::fs::File::create(dir.with_extension("log"))?;
        command.stdout(log.try_clone()?).stderr(log);
        let mut process = Process::start(command)?;
        wait_for(address, &mut process)?;
        Ok(Buildbox { _process: process, address, dir: dir.to_path_buf() })
    }

    pub(in super::super) fn url(&self) -> String {
        format!("grpc://{}", self.address)
    }
}

impl Drop for Buildbox {
    fn drop(&mut self) {
        // Sandboxes that were not ended leave their file system mounted.
        let stage = self.dir.join("staging");
        if stage.exists() {
            let _ = Command::new("umount")
                .args(["--lazy", "--recursive"])
                .arg(stage)
                .stderr(Stdio::null())
                .status();
        }
    }
}

/// It looks for its other programs in `PATH`.
fn with(programs: &Path) -> Result<std::ffi::OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(programs.to_path_buf()).chain(std::env::split_paths(&path));
    std::env::join_paths(all).map_err(|error| Error::new(error.to_string()))
}
