//! The macros that tie a crate's generated module to its pack, and what they call.

use crate::registry::Module;

/// Includes the module that `offload_build::Build::compile("name")` has generated.
///
/// The module holds `NAME` and `module()`, which returns the [`Module`](crate::Module) of this crate's own kernels. It is
/// public and has the name of the kernel module, unless the macro says otherwise:
///
/// ```text
/// // needs a build.rs that calls `offload_build::Build::new().file("saxpy.cl").compile("blas")`
/// offload_rt::include_kernels!("blas");
/// let program = blas::module().open(&offload_rt::Device::host())?;
///
/// offload_rt::include_kernels!(pub(crate) mod kernels = "blas");
/// let program = kernels::module().open(&offload_rt::Device::host())?;
/// ```
#[macro_export]
macro_rules! include_kernels {
    ($name:literal) => {
        $crate::__compiled_module!($name);
        include!(concat!(env!("OUT_DIR"), "/", $name, ".offload.rs"));
    };
    ($(#[$attribute:meta])* $visibility:vis mod $module:ident = $name:literal) => {
        #[doc = concat!("The kernels of the module `", $name, "`.")]
        $(#[$attribute])*
        $visibility mod $module {
            $crate::__compiled_module!($name);
            include!(concat!(env!("OUT_DIR"), "/", $name, ".kernels.rs"));
        }
    };
}

/// Fails with the names of the modules that there are, unless build.rs has compiled `$name`.
#[doc(hidden)]
#[macro_export]
macro_rules! __compiled_module {
    ($name:literal) => {
        const _: &str = env!(
            concat!("offload_module_", $name),
            concat!(
                "build.rs compiles no kernel module `",
                $name,
                "`; there are: ",
                env!(
                    "offload_modules",
                    "build.rs compiles no kernel module: it calls no `compile` of offload-build"
                )
            )
        );
    };
}

/// Generated modules consist of this: the kernel module's name and the symbol on its pack's descriptor.
///
/// The code that is unsafe in it comes from this crate, so that the crate that uses it may forbid unsafe code:
///
/// ```no_run
/// #![forbid(unsafe_code)]
/// #![deny(missing_docs)]
/// //! A crate with kernels.
///
/// /// The kernels of the module `blas`.
/// pub mod blas {
///     ::offload_rt::kernel_module!("blas", __offload_anchor_0123abcd);
/// }
///
/// # fn main() {
/// assert_eq!(blas::module().name(), blas::NAME);
/// # }
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! kernel_module {
    ($name:literal, $anchor:ident) => {
        /// The name of this kernel module.
        pub const NAME: &str = $name;

        /// The images of this kernel module, as this crate's own build made them; found at the first call.
        pub fn module() -> &'static $crate::Module {
            static MODULE: ::std::sync::OnceLock<$crate::Module> = ::std::sync::OnceLock::new();
            unsafe extern "C" {
                static $anchor: u8;
            }
            // SAFETY: offload-build puts the symbol on a descriptor in the same linked module.
            MODULE.get_or_init(|| unsafe {
                $crate::__private::module(NAME, $crate::__anchor_address!($anchor))
            })
        }
    };
}

/// The same where programs carry no images: the pack, which says why, is part of the Rust.
///
/// ```no_run
/// #![forbid(unsafe_code)]
///
/// pub mod blas {
///     ::offload_rt::included_kernel_module!("blas", b"the bytes of a pack");
/// }
///
/// # fn main() {
/// assert_eq!(blas::module().name(), blas::NAME);
/// # }
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! included_kernel_module {
    ($name:literal, $pack:expr) => {
        /// The name of this kernel module.
        pub const NAME: &str = $name;

        /// The images of this kernel module, as this crate's own build made them; found at the first call.
        pub fn module() -> &'static $crate::Module {
            static MODULE: ::std::sync::OnceLock<$crate::Module> = ::std::sync::OnceLock::new();
            MODULE.get_or_init(|| $crate::__private::included_module(NAME, $pack))
        }
    };
}

/// The address of a hidden symbol, without an entry in the global offset table and its relocation.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __anchor_address {
    ($anchor:ident) => {{
        let address: *const u8;
        ::std::arch::asm!(
            ".hidden {anchor}",
            "lea {address}, [rip + {anchor}]",
            address = out(reg) address,
            anchor = sym $anchor,
            options(pure, nomem, nostack, preserves_flags),
        );
        address
    }};
}

/// The address of a hidden symbol, without an entry in the global offset table and its relocation.
#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __anchor_address {
    ($anchor:ident) => {{
        let address: *const u8;
        ::std::arch::asm!(
            ".hidden {anchor}",
            "adrp {address}, {anchor}",
            "add {address}, {address}, :lo12:{anchor}",
            address = out(reg) address,
            anchor = sym $anchor,
            options(pure, nomem, nostack, preserves_flags),
        );
        address
    }};
}

/// The address of a symbol.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[doc(hidden)]
#[macro_export]
macro_rules! __anchor_address {
    ($anchor:ident) => {
        &raw const $anchor
    };
}

/// The module `name` of the pack whose descriptor lies at `descriptor`.
///
/// # Safety
/// `descriptor` lies in the executable or shared library that the caller is linked into.
pub unsafe fn module(name: &'static str, descriptor: *const u8) -> Module {
    Module::at(name, descriptor)
}

/// The module `name` of `pack`.
pub fn included_module(name: &'static str, pack: &'static [u8]) -> Module {
    Module::included(name, pack)
}
