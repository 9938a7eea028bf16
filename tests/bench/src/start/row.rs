//! A line of the table: what was measured, what it may be, and whether it is.

use serde_json::{Value, json};

use crate::median;

/// What a figure should be at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Want {
    /// It is there to compare with.
    Nothing,
    /// Above the limit it fails; the aim is what is worked towards.
    AtMost { limit: f64, aim: f64 },
}

/// Something that was measured, several times.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) what: &'static str,
    unit: &'static str,
    median: f64,
    least: f64,
    want: Want,
    samples: Vec<f64>,
}

impl Want {
    pub(super) fn new(limit: f64, aim: f64) -> Want {
        Want::AtMost { limit, aim }
    }

    /// The limit and the aim.
    fn numbers(self) -> (Option<f64>, Option<f64>) {
        match self {
            Want::Nothing => (None, None),
            Want::AtMost { limit, aim } => (Some(limit), Some(aim)),
        }
    }
}

impl Row {
    pub(super) fn new(what: &'static str, unit: &'static str, samples: Vec<f64>, want: Want) -> Row {
        let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
        Row { what, unit, median: median(samples.clone()), least, want, samples }
    }

    /// Whether the median keeps the limit.
    pub(super) fn is_met(&self) -> bool {
        match self.want {
            Want::AtMost { limit, .. } => self.median <= limit,
            Want::Nothing => true,
        }
    }

    /// With every sample.
    pub(super) fn json(&self) -> Value {
        let (limit, aim) = self.want.numbers();
        json!({
            "what": self.what, "unit": self.unit, "median": self.median, "least": self.least,
            "limit": limit, "aim": aim, "met": self.is_met(), "samples": self.samples,
        })
    }

    fn cells(&self) -> [String; 6] {
        let (limit, aim) = self.want.numbers();
        let met = match (self.is_met(), aim) {
            (_, None) => "-",
            (false, _) => "NO",
            (true, Some(aim)) if self.median <= aim => "yes",
            (true, _) => "not the aim",
        };
        let what =
            if self.unit.is_empty() { self.what.into() } else { format!("{}, {}", self.what, self.unit) };
        [what, number(self.median), number(self.least), or_dash(limit), or_dash(aim), met.to_string()]
    }
}

fn number(value: f64) -> String {
    format!("{value:.1}")
}

fn or_dash(value: Option<f64>) -> String {
    value.map_or("-".to_string(), number)
}

const HEADING: [&str; 6] = ["measured", "median", "least", "at most", "aim", "met"];

/// Prints the table.
pub(super) fn print(rows: &[Row]) {
    let lines: Vec<[String; 6]> =
        std::iter::once(HEADING.map(str::to_string)).chain(rows.iter().map(Row::cells)).collect();
    for [what, numbers @ ..] in &lines {
        let numbers: String = numbers.iter().map(|cell| format!("{cell:>13}")).collect();
        println!("{what:<54}{numbers}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_judged() {
        for (samples, met, says) in [
            (vec![1.0, 50.0, 30.0], true, "yes"),
            (vec![60.0, 50.0, 900.0], true, "not the aim"),
            (vec![101.0, 102.0, 1.0], false, "NO"),
        ] {
            let row = Row::new("x", "µs", samples, Want::new(100.0, 40.0));
            assert_eq!((row.is_met(), row.cells().last().unwrap().as_str()), (met, says));
        }
        assert!(Row::new("x", "kB", vec![30.0], Want::Nothing).is_met());
    }
}
