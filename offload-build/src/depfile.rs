//! Reading the dependency files that `clang -MD` writes (make's syntax).

use std::path::PathBuf;

/// The prerequisites of the first rule.
pub(crate) fn parse(text: &str) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match (char, chars.peek()) {
            ('\\', Some('\n')) => {
                chars.next();
                finish(&mut word, &mut paths);
            }
            ('\\', Some(next @ (' ' | '#'))) => {
                word.push(*next);
                chars.next();
            }
            ('$', Some('$')) => {
                word.push('$');
                chars.next();
            }
            (c, _) if c.is_whitespace() => finish(&mut word, &mut paths),
            (c, _) => word.push(c),
        }
    }
    finish(&mut word, &mut paths);
    paths
}

fn finish(word: &mut String, paths: &mut Vec<PathBuf>) {
    let done = std::mem::take(word);
    // Words up to the first `:` are the rule's target.
    if done.ends_with(':') {
        paths.clear();
    } else if !done.is_empty() {
        paths.push(done.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn make_escapes() {
        let text = "out.ll: a.cl \\\n  dir\\ with/b\\#.h c$$d.h\n";
        let expected: Vec<PathBuf> = ["a.cl", "dir with/b#.h", "c$d.h"].map(PathBuf::from).into();
        assert_eq!(parse(text), expected);
    }
}
