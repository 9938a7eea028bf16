//! A server without the client under test: execution of clang, and latency of a cache hit.

use std::time::{Duration, Instant};

use super::rows::Rows;
use offload_remote_tests::api::{Command, ExecuteResponse};
use offload_remote_tests::client::Client;
use offload_tests::error::{Error, Result};

const KERNEL: &str = "kernel void twice(global float *a) { a[get_global_id(0)] *= 2; }\n";
const ARGUMENTS: &str = "/usr/bin/clang-22 -x cl --target=amdgcn-amd-amdhsa -mcpu=gfx1100 -nogpulib \
                         -Xclang -finclude-default-header -c in.cl -o out.o";

/// A server under its name in the table.
#[derive(Debug)]
pub(super) struct Server<'a> {
    pub(super) name: &'a str,
    pub(super) url: &'a str,
    pub(super) instance: &'a str,
}

/// Compiles a kernel there, twice.
pub(super) fn compile(server: &Server<'_>, rows: &mut Rows) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (first, second) = runtime.block_on(twice(server))?;
    let found = format!("{:.1} ms from its cache", second.as_secs_f64() * 1000.0);
    rows.measured(("clang there, without our client", server.name), first, found);
    Ok(())
}

fn server_error(error: impl std::fmt::Display) -> Error {
    Error::new(format!("the server alone: {error}"))
}

async fn twice(server: &Server<'_>) -> Result<(Duration, Duration)> {
    let url = server.url.replace("grpc://", "http://");
    let client = Client::connect(url, server.instance).await.map_err(server_error)?;
    let arguments = ARGUMENTS.split_whitespace().map(str::to_string).collect();
    let output_paths = vec!["out.o".to_string()];
    let command = Command { arguments, output_paths, ..Command::default() };
    let mut times = Vec::new();
    for is_cached in [false, true] {
        let begun = Instant::now();
        let response = client.execute(&command, &[("in.cl", KERNEL.as_bytes())]).await;
        times.push(begun.elapsed());
        let response = response.map_err(server_error)?;
        if response.cached_result != is_cached {
            return Err(server_error("a result is cached that should not be, or the reverse"));
        }
        check(&client, response).await.map_err(server_error)?;
    }
    Ok((times.first().copied().unwrap_or_default(), times.last().copied().unwrap_or_default()))
}

/// Whether the output is an object file.
async fn check(client: &Client, response: ExecuteResponse) -> std::result::Result<(), String> {
    let result = response.result.ok_or("no result")?;
    let Some(digest) = result.output_files.first().and_then(|file| file.digest.as_ref()) else {
        let digest = result.stderr_digest.unwrap_or_default();
        let stderr = client.read(&digest).await.unwrap_or(result.stderr_raw);
        return Err(format!("exit {}: {}", result.exit_code, String::from_utf8_lossy(&stderr)));
    };
    let bytes = client.read(digest).await.map_err(|status| status.to_string())?;
    if bytes.starts_with(b"\x7fELF") { Ok(()) } else { Err("no object file".to_string()) }
}
