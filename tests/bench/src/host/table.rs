//! The table of `bench host`, and its limits.

use std::process::ExitCode;

use offload_tests::error::{Error, Result};

/// The least speeds, in shares of the other side's.
const MEAN_OF_POCL: f64 = 1.0;
const EACH_OF_POCL: f64 = 0.8;
const MEAN_OF_INTEL: f64 = 0.75;

/// The least times of a kernel in milliseconds.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) kernel: String,
    pub(super) host: f64,
    pub(super) pocl: f64,
    pub(super) intel: f64,
}

/// The speeds of all kernels together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Summary {
    mean_of_pocl: f64,
    mean_of_intel: f64,
    /// Kernels that are too slow beside PoCL.
    slow: Vec<String>,
}

pub(super) fn print(rows: &[Row]) {
    println!(
        "{:<14} {:>10} {:>10} {:>10} {:>14} {:>15}",
        "kernel", "host, ms", "PoCL, ms", "Intel, ms", "speed of PoCL", "speed of Intel"
    );
    for row in rows {
        let of_pocl = row.pocl / row.host;
        let of_intel = row.intel / row.host;
        println!(
            "{:<14} {:>10.3} {:>10.3} {:>10.3} {of_pocl:>14.2} {of_intel:>15.2}",
            row.kernel, row.host, row.pocl, row.intel
        );
    }
}

impl Summary {
    pub(super) fn from_rows(rows: &[Row]) -> Summary {
        let slow = rows.iter().filter(|row| row.pocl / row.host < EACH_OF_POCL);
        Summary {
            mean_of_pocl: geometric_mean(rows.iter().map(|row| row.pocl / row.host)),
            mean_of_intel: geometric_mean(rows.iter().map(|row| row.intel / row.host)),
            slow: slow.map(|row| row.kernel.clone()).collect(),
        }
    }

    /// Prints the limits, and fails if one is missed.
    pub(super) fn conclude(&self) -> Result<ExitCode> {
        let pocl = self.mean_of_pocl;
        let intel = self.mean_of_intel;
        println!(
            "geometric mean: {pocl:.2} of PoCL's speed (at least {MEAN_OF_POCL:.2}), {intel:.2} of Intel's (at least {MEAN_OF_INTEL:.2})"
        );
        match self.missed().as_slice() {
            [] => Ok(ExitCode::SUCCESS),
            missed => Err(Error::new(format!("limits missed: {}", missed.join(", ")))),
        }
    }

    /// What is too slow.
    pub(super) fn missed(&self) -> Vec<String> {
        let pocl = self.mean_of_pocl;
        let intel = self.mean_of_intel;
        let mut missed = Vec::new();
        // A mean that is no number misses its limit too.
        if !matches!(pocl.partial_cmp(&MEAN_OF_POCL), Some(order) if order.is_ge()) {
            missed.push("the mean beside PoCL".to_string());
        }
        if !matches!(intel.partial_cmp(&MEAN_OF_INTEL), Some(order) if order.is_ge()) {
            missed.push("the mean beside Intel's runtime".to_string());
        }
        let slow =
            self.slow.iter().map(|kernel| format!("{kernel} (under {EACH_OF_POCL:.2} of PoCL's speed)"));
        missed.extend(slow);
        missed
    }
}

fn geometric_mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    (values.map(f64::ln).sum::<f64>() / count).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(pocl: f64, intel: f64) -> Row {
        Row { kernel: "scan".into(), host: 1.0, pocl, intel }
    }

    fn error(rows: &[Row]) -> String {
        Summary::from_rows(rows).conclude().unwrap_err().to_string()
    }

    #[test]
    fn every_limit_can_be_missed() {
        assert!(Summary::from_rows(&[row(1.2, 0.9), row(0.9, 0.7)]).conclude().is_ok());
        assert!(error(&[row(0.9, 0.9)]).contains("the mean beside PoCL"));
        assert!(error(&[row(1.2, 0.7)]).contains("the mean beside Intel's runtime"));
        assert!(error(&[row(4.0, 1.0), row(0.7, 1.0)]).contains("scan (under 0.80 of PoCL's speed)"));
        assert!(error(&[]).contains("the mean beside PoCL"));
    }
}
