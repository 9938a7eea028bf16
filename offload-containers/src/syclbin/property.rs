//! Property sets: the text format of SYCLBIN's metadata.
//!
//! `[set]` lines, then `name=1|NUMBER` or `name=2|BYTES`. Bytes are written in a variant of base64
//! (<https://github.com/intel/llvm/blob/sycl/llvm/lib/Support/PropertySetIO.cpp>); their number is counted in bits.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::base64;
use offload_format::{Error, ErrorKind};

/// Property sets, in the order of the file. They are kept as text, so that unknown sets pass through.
///
/// Equality ignores the order: a SYCL runtime writes them in that of a hash map.
///
/// ```
/// use offload_containers::syclbin::{PropertySets, PropertyValue};
///
/// let sets = PropertySets::default().set("SYCL/kernel names").property("saxpy", PropertyValue::Number(1))?;
/// assert_eq!(sets.to_string(), "[SYCL/kernel names]\nsaxpy=1|1\n");
/// assert_eq!(sets.names("SYCL/kernel names").collect::<Vec<_>>(), ["saxpy"]);
/// # Ok::<(), offload_format::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PropertySets<'a> {
    /// Well-formed lines.
    text: Cow<'a, str>,
}

/// The value of a property.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PropertyValue {
    /// Type 1.
    Number(u32),
    /// Type 2.
    Bytes(Vec<u8>),
    /// Type 2 with a number of bits that does not fill its last byte.
    Bits {
        /// How many bits count.
        bits: u64,
        /// The bytes that hold them.
        bytes: Vec<u8>,
    },
}

/// A property of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Property<'a> {
    /// The set that it belongs to.
    pub set: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its value.
    pub value: PropertyValue,
}

impl<'a> PropertySets<'a> {
    /// Reads `text`; nothing of it is copied.
    ///
    /// # Errors
    /// [`ErrorKind::Text`] with the offset of the line that is malformed.
    pub fn parse(text: &'a str) -> Result<PropertySets<'a>, Error> {
        let mut offset = 0u64;
        let mut in_set = false;
        for line in text.split_inclusive('\n') {
            let parsed = Line::parse(line).filter(|line| in_set || matches!(line, Line::Set(_)));
            let checked = parsed.and_then(|line| line.check_value());
            checked.ok_or(ErrorKind::Text { what: "a property", offset })?;
            in_set = true;
            offset = offset.saturating_add(line.len() as u64);
        }
        Ok(PropertySets { text: Cow::Borrowed(text) })
    }

    /// Starts a set.
    #[must_use]
    pub fn set(mut self, name: &str) -> PropertySets<'a> {
        self.end_line();
        // A line feed would end the name. A carriage return before the bracket does not.
        let name = name.replace('\n', "");
        self.text.to_mut().push_str(&format!("[{name}]\n"));
        self
    }

