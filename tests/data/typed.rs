    ::offload_rt::typed_kernels! {
        ["saxpy", "sums", "vectors", "halves", "move", "blur"]
        typed {
            #[doc = "The kernel `saxpy` (typed.cl, line 9)."]
            #[doc = ""]
            #[doc = "Its arguments in the source:"]
            #[doc = ""]
            #[doc = "- `float a`"]
            #[doc = "- `global const float* x`"]
            #[doc = "- `global float* y`"]
            #[doc = "- `uint n`"]
            saxpy[0]<'a>(a: f32, x: impl Into<::offload_rt::Slice<'a, f32>>, y: impl Into<::offload_rt::SliceMut<'a, f32>>, n: u32) =
                [::offload_rt::KernelArg::value(&a), ::offload_rt::KernelArg::buffer::<f32>(x), ::offload_rt::KernelArg::buffer_mut::<f32>(y), ::offload_rt::KernelArg::value(&n)];
            #[doc = "The kernel `sums` (typed.cl, line 17)."]
            #[doc = ""]
            #[doc = "Its arguments in the source:"]
            #[doc = ""]
            #[doc = "- `constant float* weights`"]
            #[doc = "- `global const float* x`"]
            #[doc = "- `global float* sums`"]
            #[doc = "- `local float* scratch`"]
            sums[1]<'a>(weights: impl Into<::offload_rt::Slice<'a, f32>>, x: impl Into<::offload_rt::Slice<'a, f32>>, sums: impl Into<::offload_rt::SliceMut<'a, f32>>, scratch: ::offload_rt::Local<f32>) =
                [::offload_rt::KernelArg::buffer::<f32>(weights), ::offload_rt::KernelArg::buffer::<f32>(x), ::offload_rt::KernelArg::buffer_mut::<f32>(sums), ::offload_rt::KernelArg::local::<f32>(scratch.len())];
            #[doc = "The kernel `vectors` (typed.cl, line 26)."]
            #[doc = ""]
            #[doc = "Its arguments in the source:"]
            #[doc = ""]
            #[doc = "- `float4 by`"]
            #[doc = "- `uchar3 mask`"]
            #[doc = "- `long shift`"]
            #[doc = "- `global float4* x`"]
            vectors[2]<'a>(by: [f32; 4], mask: [u8; 4], shift: i64, x: impl Into<::offload_rt::SliceMut<'a, [f32; 4]>>) =
                [::offload_rt::KernelArg::value(&by), ::offload_rt::KernelArg::value(&mask), ::offload_rt::KernelArg::value(&shift), ::offload_rt::KernelArg::buffer_mut::<[f32; 4]>(x)];
            #[doc = "The kernel `halves` (typed.cl, line 28)."]
            #[doc = ""]
            #[doc = "Its arguments in the source:"]
            #[doc = ""]
            #[doc = "- `global const half* from`"]
            #[doc = "- `global float* to`"]
            halves[3]<'a, T0: ::offload_rt::Half>(from: impl Into<::offload_rt::Slice<'a, T0>>, to: impl Into<::offload_rt::SliceMut<'a, f32>>) =
                [::offload_rt::KernelArg::buffer::<T0>(from), ::offload_rt::KernelArg::buffer_mut::<f32>(to)];
            #[doc = "The kernel `move` (typed.cl, line 30)."]
            #[doc = ""]
            #[doc = "Its arguments in the source:"]
            #[doc = ""]
            #[doc = "- `particle by`"]
            #[doc = "- `global particle* self`"]
            #[doc = "- `uint type`"]
            r#move[4]<'a, T0: ::offload_rt::Plain, T1: ::offload_rt::Plain>(by: T0, self_: impl Into<::offload_rt::SliceMut<'a, T1>>, r#type: u32) =
                [::offload_rt::KernelArg::value(&by), ::offload_rt::KernelArg::buffer_mut::<T1>(self_), ::offload_rt::KernelArg::value(&r#type)];
        }
        untyped {
            #[doc = "The kernel `blur` (typed.cl, line 34)."]
            #[doc = ""]
            #[doc = "Untyped, because its argument 0, `from`, is an image, which offload-rt does not pass."]
            #[doc = ""]
            #[doc = "Its arguments in the source:"]
            #[doc = ""]
            #[doc = "- `image2d_t from`"]
            #[doc = "- `sampler_t sampler`"]
            #[doc = "- `global float4* to`"]
            blur[5];
        }
    }
