//! `printf`, of C and of OpenCL C (which has vectors, as `%v4hld`), over the values of a message.
//! <https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#printf>

mod number;

use self::number::{Style, real, with_precision};
use super::values::Values;

/// One conversion.
struct Conversion {
    style: Style,
    /// Of a vector, or 1.
    elements: usize,
    /// Of an element.
    bytes: usize,
    kind: u8,
}

/// The largest width and precision: a wrong one must not exhaust the memory.
const MAX_WIDTH: usize = 4096;

/// The text; `None` if there are fewer values than `format` wants. What is no conversion is printed as it is.
pub(super) fn formatted(format: &[u8], values: &mut Values<'_>) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut rest = format;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match (first, after.first()) {
            (b'%', Some(b'%')) => {
                out.push(b'%');
                rest = after.get(1..)?;
            }
            (b'%', Some(_)) => {
                let conversion = parse(&mut rest, values)?;
                print(&conversion, values, &mut out)?;
            }
            _ => out.push(*first),
        }
    }
    Some(out)
}

fn parse(rest: &mut &[u8], values: &mut Values<'_>) -> Option<Conversion> {
    let mut style = Style::default();
    flags(rest, &mut style);
    if let Some(width) = count(rest, values)? {
        style.left |= width < 0;
        style.width = width.unsigned_abs() as usize;
    }
    if take(rest, b".") {
        let precision = count(rest, values)?.unwrap_or(0);
        style.precision = usize::try_from(precision).ok().map(|precision| precision.min(MAX_WIDTH));
    }
    style.width = style.width.min(MAX_WIDTH);
    let elements =
        if take(rest, b"v") { usize::try_from(count(rest, values)?.unwrap_or(1)).ok()? } else { 1 };
    let lengths: [(&[u8], usize); 8] =
        [(b"hh", 1), (b"hl", 4), (b"h", 2), (b"ll", 8), (b"l", 8), (b"z", 8), (b"j", 8), (b"t", 8)];
    let bytes = lengths.into_iter().find(|(name, _)| take(rest, name)).map_or(4, |(_, bytes)| bytes);
    let (kind, after) = rest.split_first()?;
    *rest = after;
    Some(Conversion { style, elements, bytes, kind: *kind })
}

fn flags(rest: &mut &[u8], style: &mut Style) {
    loop {
        let flag = match rest.first() {
            Some(b'-') => &mut style.left,
            Some(b'+') => &mut style.plus,
            Some(b' ') => &mut style.space,
            Some(b'#') => &mut style.alternative,
            Some(b'0') => &mut style.zeros,
            _ => return,
        };
        *flag = true;
        *rest = rest.get(1..).unwrap_or_default();
    }
}

fn take(rest: &mut &[u8], prefix: &[u8]) -> bool {
    let after = rest.strip_prefix(prefix);
    *rest = after.unwrap_or(rest);
    after.is_some()
}

/// A number in the format, or the next value where it says `*`; `None` inside if there is neither.
fn count(rest: &mut &[u8], values: &mut Values<'_>) -> Option<Option<i32>> {
    if take(rest, b"*") {
        return values.word().map(|word| Some(word.cast_signed()));
    }
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, after) = rest.split_at_checked(digits)?;
    *rest = after;
    if digits == 0 {
        return Some(None);
    }
    let mut value = 0i32;
    for digit in number {
        value = value.saturating_mul(10).saturating_add(i32::from(digit - b'0'));
    }
    Some(Some(value))
}

fn print(conversion: &Conversion, values: &mut Values<'_>, out: &mut Vec<u8>) -> Option<()> {
    let Conversion { style, elements, bytes, kind } = conversion;
    if *elements != 1 {
        return vector(conversion, values, out);
    }
    match kind {
        b's' => {
            let text = values.string()?.unwrap_or_else(|| b"(null)".to_vec());
            let shown = text.get(..style.precision.unwrap_or(usize::MAX)).unwrap_or(&text);
            padded(style, shown, out);
        }
        b'p' => padded(style, format!("{:#x}", values.double_word()?).as_bytes(), out),
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            scalar(conversion, Value { bits: values.double_word()?, bytes: 8 }, out);
        }
        _ if *bytes == 8 => scalar(conversion, Value { bits: values.double_word()?, bytes: 8 }, out),
        _ => scalar(conversion, Value { bits: values.word()?.into(), bytes: *bytes }, out),
    }
    Some(())
}

/// A number as it is in memory.
struct Value {
    bits: u64,
    bytes: usize,
}

fn vector(conversion: &Conversion, values: &mut Values<'_>, out: &mut Vec<u8>) -> Option<()> {
    let Conversion { elements, bytes, .. } = conversion;
    let places = if *elements == 3 { 4 } else { *elements };
    let all = values.bytes(places.checked_mul(*bytes)?)?;
    for (index, element) in all.chunks_exact(*bytes).take(*elements).enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let bits = element.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        scalar(conversion, Value { bits, bytes: *bytes }, out);
    }
    Some(())
}

fn scalar(Conversion { style, kind, .. }: &Conversion, Value { bits, bytes }: Value, out: &mut Vec<u8>) {
    let unused = 64u32.saturating_sub(u32::try_from(bytes.saturating_mul(8)).unwrap_or(64));
    let unsigned = bits << unused >> unused;
    let signed = (bits << unused).cast_signed() >> unused;
    let (sign, prefix, digits) = match kind {
        b'c' => return padded(style, &[unsigned.to_le_bytes()[0]], out),
        b'd' | b'i' => (signed < 0, "", with_precision(style, signed.unsigned_abs().to_string())),
        b'u' => (false, "", with_precision(style, unsigned.to_string())),
        b'o' => {
            (false, if style.alternative { "0" } else { "" }, with_precision(style, format!("{unsigned:o}")))
        }
        b'x' | b'X' => {
            let digits = with_precision(style, format!("{unsigned:x}"));
            (false, if style.alternative && unsigned != 0 { "0x" } else { "" }, digits)
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let value = match bytes {
                4 => f64::from(f32::from_bits(bits as u32)),
                _ => f64::from_bits(bits),
            };
            let hexadecimal = kind.eq_ignore_ascii_case(&b'a') && value.is_finite();
            (value.is_sign_negative(), if hexadecimal { "0x" } else { "" }, real(style, *kind, value.abs()))
        }
        other => return out.extend_from_slice(&[b'%', *other]),
    };
    let is_signed = matches!(kind, b'd' | b'i') || kind.is_ascii_alphabetic() && b"fFeEgGaA".contains(kind);
    let sign = match (sign, style.plus && is_signed, style.space && is_signed) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    };
    let start = format!("{sign}{prefix}");
    let is_integer = b"diouxX".contains(kind);
    let zeros = style.zeros
        && !style.left
        && !(is_integer && style.precision.is_some())
        && digits.starts_with(|c: char| c.is_ascii_hexdigit())
        && digits != "inf"
        && digits != "nan";
    let missing = style.width.saturating_sub(start.len().saturating_add(digits.len()));
    let filling = if zeros { "0".repeat(missing) } else { String::new() };
    let text = format!("{start}{filling}{digits}");
    let text = if kind.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text };
    padded(style, text.as_bytes(), out);
}

/// `text` in its column.
fn padded(style: &Style, text: &[u8], out: &mut Vec<u8>) {
    let missing = style.width.saturating_sub(text.len());
    let spaces = std::iter::repeat_n(b' ', missing);
    if style.left {
        out.extend_from_slice(text);
        out.extend(spaces);
    } else {
        out.extend(spaces);
        out.extend_from_slice(text);
    }
}

#[cfg(test)]
mod tests;
