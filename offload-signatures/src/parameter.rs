//! The Rust type of a kernel parameter, by the argument's record.

use offload_format::pack::{ArgInfo, ArgKind};

/// A parameter of a typed method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// `bool`, which a kernel takes as a byte.
    Bool,
    /// A value.
    Value(Element),
    /// A buffer that the kernel only reads.
    Read(Element),
    /// A buffer that the kernel also writes.
    Write(Element),
    /// Local memory.
    Local(Element),
    /// An image that the kernel only reads, of this type of Rust's, as `Image2d`.
    Image(&'static str),
    /// An image that the kernel also writes.
    ImageMut(&'static str),
    /// A sampler of images.
    Sampler,
    /// A texture object of CUDA's runtime.
    Texture,
    /// A surface object of CUDA's runtime.
    Surface,
}

/// The type of the elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Element {
    /// A type of Rust's, as `f32` and `[u32; 4]`.
    Rust(String),
    /// Any type with a bound, or arrays of such.
    Any {
        /// The bound of the type parameter.
        bound: Bound,
        /// Elements of an array; 1 for the type itself.
        lanes: u32,
    },
    /// Any plain type of this size in bytes.
    Sized(u32),
}

/// The bound of a type parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// `offload_rt::Plain`.
    Plain,
    /// `offload_rt::Half`.
    Half,
}

/// A type parameter of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generic {
    /// Its name.
    pub name: String,
    /// Its bound.
    pub bound: Bound,
}

/// OpenCL C's images (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#table-other-builtin-types>);
/// those of depth and of several samples have no type of Rust's.
const IMAGES: [(&str, &str); 6] = [
    ("image1d_t", "Image1d"),
    ("image1d_array_t", "Image1dArray"),
    ("image1d_buffer_t", "Image1dBuffer"),
    ("image2d_t", "Image2d"),
    ("image2d_array_t", "Image2dArray"),
    ("image3d_t", "Image3d"),
];

/// OpenCL C's scalars (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#table-builtin-scalar-types>).
const SCALARS: [(&str, &str); 10] = [
    ("char", "i8"),
    ("uchar", "u8"),
    ("short", "i16"),
    ("ushort", "u16"),
    ("int", "i32"),
    ("uint", "u32"),
    ("long", "i64"),
    ("ulong", "u64"),
    ("float", "f32"),
    ("double", "f64"),
];

/// The parameter for `arg`, or why there is none.
pub(crate) fn for_argument(arg: &ArgInfo) -> Result<Parameter, &'static str> {
    match arg.kind {
        ArgKind::Image => return image(arg),
        ArgKind::Sampler => return Ok(Parameter::Sampler),
        ArgKind::Value | ArgKind::Global | ArgKind::Constant | ArgKind::Local => {}
        _ => return Err("may be a pointer or a number: the image tells its size alone"),
    }
    let base = arg.base_type.as_str();
    if base.is_empty() {
        return Err("is known by its size alone");
    }
    if base.ends_with('*') {
        return Err(match arg.kind {
            ArgKind::Value => "is a pointer within a value",
            _ => "is a pointer to pointers",
        });
    }
    Ok(match arg.kind {
        ArgKind::Value if base == "bool" => Parameter::Bool,
        ArgKind::Value if matches!(base, "cudaTextureObject_t" | "hipTextureObject_t") => Parameter::Texture,
        ArgKind::Value if matches!(base, "cudaSurfaceObject_t" | "hipSurfaceObject_t") => Parameter::Surface,
        ArgKind::Value => Parameter::Value(sized(element(base), arg.size)),
        ArgKind::Local => Parameter::Local(element(base)),
        ArgKind::Constant => Parameter::Read(sized(element(base), arg.element_size)),
        _ if arg.is_const => Parameter::Read(sized(element(base), arg.element_size)),
        _ => Parameter::Write(sized(element(base), arg.element_size)),
    })
}

