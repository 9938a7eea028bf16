//! Reference conversions by binary search over all bfloat16 values, independent of the device library's algorithm.

/// The canonical NaN.
const NAN: u16 = 0x7fff;
/// Infinity, which stands for the next power of two where a result is rounded.
const INFINITY: u16 = 0x7f80;

/// `x` rounded to bfloat16, to nearest, ties to even.
pub(crate) fn nearest(x: f64) -> u16 {
    if x.is_nan() {
        return NAN;
    }
    let magnitude = x.abs();
    // Binary search for the largest value that is not above `magnitude`.
    let mut below = 0;
    let mut above = INFINITY;
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if value(middle) <= magnitude { below = middle } else { above = middle }
    }
    let down = magnitude - value(below);
    let up = value(above) - magnitude;
    let rounds_down = down < up || (down == up && below % 2 == 0);
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    sign | if rounds_down { below } else { above }
}

/// The value of a magnitude in bfloat16, with infinity as the next power of two.
pub(crate) fn value(bits: u16) -> f64 {
    if bits == INFINITY { 2f64.powi(128) } else { f64::from(widened(bits)) }
}

/// Converts bfloat16 to `float`, exactly.
pub(crate) fn widened(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_to_nearest_and_to_even() {
        for (x, bits) in [
            (0.0, 0),
            (-0.0, 0x8000),
            (1.0, 0x3f80),
            (1.0 + 1.0 / 256.0, 0x3f80),
            (1.0 + 3.0 / 256.0, 0x3f82),
            (f64::from(f32::MAX), 0x7f80),
            (3.3895313892515355e38, 0x7f7f),
            (f64::NEG_INFINITY, 0xff80),
            (f64::NAN, 0x7fff),
            (2f64.powi(-133), 1),
            (2f64.powi(-134), 0),
            (-1.5 * 2f64.powi(-134), 0x8001),
        ] {
            assert_eq!(nearest(x), bits, "{x:e}");
        }
    }
}
