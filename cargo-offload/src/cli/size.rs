//! Parser of sizes such as `8GiB`.

/// Units, and their sizes in bytes as powers of two. Decimal units are rejected.
const UNITS: [(&str, u32); 8] =
    [("", 0), ("B", 0), ("KiB", 10), ("K", 10), ("MiB", 20), ("M", 20), ("GiB", 30), ("G", 30)];

/// Parses a number and a unit into bytes.
pub(super) fn parse(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let power =
        UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim())).map(|(_, power)| *power);
    let number: Option<u64> = number.parse().ok();
    let size = number.zip(power).and_then(|(number, power)| number.checked_mul(1 << power));
    size.ok_or_else(|| "expected a number of bytes, KiB, MiB or GiB, such as `8GiB`".to_string())
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