fn image(arg: &ArgInfo) -> Result<Parameter, &'static str> {
    match IMAGES.iter().find(|(name, _)| *name == arg.base_type) {
        Some((_, rust)) if arg.is_const => Ok(Parameter::Image(rust)),
        Some((_, rust)) => Ok(Parameter::ImageMut(rust)),
        None if arg.base_type.is_empty() => Err("is an image of unknown type"),
        None => Err("is an image of a type that offload-rt does not pass"),
    }
}

/// A structure of this `size`, if that is known.
fn sized(element: Element, size: Option<u32>) -> Element {
    match (element, size) {
        (Element::Any { bound: Bound::Plain, lanes: 1 }, Some(size)) => Element::Sized(size),
        (element, _) => element,
    }
}

fn element(base: &str) -> Element {
    // Of memory, a `bool` is a byte.
    let base = if base == "bool" { "uchar" } else { base };
    let digits = base.len().saturating_sub(base.trim_end_matches(|c: char| c.is_ascii_digit()).len());
    let (scalar, count) = base.split_at_checked(base.len().saturating_sub(digits)).unwrap_or((base, ""));
    let lanes = match count {
        "" => Some(1),
        "2" | "4" | "8" | "16" => count.parse().ok(),
        // As large as a vector of four.
        "3" => Some(4),
        _ => None,
    };
    let any = Element::Any { bound: Bound::Plain, lanes: 1 };
    let Some(lanes) = lanes else { return any };
    if scalar == "half" {
        return Element::Any { bound: Bound::Half, lanes };
    }
    let known = SCALARS.iter().find(|(name, _)| *name == scalar);
    known.map_or(any, |(_, rust)| Element::Rust(array(rust, lanes)))
}

/// Size in bytes of a value of the type `base`, if it is a number or a vector.
pub fn size(base: &str) -> Option<u32> {
    match element(base) {
        Element::Any { bound: Bound::Half, lanes } => lanes.checked_mul(2),
        Element::Any { bound: Bound::Plain, .. } | Element::Sized(_) => None,
        Element::Rust(_) if base == "bool" => Some(1),
        Element::Rust(text) => {
            let (scalar, lanes) = text.trim_matches(['[', ']']).split_once("; ").unwrap_or((&text, "1"));
            let bits: u32 = scalar.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
            lanes.parse::<u32>().ok()?.checked_mul(bits.checked_div(8)?)
        }
    }
}

/// `f32`, or `[f32; 4]`.
fn array(element: &str, lanes: u32) -> String {
    if lanes == 1 { element.to_string() } else { format!("[{element}; {lanes}]") }
}

