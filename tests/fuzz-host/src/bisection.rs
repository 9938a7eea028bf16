//! Bisection of a batch that does not compile.

use offload_tests::error::Result;

/// What a compiler makes, or what it says in place of it.
pub(crate) type Compiled<T> = std::result::Result<T, String>;

/// What became of a batch: the groups that compile, and the cases that do not.
#[derive(Debug)]
pub(crate) struct Bisection<T> {
    /// Cases by their index, with what was made of them.
    pub(crate) groups: Vec<(Vec<usize>, T)>,
    /// Cases that do not compile alone, with the compiler's text.
    pub(crate) refused: Vec<(usize, String)>,
}

/// Compiles `cases` at once with `attempt`, or each half of them where that fails.
pub(crate) fn bisect<T>(
    cases: &[usize],
    attempt: &mut dyn FnMut(&[usize]) -> Result<Compiled<T>>,
) -> Result<Bisection<T>> {
    let mut bisection = Bisection { groups: Vec::new(), refused: Vec::new() };
    let mut left = vec![cases];
    while let Some(part) = left.pop() {
        if part.is_empty() {
            continue;
        }
        match (attempt(part)?, part) {
            (Ok(made), _) => bisection.groups.push((part.to_vec(), made)),
            (Err(text), [case]) => bisection.refused.push((*case, text)),
            (Err(_), _) => {
                let halves = part.split_at(part.len() / 2);
                left.extend([halves.1, halves.0]);
            }
        }
    }
    Ok(bisection)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn culprits_are_found() {
        let mut attempts = 0;
        let all: Vec<usize> = (0..25).collect();
        let bisection = bisect(&all, &mut |part| {
            attempts += 1;
            Ok(if part.contains(&7) { Err("seven".to_string()) } else { Ok(part.len()) })
        });
        let bisection = bisection.unwrap();
        assert_eq!(bisection.refused, [(7, "seven".to_string())]);
        assert_eq!(bisection.groups.iter().map(|(_, size)| size).sum::<usize>(), 24);
        assert!(attempts <= 12);
    }
}
