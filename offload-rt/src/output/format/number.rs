//! Digits of numbers as C writes them.

/// The flags, width and precision of a conversion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) left: bool,
    pub(super) plus: bool,
    pub(super) space: bool,
    pub(super) alternative: bool,
    pub(super) zeros: bool,
    pub(super) width: usize,
    pub(super) precision: Option<usize>,
}

/// At least as many digits as the precision; none for a zero with precision 0.
pub(super) fn with_precision(style: &Style, digits: String) -> String {
    match style.precision {
        Some(0) if digits == "0" => String::new(),
        Some(least) => format!("{digits:0>least$}"),
        None => digits,
    }
}

/// A number that is not negative, in small letters.
pub(super) fn real(style: &Style, kind: u8, value: f64) -> String {
    if value.is_nan() {
        return "nan".to_string();
    }
    if value.is_infinite() {
        return "inf".to_string();
    }
    let precision = style.precision.unwrap_or(6);
    match kind.to_ascii_lowercase() {
        b'f' => with_point(style, format!("{value:.precision$}")),
        b'e' => exponential(style, value, precision),
        b'g' => shortest(style, value, precision.max(1)),
        _ => hexadecimal(style, value),
    }
}

fn with_point(style: &Style, digits: String) -> String {
    if style.alternative && !digits.contains('.') { format!("{digits}.") } else { digits }
}

/// `1.5e+00`: the exponent has a sign and two digits at least.
fn exponential(style: &Style, value: f64, precision: usize) -> String {
    let (digits, exponent) = decimal(value, precision);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", with_point(style, digits), exponent.unsigned_abs())
}

/// Digits with one before the point, and the exponent.
fn decimal(value: f64, precision: usize) -> (String, i32) {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.to_string(), exponent.parse().unwrap_or(0))
}

/// `%g`: as `%e` for exponents below -4 or from the precision on, without zeros at the end.
fn shortest(style: &Style, value: f64, precision: usize) -> String {
    let (_, exponent) = decimal(value, precision.saturating_sub(1));
    let wide = i32::try_from(precision).unwrap_or(i32::MAX);
    if exponent < -4 || exponent >= wide {
        let (digits, exponent) = decimal(value, precision.saturating_sub(1));
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(style, digits), exponent.unsigned_abs());
    }
    let places = usize::try_from(wide.saturating_sub(1).saturating_sub(exponent)).unwrap_or(0);
    trimmed(style, format!("{value:.places$}"))
}

fn trimmed(style: &Style, digits: String) -> String {
    if style.alternative || !digits.contains('.') {
        with_point(style, digits)
    } else {
        digits.trim_end_matches('0').trim_end_matches('.').to_string()
    }
}

/// `1.8p+0` behind `0x`.
fn hexadecimal(style: &Style, value: f64) -> String {
    /// Bits behind the point.
    const FRACTION: u32 = 52;
    let bits = value.to_bits();
    let exponent = (bits >> FRACTION) as i64;
    let fraction = bits & ((1 << FRACTION) - 1);
    let (mut mantissa, exponent) = match (exponent, fraction) {
        (0, 0) => (0, 0),
        (0, _) => (fraction, -1022),
        _ => (fraction | 1 << FRACTION, exponent - 1023),
    };
    let places = style.precision.unwrap_or(13).min(13);
    let cut = (13 - places as u32) * 4;
    if cut > 0 {
        let half = 1u64 << (cut - 1);
        let rest = mantissa & ((1 << cut) - 1);
        let is_odd = mantissa >> cut & 1 == 1;
        let up = rest > half || rest == half && is_odd;
        mantissa = (mantissa >> cut).saturating_add(u64::from(up)) << cut;
    }
    let digits = format!("{:013x}", mantissa & ((1 << FRACTION) - 1));
    let digits = match style.precision {
        None => digits.trim_end_matches('0').to_string(),
        Some(wanted) => format!("{:0<wanted$}", digits.get(..places).unwrap_or_default()),
    };
    let point = if digits.is_empty() && !style.alternative { "" } else { "." };
    format!("{}{point}{digits}p{exponent:+}", mantissa >> FRACTION)
}