impl Parameter {
    /// The parameter of a method for several variants: what differs between them is any plain type.
    pub(crate) fn merged(self, other: &Parameter) -> Result<Parameter, &'static str> {
        const ANY: Element = Element::Any { bound: Bound::Plain, lanes: 1 };
        if self == *other {
            return Ok(self);
        }
        match (self, other) {
            (Parameter::Value(_) | Parameter::Bool, Parameter::Value(_) | Parameter::Bool) => {
                Ok(Parameter::Value(ANY))
            }
            (Parameter::Read(_), Parameter::Read(_)) => Ok(Parameter::Read(ANY)),
            (Parameter::Write(_), Parameter::Write(_)) => Ok(Parameter::Write(ANY)),
            (Parameter::Local(_), Parameter::Local(_)) => Ok(Parameter::Local(ANY)),
            _ => Err("differs between the variants"),
        }
    }

    /// The type parameter that it needs, called `name`.
    pub fn generic(&self, name: &str) -> Option<Generic> {
        let bound = match self.element()? {
            Element::Rust(_) => return None,
            Element::Sized(_) => Bound::Plain,
            Element::Any { bound, .. } => *bound,
        };
        Some(Generic { name: name.to_string(), bound })
    }

    fn element(&self) -> Option<&Element> {
        match self {
            Parameter::Bool
            | Parameter::Image(_)
            | Parameter::ImageMut(_)
            | Parameter::Sampler
            | Parameter::Texture
            | Parameter::Surface => None,
            Parameter::Value(element)
            | Parameter::Read(element)
            | Parameter::Write(element)
            | Parameter::Local(element) => Some(element),
        }
    }

    /// Its type, with `generic` for a type parameter and `'a` for the lifetime of buffers.
    pub fn rust(&self, generic: &str) -> String {
        match self {
            Parameter::Bool => "bool".to_string(),
            Parameter::Value(element) => element.rust(generic),
            Parameter::Read(element) => {
                format!("impl Into<::offload_rt::Slice<'a, {}>>", element.rust(generic))
            }
            Parameter::Write(element) => {
                format!("impl Into<::offload_rt::SliceMut<'a, {}>>", element.rust(generic))
            }
            Parameter::Local(element) => format!("::offload_rt::Local<{}>", element.rust(generic)),
            Parameter::Image(rust) => format!("&'a ::offload_rt::{rust}"),
            Parameter::ImageMut(rust) => format!("&'a mut ::offload_rt::{rust}"),
            Parameter::Sampler => "&'a ::offload_rt::Sampler".to_string(),
            Parameter::Texture => "&'a ::offload_rt::Texture".to_string(),
            Parameter::Surface => "&'a mut ::offload_rt::Surface".to_string(),
        }
    }

    /// The Rust type of the elements of memory; `None` for other parameters.
    pub fn element_type(&self, generic: &str) -> Option<String> {
        match self {
            Parameter::Read(element) | Parameter::Write(element) | Parameter::Local(element) => {
                Some(element.rust(generic))
            }
            _ => None,
        }
    }

    /// The argument of the launch that the parameter `name` becomes.
    pub fn given(&self, name: &str, generic: &str) -> String {
        const ARG: &str = "::offload_rt::KernelArg";
        match self {
            Parameter::Value(Element::Sized(size)) => {
                format!("{ARG}::value_of_size::<{generic}, {size}>(&{name})")
            }
            Parameter::Read(Element::Sized(size)) => {
                format!("{ARG}::buffer_of_size::<{generic}, {size}>({name})")
            }
            Parameter::Write(Element::Sized(size)) => {
                format!("{ARG}::buffer_mut_of_size::<{generic}, {size}>({name})")
            }
            Parameter::Bool => format!("{ARG}::value(&u8::from({name}))"),
            Parameter::Value(_) => format!("{ARG}::value(&{name})"),
            Parameter::Read(element) => format!("{ARG}::buffer::<{}>({name})", element.rust(generic)),
            Parameter::Write(element) => format!("{ARG}::buffer_mut::<{}>({name})", element.rust(generic)),
            Parameter::Local(element) => format!("{ARG}::local::<{}>({name}.len())", element.rust(generic)),
            Parameter::Image(_) => format!("{ARG}::image({name})"),
            Parameter::ImageMut(_) => format!("{ARG}::image_mut({name})"),
            Parameter::Sampler => format!("{ARG}::sampler({name})"),
            Parameter::Texture => format!("{ARG}::texture({name})"),
            Parameter::Surface => format!("{ARG}::surface({name})"),
        }
    }
}

