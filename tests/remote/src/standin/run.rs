//! Running the command of an action in a directory of its own.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use prost::Message;
use tonic::Status;

use super::Standin;
use super::execution::Job;
use crate::api::{ActionResult, Command, Digest, Directory, OutputFile};

/// What a shell says of a program that is not there.
const NOT_FOUND: i32 = 127;

/// Runs the command with its inputs, and keeps what it wrote.
pub(super) async fn run(server: &Standin, job: &Job) -> Result<ActionResult, Status> {
    let root = tempfile::tempdir().map_err(internal)?;
    let inputs = job.action.input_root_digest.clone().unwrap_or_default();
    stage(server, &inputs, root.path())?;
    let directory = root.path().join(&job.command.working_directory);
    for path in &job.command.output_paths {
        let parent = directory.join(path).parent().map(Path::to_path_buf).unwrap_or_default();
        fs::create_dir_all(parent).map_err(internal)?;
    }
    let output = start(job, &directory).await?;
    Ok(ActionResult {
        output_files: collect(server, &job.command, &directory)?,
        exit_code: output.status.code().unwrap_or(NOT_FOUND),
        stdout_digest: Some(server.keep(output.stdout)),
        stderr_digest: Some(server.keep(output.stderr)),
        ..ActionResult::default()
    })
}

/// A result without work: each output holds the action's hash and its own path.
pub(super) fn pretend(server: &Standin, (digest, job): (&Digest, &Job)) -> ActionResult {
    let outputs = job.command.output_paths.iter().map(|path| {
        let content = format!("{} {path}", digest.hash).into_bytes();
        OutputFile { path: path.clone(), digest: Some(server.keep(content)), ..OutputFile::default() }
    });
    ActionResult { output_files: outputs.collect(), ..ActionResult::default() }
}

/// The status for a blob that is not stored.
pub(super) fn missing(digest: &Digest) -> Status {
    Status::failed_precondition(format!("missing: {}", digest.hash))
}

/// Writes the directory with this digest to `to`.
fn stage(server: &Standin, digest: &Digest, to: &Path) -> Result<(), Status> {
    let bytes = server.input(digest).ok_or_else(|| missing(digest))?;
    let directory = Directory::decode(bytes.as_slice());
    let directory = directory.map_err(|error| Status::invalid_argument(error.to_string()))?;
    fs::create_dir_all(to).map_err(internal)?;
    for file in &directory.files {
        let digest = file.digest.clone().unwrap_or_default();
        let bytes = server.input(&digest).ok_or_else(|| missing(&digest))?;
        let path = to.join(&file.name);
        fs::write(&path, bytes.as_slice()).map_err(internal)?;
        let mode = if file.is_executable { 0o555 } else { 0o444 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).map_err(internal)?;
    }
    for link in &directory.symlinks {
        std::os::unix::fs::symlink(&link.target, to.join(&link.name)).map_err(internal)?;
    }
    for node in &directory.directories {
        stage(server, &node.digest.clone().unwrap_or_default(), &to.join(&node.name))?;
    }
    Ok(())
}

async fn start(job: &Job, directory: &Path) -> Result<Output, Status> {
    let Some((program, arguments)) = job.command.arguments.split_first() else {
        return Err(Status::invalid_argument("a command without arguments"));
    };
    let variables = job.command.environment_variables.iter().map(|it| (&it.name, &it.value));
    let mut command = tokio::process::Command::new(place(program, directory));
    command.args(arguments).env_clear().envs(variables).current_dir(directory);
    command.stdin(Stdio::null()).kill_on_drop(true);
    let seconds = job.action.timeout.as_ref().and_then(|it| u64::try_from(it.seconds).ok());
    let time = seconds.filter(|seconds| *seconds > 0).unwrap_or(u64::from(u32::MAX));
    let output = tokio::time::timeout(Duration::from_secs(time), command.output()).await;
    let output = output.map_err(|_| Status::deadline_exceeded(program.clone()))?;
    output.map_err(|error| Status::invalid_argument(format!("{program}: {error}")))
}

/// A path with a `/` is relative to the working directory; another one is a name in `PATH`.
fn place(program: &str, directory: &Path) -> PathBuf {
    if program.contains('/') {
        return directory.join(program);
    }
    PathBuf::from(program)
}

fn collect(server: &Standin, command: &Command, directory: &Path) -> Result<Vec<OutputFile>, Status> {
    let mut files = Vec::new();
    for path in &command.output_paths {
        let file = directory.join(path);
        let Ok(metadata) = fs::metadata(&file) else { continue };
        let bytes = fs::read(&file).map_err(internal)?;
        let is_executable = metadata.permissions().mode() & 0o100 != 0;
        let digest = Some(server.keep(bytes));
        files.push(OutputFile { path: path.clone(), digest, is_executable, ..OutputFile::default() });
    }
    Ok(files)
}

fn internal(error: io::Error) -> Status {
    Status::internal(error.to_string())
}
