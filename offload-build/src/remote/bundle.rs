//! Several commands as one action for another machine, which saves round trips and sandboxes, and scripts of commands.

use offload_format::remote::{Action, Executed, Input, OutputFile};

/// What a command of a bundle prints, in its directory.
const SAID: &str = "said";

/// A script for a shell that runs `commands` one after the other, as long as none fails.
pub(crate) fn in_turn(commands: &[Vec<String>]) -> Vec<String> {
    let commands: Vec<String> = commands.iter().map(|words| command(words)).collect();
    script(commands.join(" && "))
}

/// A script for a shell that runs a command whose standard input is `file`.
pub(crate) fn reading(words: &[String], file: &str) -> Vec<String> {
    script(format!("{} <{}", command(words), command(&[file.to_string()])))
}

/// One action that does what `actions` do, each in a directory of its own; nothing if there are none. They have the same
/// programs and variables.
pub(crate) fn merged(actions: &[&Action]) -> Option<Action> {
    let (first, others) = actions.split_first()?;
    if others.is_empty() {
        return Some((*first).clone());
    }
    let mut bundle = Action {
        arguments: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        seconds: 0,
        variables: first.variables.clone(),
        directory: first.directory.clone(),
        programs: first.programs.clone(),
    };
    // An action that fails is not kept by servers. What the others have made is of use all the same.
    let mut lines = vec!["failed=0".to_string()];
    for (number, action) in actions.iter().enumerate() {
        let words = command(&action.arguments);
        lines.push(format!("(cd {number} && {words}) >{number}/{SAID} 2>&1 || failed=1"));
        let inputs = action.inputs.iter().cloned();
        bundle.inputs.extend(inputs.map(|it| Input { path: format!("{number}/{}", it.path), ..it }));
        let outputs = action.outputs.iter().map(String::as_str).chain([SAID]);
        bundle.outputs.extend(outputs.map(|path| format!("{number}/{path}")));
    }
    lines.push("exit $failed".to_string());
    bundle.arguments = script(lines.join("\n"));
    let limits = actions.iter().map(|action| action.seconds);
    let has_limit = limits.clone().all(|seconds| seconds != 0);
    bundle.seconds = if has_limit { limits.fold(0, u64::saturating_add) } else { 0 };
    Some(bundle)
}

/// What each of `count` merged actions has come to; nothing for one that failed.
pub(crate) fn split(executed: Executed, count: usize) -> Vec<Option<Executed>> {
    if count == 1 {
        return vec![Some(executed)];
    }
    let Executed { outputs, origin, .. } = executed;
    let part = Executed { exit_code: 0, stdout: Vec::new(), stderr: Vec::new(), outputs: Vec::new(), origin };
    let mut parts = vec![part; count];
    for OutputFile { path, content } in outputs {
        let place =
            path.split_once('/').and_then(|(number, path)| Some((number.parse::<usize>().ok()?, path)));
        let Some((part, path)) = place.and_then(|(number, path)| Some((parts.get_mut(number)?, path))) else {
            continue;
        };
        match path {
            SAID => part.stderr = content,
            path => part.outputs.push(OutputFile { path: path.to_string(), content }),
        }
    }
    parts.into_iter().map(|part| (!part.outputs.is_empty()).then_some(part)).collect()
}

fn script(text: String) -> Vec<String> {
    ["/bin/sh".to_string(), "-c".into(), text].into()
}

fn command(words: &[String]) -> String {
    let quoted = |word: &String| format!("'{}'", word.replace('\'', r"'\''"));
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use offload_format::remote::{Origin, Source};

    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| word.to_string()).collect()
    }

    fn action(arguments: &[&str], seconds: u64) -> Action {
        Action {
            arguments: words(arguments),
            variables: Vec::new(),
            directory: String::new(),
            inputs: vec![Input { path: "in".into(), source: Source::Bytes(arguments.concat().into()) }],
            outputs: words(&["out"]),
            programs: Vec::new(),
            seconds,
        }
    }

    #[test]
    fn a_shell_takes_words_as_they_are() {
        let echo = words(&["echo", "it's", "$HOME; `x`", ""]);
        let [program, args @ ..] = &*in_turn(&[echo.clone(), echo]) else { panic!() };
        let output = Command::new(program).args(args).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "it's $HOME; `x` \n".repeat(2));
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("it's");
        std::fs::write(&file, "text").unwrap();
        let [program, args @ ..] = &*reading(&words(&["cat"]), file.to_str().unwrap()) else { panic!() };
        assert_eq!(Command::new(program).args(args).output().unwrap().stdout, b"text");
        let [program, args @ ..] = &*in_turn(&[words(&["false"]), words(&["echo"])]) else { panic!() };
        let output = Command::new(program).args(args).output().unwrap();
        assert!(!output.status.success() && output.stdout.is_empty());
    }

    /// Runs `action` in a directory as a worker does.
    fn run(action: &Action) -> Executed {
        let dir = tempfile::tempdir().unwrap();
        for Input { path, source } in &action.inputs {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let Source::Bytes(bytes) = source else { panic!() };
            std::fs::write(path, bytes).unwrap();
        }
        let [program, args @ ..] = &*action.arguments else { panic!() };
        let output = Command::new(program).args(args).current_dir(dir.path()).output().unwrap();
        let output_file = |path: &String| {
            let content = std::fs::read(dir.path().join(path)).ok()?;
            Some(OutputFile { path: path.clone(), content })
        };
        Executed {
            exit_code: output.status.code().unwrap(),
            stdout: output.stdout,
            stderr: output.stderr,
            outputs: action.outputs.iter().filter_map(output_file).collect(),
            origin: Origin::Run,
        }
    }

    #[test]
    fn each_action_of_a_bundle_has_its_own_files_words_and_end() {
        let copy = |word: &str| action(&["/bin/sh", "-c", &format!("cat in >out; echo '{word}' >&2")], 5);
        let actions = [copy("first"), action(&["/bin/false"], 7), copy("it is \"third\"")];
        let bundle = merged(&actions.each_ref()).unwrap();
        assert_eq!(bundle.seconds, 17);
        let executed = run(&bundle);
        assert_eq!(executed.exit_code, 1);
        let parts = split(executed, 3);
        let [Some(first), None, Some(third)] = &parts[..] else { panic!("{parts:?}") };
        for (part, action, word) in
            [(first, &actions[0], "first\n"), (third, &actions[2], "it is \"third\"\n")]
        {
            assert_eq!((part.exit_code, part.origin), (0, Origin::Run));
            assert_eq!(String::from_utf8_lossy(&part.stderr), word);
            let content = action.arguments.concat().into_bytes();
            assert_eq!(part.outputs, [OutputFile { path: "out".into(), content }]);
        }
    }

    #[test]
    fn one_action_stays_as_it_is() {
        let alone = action(&["/bin/true"], 3);
        assert_eq!(merged(&[&alone]), Some(alone));
        assert_eq!(merged(&[]), None);
        let unlimited = [action(&["a"], 3), action(&["b"], 0)];
        assert_eq!(merged(&unlimited.each_ref()).unwrap().seconds, 0);
    }
}