impl Element {
    fn rust(&self, generic: &str) -> String {
        match self {
            Element::Rust(text) => text.clone(),
            Element::Any { lanes, .. } => array(generic, *lanes),
            Element::Sized(_) => generic.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rust(kind: ArgKind, base_type: &str) -> String {
        for_argument(&ArgInfo::new(kind).with_base_type(base_type)).unwrap().rust("T")
    }

    #[test]
    fn scalars_and_vectors_are_rust_s() {
        let values = [
            ("float", "f32"),
            ("uchar", "u8"),
            ("long", "i64"),
            ("double2", "[f64; 2]"),
            ("uint3", "[u32; 4]"),
            ("float16", "[f32; 16]"),
            ("bool", "bool"),
            ("half", "T"),
            ("half4", "[T; 4]"),
            ("struct particle", "T"),
            ("vec5", "T"),
            ("float5", "T"),
        ];
        for (base, expected) in values {
            assert_eq!(rust(ArgKind::Value, base), expected, "{base}");
        }
    }

    #[test]
    fn sizes_are_those_of_opencl_c() {
        let sizes = [("float", 4), ("uchar", 1), ("double3", 32), ("half4", 8), ("bool", 1), ("short16", 32)];
        for (base, expected) in sizes {
            assert_eq!(size(base), Some(expected), "{base}");
        }
        assert_eq!(size("struct s"), None);
    }

    #[test]
    fn pointers_are_buffers_by_const() {
        let read = "impl Into<::offload_rt::Slice<'a, f32>>";
        assert_eq!(rust(ArgKind::Constant, "float"), read);
        assert_eq!(rust(ArgKind::Global, "float"), read.replace("Slice", "SliceMut"));
        assert_eq!(rust(ArgKind::Local, "uint"), "::offload_rt::Local<u32>");
        let constant = ArgInfo::new(ArgKind::Global).with_base_type("float").constant();
        assert_eq!(for_argument(&constant).unwrap().rust("T"), read);
        assert!(for_argument(&ArgInfo::new(ArgKind::Global).with_base_type("float*")).is_err());
        assert!(for_argument(&ArgInfo::new(ArgKind::Value)).is_err());
    }

    #[test]
    fn images_are_of_their_type_and_access() {
        assert_eq!(rust(ArgKind::Image, "image2d_t"), "&'a mut ::offload_rt::Image2d");
        let read = ArgInfo::new(ArgKind::Image).with_base_type("image1d_buffer_t").constant();
        assert_eq!(for_argument(&read).unwrap().rust("T"), "&'a ::offload_rt::Image1dBuffer");
        assert_eq!(rust(ArgKind::Sampler, "sampler_t"), "&'a ::offload_rt::Sampler");
        assert_eq!(rust(ArgKind::Value, "cudaTextureObject_t"), "&'a ::offload_rt::Texture");
        assert_eq!(rust(ArgKind::Value, "cudaSurfaceObject_t"), "&'a mut ::offload_rt::Surface");
        for base_type in ["", "image2d_depth_t", "image2d_msaa_t"] {
            let image = ArgInfo::new(ArgKind::Image).with_base_type(base_type);
            assert!(for_argument(&image).unwrap_err().contains("image"), "{base_type}");
        }
        // One variant writes it.
        let written = for_argument(&ArgInfo::new(ArgKind::Image).with_base_type("image1d_buffer_t")).unwrap();
        assert!(for_argument(&read).unwrap().merged(&written).is_err());
    }

    #[test]
    fn structures_have_the_size_of_the_kernel_s() {
        let value = ArgInfo::new(ArgKind::Value).with_base_type("struct s").with_size(48);
        assert_eq!(for_argument(&value), Ok(Parameter::Value(Element::Sized(48))));
        let global = ArgInfo::new(ArgKind::Global).with_base_type("struct s").with_element_size(12);
        let parameter = for_argument(&global).unwrap();
        assert_eq!(parameter.generic("T").unwrap().bound, Bound::Plain);
        assert!(parameter.given("x", "T").contains("::<T, 12>(x)"));
        // Another variant has another structure.
        let other = for_argument(&global.with_element_size(16)).unwrap();
        assert_eq!(
            parameter.merged(&other),
            Ok(Parameter::Write(Element::Any { bound: Bound::Plain, lanes: 1 }))
        );
    }

    #[test]
    fn what_variants_differ_in_is_any_type() {
        let float = for_argument(&ArgInfo::new(ArgKind::Global).with_base_type("float")).unwrap();
        let int = for_argument(&ArgInfo::new(ArgKind::Global).with_base_type("int")).unwrap();
        let merged = float.clone().merged(&int).unwrap();
        assert_eq!(merged.generic("T0").unwrap().bound, Bound::Plain);
        assert_eq!(float.clone().merged(&float).unwrap(), float);
        let local = for_argument(&ArgInfo::new(ArgKind::Local).with_base_type("float")).unwrap();
        assert!(float.merged(&local).is_err());
    }
}
