//! Executions on the fake server.

use offload_protocol::remote::{Input, Origin, Program, Source};
use tonic::Code;

use super::*;
use crate::api;
use crate::fake::Fake;

fn executor(fake: &Fake, rest: &str) -> Arc<Executor> {
    let remote = Remote::new(fake.settings(&format!("execute = true\n{rest}"))).unwrap();
    Arc::new(Executor::new(Arc::new(remote), Arc::default()))
}

fn action(name: &str) -> Action {
    Action {
        arguments: vec!["/bin/tool".into(), name.into()],
        variables: Vec::new(),
        directory: "work".into(),
        inputs: vec![Input { path: "work/in".into(), source: Source::Bytes(name.into()) }],
        outputs: vec!["out".into(), "missing".into()],
        programs: Vec::new(),
        seconds: 60,
    }
}

fn with_worker(name: &str, path: &str) -> Action {
    let worker = Program {
        path: path.into(),
        library_directories: Vec::new(),
        opened: Vec::new(),
        others: Vec::new(),
    };
    Action { programs: vec![worker], ..action(name) }
}

async fn executed(executor: &Executor, action: Action) -> Executed {
    match executor.execute(action).await {
        Reply::Executed { executed, .. } => executed,
        reply => panic!("{reply:?}"),
    }
}

async fn declined(executor: &Executor, action: Action) -> String {
    match executor.execute(action).await {
        Reply::Declined { reason } => reason,
        reply => panic!("{reply:?}"),
    }
}

#[tokio::test]
async fn a_command_runs_once_and_every_byte_comes_back() {
    let fake = Fake::start().await;
    let executor = executor(&fake, "platform = { OSFamily = \"linux\" }");
    let first = executed(&executor, action("a")).await;
    let outputs: Vec<_> = first.outputs.iter().map(|it| (it.path.as_str(), it.content.as_slice())).collect();
    assert_eq!(outputs, [("out", &b"/bin/tool a"[..])]);
    assert_eq!((first.exit_code, first.stdout.as_slice()), (0, &b"printed"[..]));
    assert_eq!((first.stderr.as_slice(), first.origin), (&b"/bin/tool a"[..], Origin::Run));
    let second = executed(&executor, action("a")).await;
    assert_eq!(second, Executed { origin: Origin::Cache, ..first });
    assert_eq!((fake.count("run"), fake.count("execute")), (1, 1));
}

#[tokio::test]
async fn a_command_that_fails_says_so() {
    let fake = Fake::start().await;
    let executor = executor(&fake, "");
    for _ in 0..2 {
        let failed = executed(&executor, action("fail")).await;
        assert_eq!((failed.exit_code, failed.origin), (1, Origin::Run));
    }
}

#[tokio::test]
async fn as_many_commands_as_jobs_run_at_once() {
    const JOBS: usize = 150;
    let fake = Fake::start().await;
    fake.state().gather = Some(Arc::new(tokio::sync::Barrier::new(JOBS)));
    let executor = executor(&fake, &format!("jobs = {JOBS}"));
    let mut all = Vec::new();
    for number in 0..JOBS {
        let executor = Arc::clone(&executor);
        all.push(tokio::spawn(async move { executed(&executor, action(&number.to_string())).await }));
    }
    for one in all {
        let ended = tokio::time::timeout(std::time::Duration::from_secs(60), one).await;
        assert_eq!(ended.expect("some wait for others to end").unwrap().exit_code, 0);
    }
    assert_eq!((fake.count("execute"), fake.count("run")), (JOBS, JOBS));
}

#[tokio::test]
async fn a_broken_stream_is_followed_again() {
    let fake = Fake::start().await;
    fake.state().breaks = 2;
    fake.state().faults = vec![("execute", Code::Unavailable)];
    let executor = executor(&fake, "");
    assert_eq!(executed(&executor, action("a")).await.exit_code, 0);
    assert_eq!((fake.count("execute"), fake.count("wait"), fake.count("run")), (2, 2, 1));
}

#[tokio::test]
async fn inputs_that_the_server_has_lost_are_sent_again() {
    let fake = Fake::start().await;
    let executor = executor(&fake, "");
    executed(&executor, action("a")).await;
    let mut other = action("a");
    other.arguments.push("other".into());
    fake.state().blobs.clear();
    assert_eq!(executed(&executor, other).await.exit_code, 0);
}

