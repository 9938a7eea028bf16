//! The macros that tie a crate's generated module to its pack.

/// Includes the module that `offload_build::Build::compile("name")` has generated.
///
/// The module holds
///
/// - `load(&device)`, which loads the best image, and returns `Kernels`: a struct with a method for each kernel, unsafe
///   unless the build declares its bounds, which takes a [`Stream`](crate::Stream), an [`NdRange`](crate::NdRange) and the kernel's arguments, and returns when
///   the kernel is queued;
/// - `request()`, an [`ImageRequest`](crate::ImageRequest) for a variant, as `request().variant("N", 4).load(&device)`, or
///   with values for specialisation constants;
/// - where the module has specialisation constants, `Spec`, a struct with a field for each, as
///   `request().spec(blas::Spec { TILE: 32, ..Default::default() }).load(&device)`;
/// - `module()`, the [`Module`](crate::Module) of this crate's own kernels, and `NAME`.
///
/// It is public and has the name of the kernel module, unless the macro says otherwise:
///
/// ```text
/// // needs a build.rs that calls `offload_build::Build::new().file("saxpy.cl").compile("blas")`
/// offload_rt::include_kernels!("blas");
/// let blas = blas::load(&device)?; // once for each device
/// // kernel void saxpy(float a, global const float *x, global float *y, uint n)
/// unsafe { blas.saxpy(&stream, NdRange::linear_at_least(n, 256), 2.5, &x, &mut y, n as u32)? };
///
/// offload_rt::include_kernels!(pub(crate) mod kernels = "blas");
/// let blas = kernels::load(&device)?;
/// ```
///
/// An argument of another type, in another order or too many do not compile:
///
/// | in the kernel | in Rust |
/// |---|---|
/// | `float`, `int`, `uint`, `long`, ... | `f32`, `i32`, `u32`, `i64`, ... |
/// | `global const float *`, `constant float *` | `&Buffer<f32>`, or a [`Slice`](crate::Slice) of one |
/// | `global float *` | `&mut Buffer<f32>`, or a [`SliceMut`](crate::SliceMut) |
/// | `local float *` | [`Local<f32>`](crate::Local), as `Local::new(256)` |
/// | `float4`, `float3` | `[f32; 4]` |
/// | `half` | any [`Half`](crate::Half), as `u16` |
/// | `bool` | `bool` |
/// | `read_only image2d_t`, `write_only image2d_t`, and other images | `&Image2d`, `&mut Image2d`: an [`Image`](crate::Image) |
/// | `sampler_t` | `&Sampler`: a [`Sampler`](crate::Sampler) |
/// | a structure, by value or behind a pointer | any [`Plain`](crate::Plain) type; the launch compares the size of a value |
/// | a type that depends on the variant | any [`Plain`](crate::Plain) type |
///
/// A kernel of which only the sizes of its arguments are known has a method that returns the
/// [`Kernel`](crate::Kernel); its documentation says why. `program()` of `Kernels` is the
/// [`Program`](crate::Program), whose `kernel` looks up any kernel by its name.
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
            MODULE.get_or_init(|| unsafe { $crate::Module::at(NAME, $crate::__anchor_address!($anchor)) })
        }
    };
}

/// The same on systems for which offload-build writes no objects: the pack is part of the Rust.
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
            $crate::__included_pack!(BYTES, PACK, $pack);
            $crate::__included_slot!(PACK);
            MODULE.get_or_init(|| $crate::Module::included(NAME, &PACK))
        }
    };
}

/// The pack and its descriptor, in the section in which `cargo offload prune` and `repack` look for them.
#[cfg(windows)]
#[doc(hidden)]
#[macro_export]
macro_rules! __included_pack {
    ($bytes:ident, $descriptor:ident, $pack:expr) => {
        const INCLUDED: &[u8] = $pack;
        #[unsafe(link_section = ".offload$b")]
        static $bytes: $crate::__private::AlignedPack<[u8; INCLUDED.len()]> =
            $crate::__private::AlignedPack::copied(INCLUDED);
        #[unsafe(link_section = ".offload$a")]
        static $descriptor: $crate::__private::IncludedPack = $crate::__private::IncludedPack::new(&$bytes.0);
    };
}

/// The pack in a segment of its own, and its descriptor in the section, where `cargo offload prune` and `repack` look for
/// them.
#[cfg(target_vendor = "apple")]
#[doc(hidden)]
#[macro_export]
macro_rules! __included_pack {
    ($bytes:ident, $descriptor:ident, $pack:expr) => {
        const INCLUDED: &[u8] = $pack;
        #[unsafe(link_section = "__OFFLOAD,__packs")]
        static $bytes: $crate::__private::AlignedPack<[u8; INCLUDED.len()]> =
            $crate::__private::AlignedPack::copied(INCLUDED);
        #[unsafe(link_section = "__DATA,__offload_tab")]
        static $descriptor: $crate::__private::IncludedPack = $crate::__private::IncludedPack::new(&$bytes.0);
    };
}

