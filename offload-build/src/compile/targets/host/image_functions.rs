//! The functions of OpenCL C on images and samplers. There is one for each type of image, access and coordinates: those
//! that a module calls are written for it, as calls of the functions of `host_images.c`. What the headers of CUDA C++ call
//! for textures and surfaces is in `host_textures.c`.
//!
//! PoCL's library has such functions too, for images of PoCL's runtime.

use std::collections::BTreeSet;
use std::fmt::Write;

use offload_workgroup::ir::declared_functions;

/// What the functions call.
const CORE: &str = include_str!("../../device/host_images.c");

/// What the headers of CUDA C++ call, over `CORE`.
const TEXTURES: &str = include_str!("../../device/host_textures.c");

/// How their names begin.
const OF_TEXTURES: [&str; 2] = ["__offload_texture_", "__offload_surface_"];

/// What clang makes samplers of, which sources write as constants.
const SAMPLER: &str = "__translate_sampler_initializer";

/// An image type of OpenCL C.
#[derive(Clone, Copy, Debug)]
struct ImageType {
    name: &'static str,
    dimensions: usize,
    is_array: bool,
}

/// The types of which a program has images.
const TYPES: [ImageType; 6] = [
    ImageType { name: "image1d", dimensions: 1, is_array: false },
    ImageType { name: "image1d_array", dimensions: 1, is_array: true },
    ImageType { name: "image1d_buffer", dimensions: 1, is_array: false },
    ImageType { name: "image2d", dimensions: 2, is_array: false },
    ImageType { name: "image2d_array", dimensions: 2, is_array: true },
    ImageType { name: "image3d", dimensions: 3, is_array: false },
];

/// Whether the CPU has images of the type `name`, as `image2d_t`.
pub(super) fn has_type(name: &str) -> bool {
    name.strip_suffix("_t").is_some_and(|name| TYPES.iter().any(|one| one.name == name))
}

/// Whether a module with this symbol needs a function on images.
pub(crate) fn is_of_images(symbol: &str) -> bool {
    Function::for_symbol(symbol).is_some() || is_of_textures(symbol)
}

fn is_of_textures(symbol: &str) -> bool {
    OF_TEXTURES.iter().any(|prefix| symbol.starts_with(prefix))
}

/// C of the functions that `modules` call, if they call some.
pub(super) fn source(modules: &[String]) -> Option<String> {
    let mut symbols = BTreeSet::new();
    symbols.extend(modules.iter().flat_map(|module| declared_functions(module)));
    let mut definitions = String::new();
    if symbols.iter().any(|symbol| is_of_textures(symbol)) {
        definitions.push_str(TEXTURES);
    }
    for (index, symbol) in symbols.into_iter().enumerate() {
        let Some(Function { result, parameters, body }) = Function::for_symbol(symbol) else { continue };
        // Writing to a String does not fail.
        let _ = writeln!(
            definitions,
            "{result} function{index}({parameters}) __asm__(\"{symbol}\");\n\
             {result} function{index}({parameters}) {{ {body}; }}"
        );
    }
    (!definitions.is_empty()).then(|| format!("{CORE}{definitions}"))
}

/// A function, in C.
#[derive(Debug, PartialEq, Eq)]
struct Function {
    result: &'static str,
    parameters: String,
    body: String,
}

impl Function {
    /// The function with this symbol, if it is one on images: `_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_i`.
    fn for_symbol(symbol: &str) -> Option<Function> {
        if symbol == SAMPLER {
            return Some(Function {
                result: "sampler_t",
                parameters: "int value".to_string(),
                body: "return (sampler_t)(u64)value".to_string(),
            });
        }
        let (name, rest) = first_name(symbol.strip_prefix("_Z")?)?;
        let name = name.strip_prefix("_cl_").unwrap_or(name);
        let (image, rest) = first_name(rest)?;
        let (image, _access) = image.strip_prefix("ocl_")?.rsplit_once('_')?;
        let image = TYPES.iter().find(|one| one.name == image)?;
        match name {
            "read_imagef" => Some(image.read("f4", "f", rest)),
            "read_imagei" => Some(image.read("i4", "i", rest)),
            "read_imageui" => Some(image.read("u4", "ui", rest)),
            "read_imageh" => Some(image.read("h4", "h", rest)),
            "write_imagef" => Some(image.write("f4", "f")),
            "write_imagei" => Some(image.write("i4", "i")),
            "write_imageui" => Some(image.write("u4", "ui")),
            "write_imageh" => Some(image.write("h4", "h")),
            _ => image.query(name),
        }
    }
}

impl ImageType {
    /// A read; `rest` are the mangled types behind that of the image.
    fn read(&self, result: &'static str, suffix: &str, rest: &str) -> Function {
        let (sampler, given, coordinates) = match rest.strip_prefix("11ocl_sampler") {
            Some(coordinates) => ("sampler_t sampler, ", "sampler", coordinates),
            None => ("", "0", rest),
        };
        let is_float = coordinates.ends_with('f');
        let (function, scalar, vector) =
            if is_float { ("read", "float", "f") } else { ("fetch", "int", "i") };
        let coordinate = self.coordinate(scalar, vector);
        let widened = self.widened(vector);
        let ImageType { dimensions, is_array, .. } = *self;
        let is_array = u8::from(is_array);
        Function {
            result,
            parameters: format!("image_t image, {sampler}{coordinate}"),
            body: format!("return {function}_{suffix}(image, {given}, {widened}, {dimensions}, {is_array})"),
        }
    }

