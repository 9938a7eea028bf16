//! Sizes as people write them.

/// Units with their bytes as powers of two; those of ten are not meant where memory is.
const UNITS: [(&str, u32); 8] =
    [("", 0), ("B", 0), ("KiB", 10), ("K", 10), ("MiB", 20), ("M", 20), ("GiB", 30), ("G", 30)];

/// `text` in bytes: a number and a unit.
pub(super) fn parse(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let parsed = || {
        let (_, power) = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim()))?;
        number.parse::<u64>().ok()?.checked_mul(1 << power)
    };
    parsed().ok_or_else(|| "a size is a number of bytes, KiB, MiB or GiB, as `8GiB`".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_numbers_with_units() {
        for (text, size) in [("7", 7), ("3 KiB", 3 << 10), ("512M", 512 << 20), ("8gib", 8 << 30)] {
            assert_eq!(parse(text), Ok(size));
        }
        for text in ["", "GiB", "-1", "1.5GiB", "1 TB", "99999999999G"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
