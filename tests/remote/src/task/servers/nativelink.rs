//! NativeLink: storage, scheduler and workers in one process.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use super::process::{Process, bound};
use super::{INSTANCE, free_address, wait_for};
use offload_tests::error::Result;

/// A running server.
#[derive(Debug)]
pub(in super::super) struct Nativelink {
    _process: Process,
    address: SocketAddr,
}

impl Nativelink {
    /// Starts `program` with nothing but `dir`, and `jobs` processors for workers.
    pub(in super::super) fn start(program: &Path, dir: &Path, jobs: usize) -> Result<Nativelink> {
        fs::create_dir_all(dir)?;
        let address = free_address()?;
        let workers = free_address()?;
        let file = dir.join("nativelink.json5");
        fs::write(&file, configuration(dir, &Addresses { address, workers }, jobs).to_string())?;
        let mut command = bound(program);
        let log = fs::File::create(dir.join("log"))?;
        command.arg(&file).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let mut process = Process::start(command)?;
        wait_for(address, &mut process)?;
        Ok(Nativelink { _process: process, address })
    }

    pub(in super::super) fn url(&self) -> String {
        format!("grpc://{}", self.address)
    }
}

/// The addresses of its services.
struct Addresses {
    address: SocketAddr,
    /// For its own workers.
    workers: SocketAddr,
}

/// As in <https://github.com/TraceMachina/nativelink/blob/main/nativelink-config/examples/local_rbe_self_test.json5>.
fn configuration(dir: &Path, Addresses { address, workers }: &Addresses, jobs: usize) -> Value {
    let fast_slow = json!({ "fast": { "filesystem": filesystem(dir, "worker") }, "slow": { "ref_store": { "name": "cas" } } });
    json!({
        "stores": [
            { "name": "cas", "filesystem": filesystem(dir, "cas") },
            { "name": "ac", "filesystem": filesystem(dir, "ac") },
            { "name": "worker", "fast_slow": fast_slow },
        ],
        "schedulers": [{
            "name": "scheduler",
            // Without it the server runs again what it has run: it leaves looking to the client.
            "cache_lookup": {
                "ac_store": "ac",
                "scheduler": { "simple": { "supported_platform_properties": { "cpu_count": "minimum" } } },
            },
        }],
        "workers": [{ "local": {
            "worker_api_endpoint": { "uri": format!("grpc://{workers}") },
            "cas_fast_slow_store": "worker",
            "upload_action_result": { "ac_store": "ac" },
            "work_directory": dir.join("work"),
            "platform_properties": { "cpu_count": { "values": [jobs.to_string()] } },
        } }],
        "servers": [
            {
                "listener": listener(address),
                "services": {
                    "cas": [{ "instance_name": INSTANCE, "cas_store": "cas" }],
                    "ac": [{ "instance_name": INSTANCE, "ac_store": "ac" }],
                    "bytestream": [{ "instance_name": INSTANCE, "cas_store": "cas" }],
                    "execution": [{
                        "instance_name": INSTANCE,
                        "cas_store": "cas",
                        "scheduler": "scheduler",
                    }],
                    "capabilities": [{
                        "instance_name": INSTANCE,
                        "remote_execution": { "scheduler": "scheduler" },
                    }],
                },
            },
            { "listener": listener(workers), "services": { "worker_api": { "scheduler": "scheduler" } } },
        ],
    })
}

fn filesystem(dir: &Path, name: &str) -> Value {
    json!({
        "content_path": dir.join(name),
        "temp_path": dir.join(format!("{name}-new")),
        "eviction_policy": { "max_bytes": 4_000_000_000_u64 },
    })
}

fn listener(address: &SocketAddr) -> Value {
    json!({ "http": { "socket_address": address.to_string() } })
}