/// The pack and its descriptor.
#[cfg(not(any(windows, target_vendor = "apple")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __included_pack {
    ($bytes:ident, $descriptor:ident, $pack:expr) => {
        static $bytes: &$crate::__private::AlignedPack<[u8]> = &$crate::__private::AlignedPack(*$pack);
        static $descriptor: $crate::__private::IncludedPack = $crate::__private::IncludedPack::new(&$bytes.0);
    };
}

/// A pointer to the pack in the section from which registries list included packs.
#[cfg(windows)]
#[doc(hidden)]
#[macro_export]
macro_rules! __included_slot {
    ($pack:ident) => {
        #[used]
        #[unsafe(link_section = ".vectors$offload_b")]
        static SLOT: $crate::__private::IncludedSlot = ::std::option::Option::Some(&$pack);
    };
}

/// A pointer to the pack in the section from which registries list included packs.
#[cfg(target_vendor = "apple")]
#[doc(hidden)]
#[macro_export]
macro_rules! __included_slot {
    ($pack:ident) => {
        #[used]
        #[unsafe(link_section = "__DATA,__offload,regular,no_dead_strip")]
        static SLOT: $crate::__private::IncludedSlot = ::std::option::Option::Some(&$pack);
    };
}

/// A pointer to the pack in the section from which registries list included packs.
#[cfg(all(
    unix,
    not(target_vendor = "apple"),
    not(target_family = "wasm"),
    not(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))
))]
#[doc(hidden)]
#[macro_export]
macro_rules! __included_slot {
    ($pack:ident) => {
        #[used]
        #[unsafe(link_section = "set_offload")]
        static SLOT: $crate::__private::IncludedSlot = ::std::option::Option::Some(&$pack);
    };
}

/// Nothing where there is no such section.
#[cfg(any(
    not(any(windows, all(unix, not(target_family = "wasm")))),
    all(target_os = "linux", target_pointer_width = "64", target_endian = "little")
))]
#[doc(hidden)]
#[macro_export]
macro_rules! __included_slot {
    ($pack:ident) => {};
}

