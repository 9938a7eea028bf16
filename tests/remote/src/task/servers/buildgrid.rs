//! BuildGrid: a scheduler with a store on disk, to which workers come over the Remote Workers API.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::process::{Process, bound};
use super::{INSTANCE, free_address, wait_for};
use offload_tests::error::Result;

/// A running scheduler with its workers.
#[derive(Debug)]
pub(in super::super) struct Buildgrid {
    // Dropped first: workers without a scheduler would ask for it again and again.
    _workers: Vec<Process>,
    _scheduler: Process,
    address: SocketAddr,
}

impl Buildgrid {
    /// Starts the scheduler of the Python packages in `packages` with nothing but `dir`, and `jobs` workers.
    pub(in super::super) fn start(packages: &Path, dir: &Path, jobs: usize) -> Result<Buildgrid> {
        fs::create_dir_all(dir)?;
        let address = free_address()?;
        let file = dir.join("buildgrid.yml");
        fs::write(&file, configuration(dir, address, jobs))?;
        let start = "from buildgrid._app import cli; cli()";
        let args = ["-c", start, "server", "start"].map(PathBuf::from).into_iter().chain([file]);
        let mut scheduler = python(packages, &args.collect::<Vec<_>>(), &dir.join("scheduler.log"))?;
        wait_for(address, &mut scheduler)?;
        let bot = Path::new(env!("CARGO_MANIFEST_DIR")).join("workers/bot.py");
        let mut workers = Vec::new();
        for index in 0..jobs {
            let args = [address.to_string(), INSTANCE.to_string(), format!("worker{index}")];
            let args = std::iter::once(bot.clone()).chain(args.map(PathBuf::from));
            let log = dir.join(format!("worker{index}.log"));
            workers.push(python(packages, &args.collect::<Vec<_>>(), &log)?);
        }
        Ok(Buildgrid { _workers: workers, _scheduler: scheduler, address })
    }

    pub(in super::super) fn url(&self) -> String {
        format!("grpc://{}", self.address)
    }
}

fn python(packages: &Path, args: &[PathBuf], log: &Path) -> Result<Process> {
    let mut command: Command = bound("python3");
    command.args(args).env("PYTHONPATH", packages).stdin(Stdio::null());
    let log = fs::File::create(log)?;
    command.stdout(log.try_clone()?).stderr(log);
    Process::start(command)
}

fn configuration(dir: &Path, address: SocketAddr, jobs: usize) -> String {
    let dir = dir.display();
    // Each worker, and each call that waits for a result, has a thread.
    let threads = jobs.saturating_add(40);
    format!(
        "server:
  - !channel
    address: {address}
    insecure-mode: true
instances:
  - name: {INSTANCE}
    storages:
      - !disk-storage &storage
        path: {dir}/store
    schedulers:
      - !sql-scheduler &scheduler
        storage: *storage
        connection-string: sqlite:///{dir}/state.db
        automigrate: yes
    caches:
      - !lru-action-cache &cache
        storage: *storage
        max-cached-refs: 10000
        allow-updates: true
    services:
      - !action-cache
        cache: *cache
      - !execution
        storage: *storage
        action-cache: *cache
        scheduler: *scheduler
        endpoints: [execution, operations, bots]
        wildcard-property-keys: [cpu_count]
      - !cas
        storage: *storage
      - !bytestream
        storage: *storage
thread-pool-size: {threads}
"
    )
}