    fn write(&self, color: &str, suffix: &str) -> Function {
        Function {
            result: "void",
            parameters: format!("image_t image, {}, {color} color", self.coordinate("int", "i")),
            body: format!("write_{suffix}(image, {}, color)", self.widened("i")),
        }
    }

    fn query(&self, name: &str) -> Option<Function> {
        let (result, value) = match name {
            "get_image_width" => ("int", "image->extent[0]"),
            "get_image_height" => ("int", "image->extent[1]"),
            "get_image_depth" => ("int", "image->extent[2]"),
            "get_image_channel_data_type" => ("int", "image->type"),
            "get_image_channel_order" => ("int", "image->order"),
            "get_image_dim" if self.dimensions == 3 => {
                ("i4", "(i4){image->extent[0], image->extent[1], image->extent[2], 0}")
            }
            "get_image_dim" => ("i2", "(i2){image->extent[0], image->extent[1]}"),
            "get_image_array_size" if self.dimensions == 1 => ("u64", "image->extent[1]"),
            "get_image_array_size" => ("u64", "image->extent[2]"),
            _ => return None,
        };
        Some(Function { result, parameters: "image_t image".to_string(), body: format!("return {value}") })
    }

    /// The number of coordinates.
    fn coordinates(&self) -> usize {
        self.dimensions.saturating_add(usize::from(self.is_array))
    }

    /// The parameter for the coordinates: a number, or a vector of two or four.
    fn coordinate(&self, scalar: &str, vector: &str) -> String {
        match self.coordinates() {
            1 => format!("{scalar} at"),
            2 => format!("{vector}2 at"),
            _ => format!("{vector}4 at"),
        }
    }

    /// The coordinates as a vector of four.
    fn widened(&self, vector: &str) -> String {
        match self.coordinates() {
            1 => format!("({vector}4){{at, 0, 0, 0}}"),
            2 => format!("({vector}4){{at.x, at.y, 0, 0}}"),
            _ => format!("({vector}4){{at.x, at.y, at.z, 0}}"),
        }
    }
}

/// `11read_imagef14ocl...` to the name and the rest.
fn first_name(mangled: &str) -> Option<(&str, &str)> {
    let digits = mangled.find(|c: char| !c.is_ascii_digit())?;
    let length: usize = mangled.get(..digits)?.parse().ok()?;
    mangled.get(digits..)?.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_become_functions() {
        for (symbol, expected) in [
            (
                "_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_f",
                "f4(image_t image, sampler_t sampler, f2 at) \
                 return read_f(image, sampler, (f4){at.x, at.y, 0, 0}, 2, 0)",
            ),
            (
                "_Z12read_imageui20ocl_image1d_array_rwDv2_i",
                "u4(image_t image, i2 at) return fetch_ui(image, 0, (i4){at.x, at.y, 0, 0}, 1, 1)",
            ),
            (
                "_Z11read_imagei21ocl_image1d_buffer_roi",
                "i4(image_t image, int at) return fetch_i(image, 0, (i4){at, 0, 0, 0}, 1, 0)",
            ),
            (
                "_Z12write_imagei14ocl_image3d_woDv4_iS0_",
                "void(image_t image, i4 at, i4 color) write_i(image, (i4){at.x, at.y, at.z, 0}, color)",
            ),
            ("_Z20get_image_array_size20ocl_image2d_array_ro", "u64(image_t image) return image->extent[2]"),
            ("__translate_sampler_initializer", "sampler_t(int value) return (sampler_t)(u64)value"),
        ] {
            let Function { result, parameters, body } = Function::for_symbol(symbol).unwrap();
            assert_eq!(format!("{result}({parameters}) {body}"), expected);
        }
    }

    #[test]
    fn other_functions_are_left() {
        for symbol in [
            "_Z11read_imagef20ocl_image2d_depth_ro11ocl_samplerDv2_i",
            "_Z6helper14ocl_image2d_ro",
            "_Z7_cl_sinf",
            "_Z99x",
        ] {
            assert_eq!(Function::for_symbol(symbol), None, "{symbol}");
        }
        assert!(has_type("image1d_buffer_t") && !has_type("image2d_depth_t") && !has_type("image2d"));
        assert_eq!(source(&["declare float @_Z7_cl_sinf(float)\n".to_string()]), None);
    }

    #[test]
    fn textures_of_cuda_have_functions() {
        let module = "declare <4 x float> @__offload_texture_fetch_f(i64, i32)\n".to_string();
        assert!(source(&[module]).unwrap().contains("__offload_texture_fetch_##suffix"));
        assert!(is_of_images("__offload_surface_write") && !is_of_images("__offload_textile"));
    }
}