/// The typed kernels of a generated module: `Kernels`, `request` and `load`, beside the function `module`.
///
/// ```no_run
/// #![forbid(unsafe_code)]
/// #![deny(missing_docs)]
/// //! A crate with kernels.
///
/// /// The kernels of the module `blas`.
/// pub mod blas {
///     ::offload_rt::included_kernel_module!("blas", b"the bytes of a pack");
///     ::offload_rt::typed_kernels! {
///         ["scale", "clear", "blur"]
///         typed {
///             /// The kernel `scale`.
///             scale[0]<'a>(factor: f32, x: impl Into<::offload_rt::SliceMut<'a, f32>>) =
///                 [::offload_rt::KernelArg::value(&factor), ::offload_rt::KernelArg::buffer_mut::<f32>(x)];
///         }
///         bounded {
///             /// The kernel `clear`.
///             clear[1]<'a>(x: impl Into<::offload_rt::SliceMut<'a, f32>>) =
///                 [::offload_rt::KernelArg::buffer_mut::<f32>(x)] where |offload_range| [
///                     ::offload_rt::__private::Bound::argument::<f32>(
///                         0, "global_size(0)", ::offload_rt::__private::Extent::global_size(&offload_range, 0)),
///                 ];
///         }
///         untyped {
///             /// Untyped, because its argument 0 is a pointer to pointers.
///             blur[2];
///         }
///     }
/// }
/// # fn main() {
/// # assert!(blas::load(&offload_rt::Device::host()).is_err());
/// # }
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! typed_kernels {
    (
        [$($entry:literal),* $(,)?]
        typed {
            $(
                $(#[$about:meta])*
                $method:ident[$index:literal]<$lifetime:lifetime $(, $generic:ident: $bound:path)*>($($arg:ident: $type:ty),* $(,)?) =
                    [$($given:expr),* $(,)?];
            )*
        }
        $(bounded {
            $(
                $(#[$bounded_about:meta])*
                $bounded:ident[$bounded_index:literal]<$bounded_lifetime:lifetime $(, $bounded_generic:ident: $bounded_bound:path)*>($($bounded_arg:ident: $bounded_type:ty),* $(,)?) =
                    [$($bounded_given:expr),* $(,)?] where |$range:ident| [$($limit:expr),* $(,)?];
            )*
        })?
        untyped {
            $(
                $(#[$untyped_about:meta])*
                $untyped:ident[$untyped_index:literal];
            )*
        }
    ) => {
        /// The kernels, loaded for a device, with a method for each; made by [`load`].
        #[derive(Debug)]
        pub struct Kernels {
            loaded: $crate::__private::LoadedKernels,
        }

        /// A request for the kernels of a variant, or with values for specialisation constants; its `load` returns
        /// [`Kernels`].
        pub fn request() -> $crate::ImageRequest<'static, Kernels> {
            module().request().typed()
        }

        /// Loads the best image for `device` and looks up its kernels; call it once for each device. It is
        /// [`request`] without options.
        ///
        /// Parts of a split module are loaded when one of their kernels is first used.
        ///
        /// # Errors
        /// The module has variants, no image fits the device, it is damaged, or the driver refuses it. A kernel that
        /// the device's image lacks fails when it is launched.
        pub fn load(device: &$crate::Device) -> ::std::result::Result<Kernels, $crate::Error> {
            request().load(device)
        }

        impl ::std::convert::From<$crate::Program> for Kernels {
            fn from(program: $crate::Program) -> Kernels {
                Kernels { loaded: $crate::__private::LoadedKernels::new(program, &[$($entry),*]) }
            }
        }

        #[allow(
            non_snake_case,
            clippy::too_many_arguments,
            clippy::should_implement_trait,
            reason = "names and arguments are the kernels'"
        )]
        impl Kernels {
            /// The program of the kernels: their device, their records, and any kernel by its name.
            pub fn program(&self) -> &$crate::Program {
                self.loaded.program()
            }

            $(
                $(#[$about])*
                ///
                /// Puts the kernel into `stream` over `range`, and returns at once.
                ///
                /// # Errors
                /// Those of `Kernel::launch` of offload-rt; or the image for this device lacks the kernel.
                ///
                /// # Safety
                /// For this range and these arguments the kernel stays within its buffers, its work-items do not race,
                /// and other streams use its buffers only after an event orders them.
                pub unsafe fn $method<$lifetime $(, $generic: $bound)*>(
                    &self,
                    stream: &$crate::Stream,
                    range: $crate::NdRange,
                    $($arg: $type),*
                ) -> ::std::result::Result<(), $crate::Error> {
                    // SAFETY: the contract is the same, and the caller's to keep.
                    unsafe { self.loaded.launch($index, stream, range, &[$($given),*]) }
                }
            )*
            $($(
                $(#[$bounded_about])*
                ///
                /// Puts the kernel into `stream` over `range`, and returns at once. It is safe because the build script
                /// declares how much of its memory the kernel accesses, and this compares that with the arguments.
                ///
                /// # Errors
                /// An argument is smaller than the declared bound; those of `Kernel::launch` of offload-rt; or the image
                /// for this device lacks the kernel.
                pub fn $bounded<$bounded_lifetime $(, $bounded_generic: $bounded_bound)*>(
                    &self,
                    stream: &$crate::Stream,
                    $range: $crate::NdRange,
                    $($bounded_arg: $bounded_type),*
                ) -> ::std::result::Result<(), $crate::Error> {
                    let limits = [$($limit),*];
                    self.loaded.launch_within($bounded_index, stream, $range, &mut [$($bounded_given),*], &limits)
                }
            )*)?
            $(
                $(#[$untyped_about])*
                ///
                /// # Errors
                /// The image for this device lacks it.
                pub fn $untyped(&self) -> ::std::result::Result<&$crate::Kernel, $crate::Error> {
                    self.loaded.kernel($untyped_index)
                }
            )*
        }
    };
}

/// The specialisation constants of a generated module: `Spec`, beside what `typed_kernels!` makes.
///
/// ```no_run
/// #![forbid(unsafe_code)]
/// #![deny(missing_docs)]
/// //! A crate with kernels.
///
/// /// The kernels of the module `blas`.
/// pub mod blas {
///     ::offload_rt::included_kernel_module!("blas", b"the bytes of a pack");
///     ::offload_rt::typed_kernels! { [] typed {} untyped {} }
///     ::offload_rt::spec_constants! {
///         /// `int TILE`, 16 by default.
///         TILE["TILE"]: i32 = 16;
///     }
/// }
/// # fn main() {
/// # let spec = blas::Spec { TILE: 32, ..Default::default() };
/// # assert!(blas::request().spec(spec).load(&offload_rt::Device::host()).is_err());
/// # }
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! spec_constants {
    ($($(#[$about:meta])* $field:ident[$name:literal]: $type:ty = $default:expr;)*) => {
        /// Values for the specialisation constants of the kernels, for `request().spec(...)`.
        #[allow(non_snake_case, reason = "names are the constants'")]
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct Spec {
            $($(#[$about])* pub $field: $type,)*
        }

        impl ::std::default::Default for Spec {
            fn default() -> Spec {
                Spec { $($field: $default,)* }
            }
        }

        impl ::std::convert::From<&Spec> for $crate::Specialization {
            fn from(spec: &Spec) -> $crate::Specialization {
                $crate::Specialization::new()$(.with($name, spec.$field))*
            }
        }

        impl ::std::convert::From<Spec> for $crate::Specialization {
            fn from(spec: Spec) -> $crate::Specialization {
                $crate::Specialization::from(&spec)
            }
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