    /// Adds a property to the set started last.
    ///
    /// # Errors
    /// [`ErrorKind::Text`] for a name that the format cannot represent (empty, or with `=` or a line break), and if no set
    /// was started.
    pub fn property(mut self, name: &str, value: PropertyValue) -> Result<PropertySets<'a>, Error> {
        let line = format!("{name}={value}\n");
        let round_trips = matches!(Line::parse(&line), Some(Line::Property(parsed, _)) if parsed == name);
        if !round_trips || line.matches('\n').count() != 1 || self.text.is_empty() {
            return Err(
                ErrorKind::Text { what: "the name of a property", offset: self.text.len() as u64 }.into()
            );
        }
        self.end_line();
        self.text.to_mut().push_str(&line);
        Ok(self)
    }

    /// Adds a property to the set started last; `name` is one of this crate's own, which needs no check.
    pub(super) fn known(mut self, name: &'static str, value: &PropertyValue) -> PropertySets<'a> {
        self.end_line();
        self.text.to_mut().push_str(&format!("{name}={value}\n"));
        self
    }

    /// Adds the sets of `other`.
    #[must_use]
    pub fn and(mut self, other: &PropertySets<'_>) -> PropertySets<'a> {
        self.end_line();
        self.text.to_mut().push_str(&other.text);
        self
    }

    /// Whether there is no set.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The names of the sets, in the order of the file, with duplicates.
    pub fn sets(&self) -> impl Iterator<Item = &str> {
        self.lines().filter_map(|line| match line {
            Line::Set(name) => Some(name),
            Line::Property(..) => None,
        })
    }

    /// Every property, in the order of the file.
    pub fn properties(&self) -> impl Iterator<Item = Property<'_>> {
        let mut set = "";
        self.lines().filter_map(move |line| {
            let (name, value) = match line {
                Line::Set(name) => {
                    set = name;
                    return None;
                }
                Line::Property(name, value) => (name, value.decode()?),
            };
            Some(Property { set, name, value })
        })
    }

    /// The value of a property; the last one of duplicates, as in LLVM's reader.
    pub fn get(&self, set: &str, name: &str) -> Option<PropertyValue> {
        self.raw(set).filter(|(other, _)| *other == name).last().and_then(|(_, value)| value.decode())
    }

    /// The names of a set's properties.
    pub fn names<'s>(&'s self, set: &'s str) -> impl Iterator<Item = &'s str> {
        self.raw(set).map(|(name, _)| name)
    }

    /// The properties of a set, not decoded.
    fn raw<'s>(&'s self, set: &'s str) -> impl Iterator<Item = (&'s str, RawValue<'s>)> {
        let mut inside = false;
        self.lines().filter_map(move |line| match line {
            Line::Set(name) => {
                inside = name == set;
                None
            }
            Line::Property(name, value) => inside.then_some((name, value)),
        })
    }

    fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        // `parse` has checked every line.
        self.text.lines().filter_map(Line::parse)
    }

    /// Ends the last line, which may lack a line feed.
    fn end_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.to_mut().push('\n');
        }
    }

    fn normalized(&self) -> BTreeMap<&str, BTreeMap<&str, Option<PropertyValue>>> {
        let mut sets: BTreeMap<&str, BTreeMap<&str, Option<PropertyValue>>> = BTreeMap::new();
        let mut set = "";
        for line in self.lines() {
            match line {
                Line::Set(name) => {
                    set = name;
                    sets.entry(set).or_default();
                }
                Line::Property(name, value) => {
                    sets.entry(set).or_default().insert(name, value.decode());
                }
            }
        }
        sets
    }
}

impl PartialEq for PropertySets<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text || self.normalized() == other.normalized()
    }
}

impl Eq for PropertySets<'_> {}

impl fmt::Display for PropertySets<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for PropertySets<'static> {
    type Err = Error;

    fn from_str(text: &str) -> Result<PropertySets<'static>, Error> {
        PropertySets::parse(text)?;
        Ok(PropertySets { text: Cow::Owned(text.to_string()) })
    }
}

impl PropertyValue {
    /// A text as bytes.
    pub fn text(text: &str) -> PropertyValue {
        PropertyValue::Bytes(text.as_bytes().to_vec())
    }

    /// Numbers as bytes.
    pub fn numbers(numbers: &[u32]) -> PropertyValue {
        PropertyValue::Bytes(numbers.iter().flat_map(|number| number.to_le_bytes()).collect())
    }

    /// The bytes of type 2.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            PropertyValue::Number(_) => None,
            PropertyValue::Bytes(bytes) | PropertyValue::Bits { bytes, .. } => Some(bytes),
        }
    }
}

/// The text behind `=`.
impl fmt::Display for PropertyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PropertyValue::Number(number) => write!(f, "1|{number}"),
            PropertyValue::Bytes(bytes) => {
                write!(f, "2|{}", base64::encode((bytes.len() as u64).saturating_mul(8), bytes))
            }
            PropertyValue::Bits { bits, bytes } => write!(f, "2|{}", base64::encode(*bits, bytes)),
        }
    }
}

/// A line of the text.
enum Line<'a> {
    Set(&'a str),
    Property(&'a str, RawValue<'a>),
}

