//! Work that takes too long for one night is done in turns.

use std::time::SystemTime;

use offload_tests::error::{Error, Result};

/// In so many nights everything has its turn.
pub(crate) const NIGHTS: u64 = 6;
const DAY: u64 = 24 * 60 * 60;

/// Days since 1970.
pub(crate) fn today() -> Result<u64> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let since = since.map_err(|_| Error::new("the clock says that it is before 1970"))?;
    Ok(since.as_secs() / DAY)
}

/// Those of `all` whose turn it is on `day`.
pub(crate) fn of_night<T>(all: &[T], day: u64) -> Vec<&T> {
    let numbered = (0u64..).zip(all).filter(|(number, _)| number % NIGHTS == day % NIGHTS);
    numbered.map(|(_, one)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_night() {
        let all = ["a", "b", "c", "d", "e", "f", "g"];
        assert_eq!(of_night(&all, 6 * 3_333), [&"a", &"g"]);
        let mut seen: Vec<&&str> = (20_000..20_000 + NIGHTS).flat_map(|day| of_night(&all, day)).collect();
        seen.sort();
        assert_eq!(seen, [&"a", &"b", &"c", &"d", &"e", &"f", &"g"]);
    }
}
