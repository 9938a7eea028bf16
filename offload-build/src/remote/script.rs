//! Shell scripts of remote commands: a chain of two, and one with a file as its standard input.

/// A script that runs `commands` one after the other, until one fails.
pub(crate) fn in_turn(commands: &[Vec<String>]) -> Vec<String> {
    let commands: Vec<String> = commands.iter().map(|words| quote_command(words)).collect();
    script(commands.join(" && "))
}

/// A script that runs a command with `file` as its standard input.
pub(crate) fn reading(words: &[String], file: &str) -> Vec<String> {
    script(format!("{} <{}", quote_command(words), quote_word(file)))
}

fn script(text: String) -> Vec<String> {
    ["/bin/sh".to_string(), "-c".into(), text].into()
}

fn quote_command(words: &[String]) -> String {
    words.iter().map(|word| quote_word(word)).collect::<Vec<_>>().join(" ")
}

fn quote_word(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| word.to_string()).collect()
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
}
