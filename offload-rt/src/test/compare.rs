//! Comparing what a kernel has made with what is expected, in units in the last place.

use std::fmt;
use std::panic::Location;

/// A distance in units in the last place (ULP): of floating-point numbers, the count of representable numbers
/// between them; of integers, the difference.
///
/// OpenCL bounds the errors of built-in functions in ULP, see
/// <https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#relative-error-as-ulps>.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ulps(pub u64);

/// The tolerance of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    ulps: u64,
    absolute: f64,
}

impl Ulps {
    /// Or off by as much as `absolute`: near zero, where terms cancel, ULP are too strict.
    pub fn or_within(self, absolute: f64) -> Tolerance {
        Tolerance { ulps: self.0, absolute }
    }
}

impl From<Ulps> for Tolerance {
    fn from(ulps: Ulps) -> Tolerance {
        ulps.or_within(0.0)
    }
}

/// The element types of [`expect_close`]: floating-point numbers and integers.
///
/// A NaN is close to every NaN and to nothing else, an infinity to itself alone, and the zeros to each other.
pub trait Element: sealed::Number {}

mod sealed {
    /// A number with a place among the others of its type.
    pub trait Number: Copy + std::fmt::Debug {
        /// The distance in numbers; `None` if one is no finite number and the other is not the same.
        fn ulps(self, other: Self) -> Option<u64>;
        /// The absolute difference.
        fn apart(self, other: Self) -> f64;
    }
}

use sealed::Number;

/// Floating-point numbers: their bits, as a signed number that goes up with the value.
macro_rules! floating {
    ($($type:ty, $bits:ty;)+) => {$(
        impl Element for $type {}

        impl Number for $type {
            fn ulps(self, other: $type) -> Option<u64> {
                fn rank(value: $type) -> i64 {
                    let bits = value.to_bits() as $bits;
                    i64::from(if bits < 0 { <$bits>::MIN.wrapping_sub(bits) } else { bits })
                }
                match (self.is_nan(), other.is_nan()) {
                    (true, true) => Some(0),
                    (false, false) if self == other => Some(0),
                    (false, false) if self.is_finite() && other.is_finite() => {
                        Some(rank(self).abs_diff(rank(other)))
                    }
                    _ => None,
                }
            }

            fn apart(self, other: $type) -> f64 {
                (f64::from(self) - f64::from(other)).abs()
            }
        }
    )+};
}

floating! {
    f32, i32;
    f64, i64;
}

#[cfg(feature = "half")]
floating! {
    half::f16, i16;
    half::bf16, i16;
}

macro_rules! whole {
    ($($type:ty),+) => {$(
        impl Element for $type {}

        impl Number for $type {
            fn ulps(self, other: $type) -> Option<u64> {
                Some(u64::from(self.abs_diff(other)))
            }

            fn apart(self, other: $type) -> f64 {
                self.abs_diff(other) as f64
            }
        }
    )+};
}

whole!(u8, u16, u32, u64, i8, i16, i32, i64);

/// Where values first differ by more than a tolerance, and how many do.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference(pub(super) Box<Details>);

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Details {
    /// `None`: the numbers of values differ.
    pub(super) first: Option<First>,
    /// The number of values.
    pub(super) got: usize,
    pub(super) expected: usize,
    pub(super) differing: usize,
    pub(super) largest: Option<u64>,
    /// The device whose values were expected, if it was one.
    pub(super) reference: Option<String>,
    /// Where the program compared them.
    pub(super) location: &'static Location<'static>,
}

/// The first value that differs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct First {
    pub(super) index: usize,
    pub(super) got: String,
    pub(super) expected: String,
    /// `None` where a distance means nothing, as between a number and a NaN.
    pub(super) ulps: Option<u64>,
    pub(super) allowed: Tolerance,
}

/// Compares each value with the expected one.
///
/// ```
/// use offload_rt::test::{Ulps, expect_close};
///
/// assert!(expect_close(&[1.0f32, 0.1 + 0.2], &[1.0, 0.3], Ulps(1)).is_ok());
/// let difference = expect_close(&[1.0f32, 2.0], &[1.0, 2.5], Ulps(2)).unwrap_err();
/// assert_eq!(difference.index(), Some(1));
/// assert!(difference.to_string().starts_with("element 1 is 2.0, expected 2.5: 2097152 ULP apart, allowed are 2"));
/// assert!(expect_close(&[7u32], &[7], Ulps(0)).is_ok());
/// ```
///
/// # Errors
/// A value is further from the expected one than `tolerance` allows, or there are more or fewer of them.
#[track_caller]
pub fn expect_close<T: Element>(
    got: &[T],
    expected: &[T],
    tolerance: impl Into<Tolerance>,
) -> Result<(), Difference> {
    let allowed = tolerance.into();
    let mut first = None;
    let mut differing = 0usize;
    let mut largest = None;
    for (index, (got, expected)) in got.iter().zip(expected).enumerate() {
        if is_close(*got, *expected, allowed) {
            continue;
        }
        let ulps = got.ulps(*expected);
        differing = differing.saturating_add(1);
        largest = largest.max(ulps);
        first.get_or_insert_with(|| First {
            index,
            got: format!("{got:?}"),
            expected: format!("{expected:?}"),
            ulps,
            allowed,
        });
    }
    if first.is_none() && got.len() == expected.len() {
        return Ok(());
    }
    Err(Difference(Box::new(Details {
        first,
        got: got.len(),
        expected: expected.len(),
        differing,
        largest,
        reference: None,
        location: Location::caller(),
    })))
}

