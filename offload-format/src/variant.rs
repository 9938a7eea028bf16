//! Variants of kernel modules: the definitions that an image was compiled with, and their text form in a pack.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The definitions of one variant of a kernel module, as `HEAD_DIM=64,T=half`: sorted by name, so that the text is
/// canonical. A module without variants has the empty one.
///
/// ```
/// use offload_format::Variant;
///
/// let variant = Variant::new([("T", "half"), ("HEAD_DIM", "64")])?;
/// assert_eq!(variant.to_string(), "HEAD_DIM=64,T=half");
/// assert_eq!("HEAD_DIM=64,T=half".parse::<Variant>()?, variant);
/// assert_eq!(variant.get("T"), Some("half"));
/// assert!(Variant::new([("T", "a,b")]).is_err());
/// # Ok::<(), offload_format::InvalidVariant>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variant {
    values: BTreeMap<String, String>,
}

/// The error of definitions or a text that form no [`Variant`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidVariant {
    definition: String,
    reason: &'static str,
}

impl Variant {
    /// The variant with these names and values, in any order.
    ///
    /// # Errors
    /// A name is defined twice; or a name or value is empty or contains `=`, `,` or a control character, so that the text
    /// would not round-trip.
    pub fn new<N: Into<String>, V: Into<String>>(
        definitions: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Variant, InvalidVariant> {
        let mut values = BTreeMap::new();
        for (name, value) in definitions {
            let name = name.into();
            let value = value.into();
            if !is_plain(&name) || !is_plain(&value) {
                let reason =
                    "name and value need a character, and none of them `=`, `,` or a control character";
                return Err(InvalidVariant { definition: format!("{name}={value}"), reason });
            }
            if values.contains_key(&name) {
                let reason = "the name is defined twice";
                return Err(InvalidVariant { definition: format!("{name}={value}"), reason });
            }
            values.insert(name, value);
        }
        Ok(Variant { values })
    }

    /// Whether the module has no variants.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The value of `name`.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Names and values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

fn is_plain(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| matches!(c, '=' | ',') || c.is_control())
}

impl FromStr for Variant {
    type Err = InvalidVariant;

    fn from_str(text: &str) -> Result<Variant, InvalidVariant> {
        if text.is_empty() {
            return Ok(Variant::default());
        }
        let mut definitions = Vec::new();
        for definition in text.split(',') {
            let Some(pair) = definition.split_once('=') else {
                return Err(InvalidVariant { definition: definition.to_string(), reason: "it has no `=`" });
            };
            definitions.push(pair);
        }
        Variant::new(definitions)
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let definitions: Vec<String> = self.iter().map(|(name, value)| format!("{name}={value}")).collect();
        f.pad(&definitions.join(","))
    }
}

impl fmt::Display for InvalidVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a definition of a variant: {}", self.definition.escape_debug(), self.reason)
    }
}

impl std::error::Error for InvalidVariant {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_round_trip_in_one_order() {
        for (text, canonical) in
            [("", ""), ("A=1", "A=1"), ("B=x,A=1", "A=1,B=x"), ("T=float 4", "T=float 4")]
        {
            let variant: Variant = text.parse().unwrap();
            assert_eq!(variant.to_string(), canonical);
            assert_eq!(variant.to_string().parse::<Variant>().unwrap(), variant);
            assert_eq!(variant.is_empty(), text.is_empty());
        }
    }

    #[test]
    fn ambiguous_definitions_are_refused() {
        for (text, part) in [
            ("double", "no `=`"),
            ("A=1,", "no `=`"),
            ("=1", "need a character"),
            ("A=", "need a character"),
            ("A=b=c", "none of them `=`"),
            ("A=1,A=1", "twice"),
            ("A=\u{1b}", "\\u{1b}"),
        ] {
            let error = text.parse::<Variant>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(Variant::new([("A,B", "1")]).is_err() && Variant::new([("A", "1,B=2")]).is_err());
    }
}