#[tokio::test]
async fn a_result_that_is_damaged_is_made_again() {
    let fake = Fake::start().await;
    let executor = executor(&fake, "");
    let first = executed(&executor, action("a")).await;
    let hash = crate::digest::Digest::from_bytes(&first.outputs[0].content).hex();
    for content in [&b"/bin/tool b"[..], b"/bin/tool", b""] {
        fake.state().blobs.insert(hash.clone(), content.to_vec());
        assert_eq!(executed(&executor, action("a")).await, first);
    }
    assert_eq!(fake.count("run"), 4);
}

fn link(path: &str) -> api::OutputSymlink {
    api::OutputSymlink { path: path.into(), target: "/etc/passwd".into(), ..Default::default() }
}

/// As a compromised server might send it.
#[tokio::test]
async fn nothing_that_was_not_asked_for_is_taken_from_a_server() {
    let fake = Fake::start().await;
    let executor = executor(&fake, "");
    let first = executed(&executor, action("a")).await;
    let key = fake.state().results.keys().next().unwrap().clone();
    let sound = fake.state().results[&key].clone();
    let mut hostile = sound.clone();
    let mut paths: Vec<String> =
        ["../out", "/out", "/etc/passwd", "work/out", "./out", "out/", "out/../out", "", "missing\0"]
            .map(str::to_string)
            .into();
    paths.extend((0..100_000).map(|number| format!("{number}/out")));
    for path in paths {
        hostile.output_files.push(api::OutputFile { path, ..sound.output_files[0].clone() });
    }
    hostile.output_symlinks = vec![link("out"), link("missing"), link("../missing")];
    #[expect(deprecated, reason = "older servers send these")]
    {
        hostile.output_file_symlinks = vec![link("missing")];
        hostile.output_directory_symlinks = vec![link("missing")];
    }
    hostile.output_directories = vec![api::OutputDirectory {
        path: "missing".into(),
        tree_digest: sound.output_files[0].digest.clone(),
        ..Default::default()
    }];
    fake.state().results.insert(key.clone(), hostile);
    let from_cache = Executed { origin: Origin::Cache, ..first.clone() };
    assert_eq!(executed(&executor, action("a")).await, from_cache);
    assert_eq!(fake.count("run"), 1);

    // A size that is claimed takes neither memory nor time; content of another digest is not taken.
    for (size, content) in [(i64::MAX, &b""[..]), (-1, b""), (1 << 50, b""), (0, b"x")] {
        let mut hostile = sound.clone();
        let file = &mut hostile.output_files[0];
        file.contents = content.to_vec();
        file.digest.as_mut().unwrap().size_bytes = size;
        if size >= 0 {
            hostile.stdout_digest = file.digest.clone();
        }
        fake.state().results.insert(key.clone(), hostile);
        let start = std::time::Instant::now();
        assert_eq!(executed(&executor, action("a")).await.outputs, first.outputs, "{size}");
        assert!(start.elapsed() < std::time::Duration::from_secs(10));
    }
}

#[tokio::test]
async fn many_commands_share_their_inputs() {
    let fake = Fake::start().await;
    fake.state().delay = std::time::Duration::from_millis(20);
    let executor = executor(&fake, "jobs = 4");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("library");
    std::fs::write(&path, vec![7; 5_000_000]).unwrap();
    let commands = (0..12).map(|number| {
        let mut action = action(&number.to_string());
        let source = Source::File(path.display().to_string());
        action.inputs.push(Input { path: "library".into(), source });
        let executor = Arc::clone(&executor);
        tokio::spawn(async move { executed(&executor, action).await.exit_code })
    });
    for command in commands.collect::<Vec<_>>() {
        assert_eq!(command.await.unwrap(), 0);
    }
    assert_eq!((fake.count("run"), fake.count("stream write")), (12, 1));
}

#[tokio::test]
async fn who_goes_does_not_end_what_others_wait_for() {
    let fake = Fake::start().await;
    fake.state().delay = std::time::Duration::from_millis(100);
    let executor = executor(&fake, "");
    let first = Arc::clone(&executor);
    let second = Arc::clone(&executor);
    let first = tokio::spawn(async move { executed(&first, action("a")).await });
    tokio::time::sleep(std::time::Duration::from_millis(250)).await;
    let second = tokio::spawn(async move { executed(&second, action("a")).await });
    tokio::time::sleep(std::time::Duration::from_millis(150)).await;
    first.abort();
    assert_eq!(second.await.unwrap().exit_code, 0);
}