fn is_close<T: Element>(got: T, expected: T, allowed: Tolerance) -> bool {
    let ulps = got.ulps(expected);
    ulps.is_some_and(|ulps| ulps <= allowed.ulps || got.apart(expected) <= allowed.absolute)
}

impl Difference {
    /// The index of the first value that differs; `None` if there are more or fewer values, and those that there are agree.
    pub fn index(&self) -> Option<usize> {
        self.0.first.as_ref().map(|first| first.index)
    }

    /// The distance of the first value that differs from the expected one, if it is defined.
    pub fn ulps(&self) -> Option<u64> {
        self.0.first.as_ref().and_then(|first| first.ulps)
    }

    /// The difference from the values of the device `label`, for a comparison at `location`.
    pub(super) fn between_devices(self, label: &str, location: &'static Location<'static>) -> Difference {
        Difference(Box::new(Details { reference: Some(label.to_string()), location, ..*self.0 }))
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let details = &self.0;
        let expected =
            details.reference.as_ref().map_or("expected".to_string(), |label| format!("{label} says"));
        if let Some(First { index, got, expected: value, ulps, allowed }) = &details.first {
            write!(f, "element {index} is {got}, {expected} {value}")?;
            if let Some(ulps) = ulps {
                write!(f, ": {ulps} ULP apart, allowed are {}", allowed.ulps)?;
            }
            write!(f, "; {} of {} differ", details.differing, details.got.min(details.expected))?;
            if let Some(largest) = details.largest.filter(|_| details.differing > 1) {
                write!(f, ", by up to {largest} ULP")?;
            }
        }
        if details.got != details.expected {
            let then = if details.first.is_some() { "; " } else { "" };
            write!(f, "{then}there are {} values, {expected} {}", details.got, details.expected)?;
        }
        Ok(())
    }
}

impl std::error::Error for Difference {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_the_numbers_between() {
        assert_eq!(1.0f32.ulps(1.0f32.next_up().next_up()), Some(2));
        assert_eq!((-0.0f32).ulps(0.0), Some(0));
        assert_eq!((-f32::from_bits(1)).ulps(f32::from_bits(2)), Some(3));
        assert_eq!(f64::MIN.ulps(f64::MAX), Some(2 * f64::MAX.to_bits()));
        assert_eq!((-1.0f64).ulps((-1.0f64).next_down()), Some(1));
        assert_eq!(u64::MAX.ulps(0), Some(u64::MAX));
        assert_eq!((-3i8).ulps(4), Some(7));
    }

    #[test]
    fn what_is_no_number_is_close_to_its_like_alone() {
        assert_eq!(f32::NAN.ulps(-f32::NAN), Some(0));
        assert_eq!(f32::NAN.ulps(1.0), None);
        assert_eq!(f32::INFINITY.ulps(f32::INFINITY), Some(0));
        assert_eq!(f32::INFINITY.ulps(f32::MAX), None);
        let all = Ulps(u64::MAX).or_within(f64::INFINITY);
        for (got, expected) in
            [(f32::NAN, 1.0), (f32::INFINITY, f32::MAX), (f32::INFINITY, f32::NEG_INFINITY)]
        {
            assert!(expect_close(&[got], &[expected], all).is_err(), "{got} and {expected}");
        }
    }

    #[test]
    fn the_first_difference_is_reported_with_the_count_of_all() {
        let line = line!() + 1;
        let difference = expect_close(&[1.0f32, 2.0, 3.0], &[1.0, 2.5, 4.0], Ulps(2)).unwrap_err();
        assert_eq!(
            difference.to_string(),
            "element 1 is 2.0, expected 2.5: 2097152 ULP apart, allowed are 2; 2 of 3 differ, by up to 4194304 ULP"
        );
        assert_eq!((difference.0.location.line(), difference.0.location.file()), (line, file!()));
        let nan = expect_close(&[f64::NAN], &[1.0], Ulps(9)).unwrap_err();
        let nan = nan.between_devices("host", Location::caller());
        assert_eq!(nan.to_string(), "element 0 is NaN, host says 1.0; 1 of 1 differ");
    }

    #[test]
    fn more_or_fewer_values_differ() {
        fn text(got: &[u32], expected: &[u32]) -> String {
            expect_close(got, expected, Ulps(0)).unwrap_err().to_string()
        }
        assert_eq!(text(&[1], &[1, 2]), "there are 1 values, expected 2");
        assert_eq!(
            text(&[1, 9, 9], &[1, 2]),
            "element 1 is 9, expected 2: 7 ULP apart, allowed are 0; 1 of 2 differ; there are 3 values, expected 2"
        );
        assert!(expect_close::<u32>(&[], &[], Ulps(0)).is_ok());
    }

    #[test]
    fn near_zero_an_absolute_bound_helps() {
        let got = [1e-9f32];
        let expected = [-1e-9f32];
        assert!(expect_close(&got, &expected, Ulps(4)).is_err());
        assert!(expect_close(&got, &expected, Ulps(4).or_within(1e-8)).is_ok());
        assert!(expect_close(&got, &expected, Ulps(4).or_within(1e-9)).is_err());
    }

    #[test]
    #[cfg(feature = "half")]
    fn half_has_steps_of_its_own() {
        let one = half::f16::from_f32(1.0);
        assert_eq!(one.ulps(half::f16::from_bits(one.to_bits() + 3)), Some(3));
        assert_eq!(one.ulps(half::f16::NAN), None);
        assert_eq!(half::bf16::from_f32(-1.0).ulps(half::bf16::from_f32(-1.0)), Some(0));
    }
}
