//! Values that a program chooses for the specialisation constants of a module.

use offload_format::{SpecConstant, SpecUse, SpecValue, Variant};

use crate::refusal::Refusal;

/// Values for specialisation constants of a module, by name. What it has no value for keeps its default.
///
/// Generated Rust makes one of its struct `Spec`, whose fields have the types of the constants.
///
/// ```
/// use offload_rt::Specialization;
///
/// let spec = Specialization::new().with("TILE", 32).with("SCALE", 0.5f32);
/// assert_eq!(spec.get("TILE"), Some(32.into()));
/// assert_eq!(spec.get("WIDTH"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Specialization {
    values: Vec<NamedValue>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct NamedValue {
    name: String,
    value: SpecValue,
}

/// A value that an image does not have by itself.
#[cfg(feature = "opencl")]
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) name: String,
    pub(crate) id: u32,
    pub(crate) value: SpecValue,
}

impl Specialization {
    /// No values: everything has its default.
    pub fn new() -> Specialization {
        Specialization::default()
    }

    /// The same with a value for the constant `name`, in place of one that it may have.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<SpecValue>) -> Specialization {
        self.values.retain(|known| known.name != name);
        self.values.push(NamedValue { name: name.to_string(), value: value.into() });
        self
    }

    /// The value for the constant `name`.
    pub fn get(&self, name: &str) -> Option<SpecValue> {
        self.values.iter().find(|known| known.name == name).map(|known| known.value)
    }

    /// Why an image with these `constants` cannot have the values, if it cannot.
    pub(crate) fn refusal(&self, constants: &[SpecConstant]) -> Option<Refusal> {
        self.values.iter().find_map(|value| value.refusal(constants))
    }

    /// `given`, with a value for each constant by whose name there are variants and that is not among them: of a variant that
    /// was compiled with the value that is asked for, otherwise of the first one, whose images may take it.
    pub(crate) fn variant<'v>(
        &'v self,
        given: &[(&'v str, &'v str)],
        variants: &'v [Variant],
    ) -> Vec<(&'v str, &'v str)> {
        let mut all = given.to_vec();
        for NamedValue { name, value } in &self.values {
            if given.iter().any(|(known, _)| known == name) {
                continue;
            }
            let mut texts = variants.iter().filter_map(|variant| variant.get(name));
            let Some(first) = texts.clone().next() else { continue };
            let equal = texts.find(|text| SpecValue::parse(value.type_name(), text) == Some(*value));
            all.push((name, equal.unwrap_or(first)));
        }
        all
    }

    /// The values that differ from the defaults of an image with these `constants`.
    #[cfg(feature = "opencl")]
    pub(crate) fn settings(&self, constants: &[SpecConstant]) -> Vec<Setting> {
        let mut settings = Vec::new();
        for constant in constants {
            if let SpecUse::Id(id) = constant.usage
                && let Some(value) = self.get(&constant.name)
                && value != constant.default
            {
                settings.push(Setting { name: constant.name.clone(), id, value });
            }
        }
        settings
    }
}

impl NamedValue {
    /// Why an image with these `constants` cannot have the value.
    fn refusal(&self, constants: &[SpecConstant]) -> Option<Refusal> {
        let name = self.name.clone();
        let requested = self.value;
        let Some(constant) = constants.iter().find(|constant| constant.name == self.name) else {
            return Some(Refusal::MissingConstant(name));
        };
        let default = constant.default;
        if requested.type_name() != default.type_name() {
            return Some(Refusal::ConstantType { name, default, requested });
        }
        match constant.usage {
            SpecUse::Fixed if requested != default => {
                Some(Refusal::ConstantValue { name, compiled: default, requested })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(spec: &Specialization, constants: &str) -> Option<String> {
        spec.refusal(&SpecConstant::list(constants)).map(|refusal| refusal.to_string())
    }

    #[test]
    fn an_image_has_the_value_or_takes_it_or_is_refused() {
        let spec = Specialization::new().with("TILE", 8).with("TILE", 32);
        for fits in ["TILE@0:int=16", "TILE@:int=16", "TILE:int=32", "A:int=1,TILE@3:int=32"] {
            assert_eq!(refusal(&spec, fits), None, "{fits}");
        }
        for (constants, words) in [
            ("TILE:int=16", "it was compiled with TILE = 16, and 32 is asked for"),
            ("TILE@0:uint=16", "its specialisation constant `TILE` is of the type `uint`, not `int`"),
            ("A:int=1", "it has no specialisation constant `TILE`"),
            ("", "it has no specialisation constant `TILE`"),
        ] {
            assert_eq!(refusal(&spec, constants).as_deref(), Some(words));
        }
        assert_eq!(refusal(&Specialization::new(), "TILE:int=16"), None);
    }

    #[test]
    fn a_variant_is_the_one_that_was_compiled_with_the_value() {
        let variants: Vec<Variant> =
            ["T=half,TILE=16", "T=half,TILE=32"].iter().map(|text| text.parse().unwrap()).collect();
        for (tile, variant) in [(32, "32"), (64, "16")] {
            let spec = Specialization::new().with("TILE", tile).with("SCALE", 1.0f32);
            assert_eq!(spec.variant(&[("T", "half")], &variants), [("T", "half"), ("TILE", variant)]);
        }
        let spec = Specialization::new().with("TILE", 32);
        assert_eq!(spec.variant(&[("TILE", "16")], &variants), [("TILE", "16")]);
        assert_eq!(spec.variant(&[], &[]), []);
    }

    #[test]
    #[cfg(feature = "opencl")]
    fn settings_are_the_values_that_differ_from_the_defaults() {
        let constants = SpecConstant::list("A@0:int=1,B@1:float=2.0,C@:int=3,D@3:bool=false");
        let spec = Specialization::new().with("A", 1).with("B", 2.5f32).with("C", 9).with("D", true);
        let settings = spec.settings(&constants);
        let settings: Vec<_> =
            settings.iter().map(|one| (one.name.as_str(), one.id, one.value.bits())).collect();
        assert_eq!(settings, [("B", 1, 0x4020_0000), ("D", 3, 1)]);
    }
}