/// An encoded value.
#[derive(Clone, Copy)]
enum RawValue<'a> {
    Number(&'a str),
    Bytes(&'a str),
}

impl<'a> Line<'a> {
    fn parse(line: &'a str) -> Option<Line<'a>> {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        if let Some(name) = line.strip_prefix('[') {
            return name.rsplit_once(']').map(|(name, _)| Line::Set(name));
        }
        let (name, value) = line.split_once('=').filter(|(name, _)| !name.is_empty())?;
        let value = match value.split_once('|')? {
            ("1", number) => RawValue::Number(number),
            ("2", bytes) => RawValue::Bytes(bytes),
            _ => return None,
        };
        Some(Line::Property(name, value))
    }

    /// `Some` if the value of the line can be decoded.
    fn check_value(&self) -> Option<()> {
        match self {
            Line::Set(_) => Some(()),
            Line::Property(_, value) => value.decode().map(drop),
        }
    }
}

impl RawValue<'_> {
    fn decode(self) -> Option<PropertyValue> {
        match self {
            RawValue::Number(number) => number.parse().ok().map(PropertyValue::Number),
            RawValue::Bytes(text) => {
                let (bits, bytes) = base64::decode(text)?;
                let whole = bits.is_multiple_of(8);
                Some(if whole { PropertyValue::Bytes(bytes) } else { PropertyValue::Bits { bits, bytes } })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<PropertySets<'_>, Error> {
        PropertySets::parse(text)
    }

    #[test]
    fn text_passes_through_and_nonsense_is_refused() {
        let text =
            "[SYCL/kernel names]\nk|l=1|1\n[x]\ny=2|gAAAAAAAAAgBAAAA\n[empty]\n[own set]\nz=1|4294967295";
        let sets = parse(text).unwrap();
        assert_eq!(sets.to_string(), text);
        assert_eq!(sets.sets().collect::<Vec<_>>(), ["SYCL/kernel names", "x", "empty", "own set"]);
        assert_eq!(sets.get("own set", "z"), Some(PropertyValue::Number(u32::MAX)));
        assert_eq!(sets.names("SYCL/kernel names").collect::<Vec<_>>(), ["k|l"]);
        for bad in [
            "k=1|1\n",
            "[s]\nk\n",
            "[s]\nk=1|x\n",
            "[s]\nk=3|1\n",
            "[s]\nk=2|A\n",
            "[s]\nk=2|wAAAAAAAAAA\n",
            "[s]\nk=2|=\n",
            "[s]\n=1|1\n",
            "[s]\nk=1|\n",
            "[s]\n\nk=1|1\n",
            "[s]\nk =1| 1\n",
            "[s\n",
            "[s]\nk= 1|1\n",
            "[s]\nk=1|4294967296\n",
            "[s]\nk=2|wCAAAAAAAAwcwlmc2QTL152au92du1Sdutmbvdn=\n",
        ] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
        let offset = match parse("[s]\nk=1|1\nbad\n").unwrap_err().kind() {
            ErrorKind::Text { offset, .. } => *offset,
            other => panic!("{other:?}"),
        };
        assert_eq!(offset, 10);
    }

    #[test]
    fn lines_may_end_as_on_windows() {
        let sets = parse("[s]\r\nk=1|7\r\n").unwrap();
        assert_eq!(sets.get("s", "k"), Some(PropertyValue::Number(7)));
    }

    #[test]
    fn a_set_that_is_written_has_the_name_that_was_read() {
        let read = parse("[\r\0]\n[a\r]\nk=1|7\n").unwrap();
        let names: Vec<&str> = read.sets().collect();
        let written = names.iter().fold(PropertySets::default(), |sets, name| sets.set(name));
        assert_eq!(written.sets().collect::<Vec<_>>(), names);
        assert_eq!(PropertySets::default().set("a\nb=1|1").sets().collect::<Vec<_>>(), ["ab=1|1"]);
    }

    #[test]
    fn order_does_not_count_but_everything_else_does() {
        let one = parse("[a]\nx=1|1\ny=1|2\n[b]\n").unwrap();
        assert_eq!(one, parse("[b]\n[a]\ny=1|2\n[a]\nx=1|1").unwrap());
        for other in ["[a]\nx=1|1\ny=1|2\n", "[a]\nx=1|1\ny=1|3\n[b]\n", "[b]\nx=1|1\ny=1|2\n[a]\n", ""] {
            assert_ne!(one, parse(other).unwrap(), "{other:?}");
        }
    }

    #[test]
    fn a_name_that_would_break_the_line_is_refused() {
        let sets = PropertySets::default().set("s");
        for name in ["", "a=b", "a\nb", "[a]", "a\r\nb"] {
            assert!(sets.clone().property(name, PropertyValue::Number(1)).is_err(), "{name:?}");
        }
        assert!(PropertySets::default().property("a", PropertyValue::Number(1)).is_err());
        assert!(sets.property("a|b c", PropertyValue::Number(1)).is_ok());
    }
}
