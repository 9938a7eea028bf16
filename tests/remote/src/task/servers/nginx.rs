//! nginx: an HTTP cache (WebDAV), or a TLS proxy of a gRPC server.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use super::certificates::{Authority, Pair};
use super::process::{Process, bound};
use super::{free_address, wait_for};
use offload_tests::error::Result;

/// A running server.
#[derive(Debug)]
pub(in super::super) struct Nginx {
    _process: Process,
    address: SocketAddr,
}

/// The role of a server.
#[derive(Debug)]
pub(in super::super) enum Serves<'a> {
    /// A folder, with WebDAV.
    Folder,
    /// What the server of gRPC at this address says, with this certificate. Clients show one of the authority's, if it
    /// is named.
    Grpc(SocketAddr, &'a Pair, Option<&'a Authority>),
}

impl Nginx {
    /// Starts with an empty `dir`.
    pub(in super::super) fn start(dir: &Path, serves: &Serves<'_>) -> Result<Nginx> {
        fs::create_dir_all(dir.join("store"))?;
        fs::create_dir_all(dir.join("tmp"))?;
        let address = free_address()?;
        let file = dir.join("nginx.conf");
        fs::write(&file, configuration(dir, address, serves))?;
        let mut command = bound("nginx");
        command.args(["-e", "stderr", "-c"]).arg(&file).arg("-p").arg(dir);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(fs::File::create(dir.join("log"))?);
        let mut process = Process::start(command)?;
        wait_for(address, &mut process)?;
        Ok(Nginx { _process: process, address })
    }

    pub(in super::super) fn address(&self) -> SocketAddr {
        self.address
    }
}

fn configuration(dir: &Path, address: SocketAddr, serves: &Serves<'_>) -> String {
    let dir = dir.display();
    let server = match serves {
        Serves::Folder => format!(
            "listen {address};\nlocation / {{ root {dir}/store; dav_methods PUT DELETE; create_full_put_path on; }}"
        ),
        Serves::Grpc(backend, pair, clients) => {
            let certificate = pair.certificate.display();
            let key = pair.key.display();
            let clients = clients.map(|authority| {
                let file = authority.certificate().display();
                format!("ssl_client_certificate {file};\nssl_verify_client on;\n")
            });
            format!(
                "listen {address} ssl http2;\nssl_certificate {certificate};\nssl_certificate_key {key};\n{}\
                 location / {{ grpc_pass grpc://{backend}; grpc_read_timeout 600s; }}",
                clients.unwrap_or_default()
            )
        }
    };
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let temporary = temporary.map(|name| format!("{name}_temp_path {dir}/tmp/{name};\n")).concat();
    // Its workers would not be root, and could not write to the folder. Others than root do not change who they are.
    let user = if Path::new("/root").read_dir().is_ok() { "user root;\n" } else { "" };
    format!(
        "daemon off;\nworker_processes 1;\n{user}pid {dir}/nginx.pid;\nerror_log stderr;\nevents {{}}\n\
         http {{\naccess_log off;\nclient_max_body_size 0;\n{temporary}server {{\n{server}\n}}\n}}\n"
    )
}
