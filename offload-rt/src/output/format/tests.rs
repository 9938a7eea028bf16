//! Each conversion beside what the C library prints.

use super::super::values::Values;
use super::formatted;

/// A value as `device_output.c` passes it.
enum Arg {
    Int(i32),
    Long(i64),
    Real(f64),
    Text(&'static str),
    Bytes(&'static [u8]),
}

use Arg::{Bytes, Int, Long, Real, Text};

fn printed(format: &str, args: &[Arg]) -> String {
    let mut words = Vec::new();
    for arg in args {
        let bytes = match arg {
            Int(value) => value.to_le_bytes().to_vec(),
            Long(value) => value.to_le_bytes().to_vec(),
            Real(value) => value.to_le_bytes().to_vec(),
            Text(text) => {
                words.push(text.len() as u32);
                text.as_bytes().to_vec()
            }
            Bytes(bytes) => bytes.to_vec(),
        };
        for chunk in bytes.chunks(4) {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            words.push(u32::from_le_bytes(word));
        }
    }
    String::from_utf8(formatted(format.as_bytes(), &mut Values::new(&words)).unwrap()).unwrap()
}

/// Each as glibc 2.36 prints it.
#[test]
fn numbers_are_those_of_the_c_library() {
    let cases: &[(&str, Arg, &str)] = &[
        ("%d|", Int(-5), "-5|"),
        ("%5d|", Int(-5), "   -5|"),
        ("%-5d|", Int(42), "42   |"),
        ("%05d|", Int(-42), "-0042|"),
        ("%+d|", Int(42), "+42|"),
        ("% d|", Int(42), " 42|"),
        ("%.3d|", Int(7), "007|"),
        ("%.0d|", Int(0), "|"),
        ("%u|", Int(-1), "4294967295|"),
        ("%x|", Int(255), "ff|"),
        ("%#X|", Int(255), "0XFF|"),
        ("%#o|", Int(8), "010|"),
        ("%08x|", Int(48879), "0000beef|"),
        ("%ld|", Long(-1 << 40), "-1099511627776|"),
        ("%llu|", Long(-1), "18446744073709551615|"),
        ("%zu|", Long(7), "7|"),
        ("%hd|", Int(70000), "4464|"),
        ("%hhu|", Int(257), "1|"),
        ("%c|", Int(113), "q|"),
        ("%3c|", Int(113), "  q|"),
        ("%p|", Long(0xbeef), "0xbeef|"),
        ("%f|", Real(2.25), "2.250000|"),
        ("%5.1f|", Real(2.25), "  2.2|"),
        ("%-8.2f|", Real(-1.0), "-1.00   |"),
        ("%08.2f|", Real(-1.5), "-0001.50|"),
        ("%+.0f|", Real(3.0), "+3|"),
        ("%#.0f|", Real(3.0), "3.|"),
        ("%e|", Real(12345.678), "1.234568e+04|"),
        ("%.0e|", Real(0.000_012), "1e-05|"),
        ("%E|", Real(1e100), "1.000000E+100|"),
        ("%g|", Real(0.0001), "0.0001|"),
        ("%g|", Real(0.00001), "1e-05|"),
        ("%g|", Real(123456.0), "123456|"),
        ("%g|", Real(1234567.0), "1.23457e+06|"),
        ("%g|", Real(0.0), "0|"),
        ("%.3g|", Real(1.5), "1.5|"),
        ("%#g|", Real(1.5), "1.50000|"),
        ("%G|", Real(1e-10), "1E-10|"),
        ("%a|", Real(1.5), "0x1.8p+0|"),
        ("%a|", Real(0.0), "0x0p+0|"),
        ("%.1a|", Real(1.96875), "0x2.0p+0|"),
        ("%A|", Real(-0.1), "-0X1.999999999999AP-4|"),
        ("%f|", Real(f64::INFINITY), "inf|"),
        ("%05f|", Real(f64::NEG_INFINITY), " -inf|"),
        ("%F|", Real(f64::NAN), "NAN|"),
    ];
    for (format, arg, expected) in cases {
        assert_eq!(printed(format, std::slice::from_ref(arg)), *expected, "{format}");
    }
}

#[test]
fn texts_and_widths_are_values() {
    assert_eq!(
        printed("%s, %.2s, %6s|%-6s|", &[Text("a"), Text("abc"), Text("right"), Text("left")]),
        "a, ab,  right|left  |"
    );
    assert_eq!(
        printed("%*d|%-*d|%.*f", &[Int(4), Int(1), Int(-4), Int(2), Int(1), Real(0.25)]),
        "   1|2   |0.2"
    );
    assert_eq!(printed("100%% of %d%%", &[Int(3)]), "100% of 3%");
    assert_eq!(printed("ends with %", &[]), "ends with %");
}

#[test]
fn vectors_are_printed_with_commas() {
    assert_eq!(printed("%v2hhd", &[Bytes(&[0xff, 2])]), "-1,2");
    assert_eq!(printed("%v3hd|", &[Bytes(&[1, 0, 2, 0, 3, 0, 9, 9])]), "1,2,3|");
    assert_eq!(printed("%v4hld", &[Bytes(&[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0])]), "1,2,3,4");
    assert_eq!(printed("%v2hlf|", &[Bytes(&[0, 0, 0x80, 0x3f, 0, 0, 0, 0x40])]), "1.000000,2.000000|");
    assert_eq!(printed("%#v2hhx", &[Bytes(&[0xab, 0])]), "0xab,0");
}

#[test]
fn a_message_with_too_few_values_is_none() {
    assert_eq!(formatted(b"%d %ld", &mut Values::new(&[1, 2])), None);
}