#[tokio::test]
async fn workers_with_the_same_program_are_asked_once() {
    let fake = Fake::start().await;
    let executor = executor(&fake, "");
    for name in ["a", "b", "a"] {
        assert_eq!(executed(&executor, with_worker(name, "/bin/ls")).await.exit_code, 0);
    }
    // One `sha256sum`, and two commands.
    assert_eq!(fake.count("run"), 3);
    // The tool's content is part of the action: without it the action is another one.
    assert_eq!(executed(&executor, action("a")).await.origin, Origin::Run);
}

#[tokio::test]
async fn a_worker_reads_what_programs_share_once() {
    let fake = Fake::start().await;
    fake.state().delay = std::time::Duration::from_millis(20);
    let executor = executor(&fake, "");
    let runs = ["/bin/ls", "/bin/cat"].map(|path| {
        let executor = Arc::clone(&executor);
        tokio::spawn(async move { executed(&executor, with_worker(path, path)).await.exit_code })
    });
    for run in runs {
        assert_eq!(run.await.unwrap(), 0);
    }
    let mut hashed = fake.state().hashed.clone();
    assert!(hashed.iter().any(|path| path.contains("/libc.so")), "{hashed:?}");
    let all = hashed.len();
    hashed.sort_unstable();
    hashed.dedup();
    assert_eq!(hashed.len(), all);
}

#[tokio::test]
async fn who_waits_for_a_question_without_an_answer_asks_no_other() {
    let fake = Fake::start().await;
    fake.state().delay = std::time::Duration::from_millis(50);
    fake.state().faults = vec![("execute", Code::InvalidArgument)];
    let executor = executor(&fake, "");
    let runs = ["/bin/ls", "/bin/cat", "/bin/ls"].map(|path| {
        let executor = Arc::clone(&executor);
        tokio::spawn(async move { executor.execute(with_worker(path, path)).await })
    });
    for run in runs {
        assert!(matches!(run.await.unwrap(), Reply::Declined { .. }));
    }
    assert_eq!(fake.count("execute"), 1);
    executor.runner.remote.health.succeeded(Purpose::Running);
    assert_eq!(executed(&executor, with_worker("a", "/bin/ls")).await.exit_code, 0);
}

#[tokio::test]
async fn a_worker_with_another_program_is_of_no_use() {
    let fake = Fake::start().await;
    let ls = std::fs::canonicalize("/bin/ls").unwrap().display().to_string();
    fake.state().others.insert(ls.clone());
    let executor = executor(&fake, "");
    let reason = declined(&executor, with_worker("a", "/bin/ls")).await;
    assert!(reason.contains(&format!("the worker's `{ls}` is another one\nhint: install")), "{reason}");
    assert_eq!(declined(&executor, with_worker("b", "/bin/ls")).await, "");
    assert_eq!(executed(&executor, action("c")).await.exit_code, 0);
    let reason = declined(&executor, with_worker("a", "/bin/no such program")).await;
    assert!(reason.contains("`/bin/no such program`"), "{reason}");
    assert!(executor.runner.remote.health.allows(Purpose::Reading));
}

#[tokio::test]
async fn a_server_or_settings_without_execution_decline_once() {
    let fake = Fake::start().await;
    fake.state().executes = false;
    let one = executor(&fake, "");
    assert!(declined(&one, action("a")).await.contains("hint: set `execute = false`"));
    assert_eq!(declined(&one, action("a")).await, "");
    let remote = Remote::new(fake.settings("")).unwrap();
    let other = Executor::new(Arc::new(remote), Arc::default());
    assert!(declined(&other, action("a")).await.contains("`execute` is not set"));
}

#[tokio::test]
async fn a_server_that_fails_declines_and_is_left_alone() {
    let fake = Fake::start().await;
    fake.state().faults = vec![("execute", Code::Unavailable); 100];
    let executor = executor(&fake, "");
    let reason = declined(&executor, action("a")).await;
    assert!(reason.contains("execute fails"), "{reason}");
    for _ in 0..4 {
        assert_eq!(declined(&executor, action("a")).await, "");
    }
    assert_eq!(fake.count("execute"), 12);
}

#[tokio::test]
async fn a_server_that_refuses_commands_is_asked_once_and_gives_results() {
    let fake = Fake::start().await;
    fake.state().faults = vec![("execute", Code::PermissionDenied)];
    let executor = executor(&fake, "");
    assert!(declined(&executor, action("a")).await.contains("or set `execute = false`"));
    assert_eq!(declined(&executor, action("b")).await, "");
    assert_eq!(fake.count("execute"), 1);
    assert!(executor.runner.remote.health.allows(Purpose::Reading));
}
