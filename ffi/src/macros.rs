//! From a row of a table to exported functions.
//!
//! ```text
//! export! { "y := alpha*x + y";
//!     both vector axpy(n: count, alpha: scalar, x: input, incx: int, y: output, incy: int);
//!     saxpy f32, daxpy f64, caxpy c32, zaxpy c64 }
//! ```
//! says: for each of the four names, export the body `axpy::<type>` as Fortran and as CBLAS, which take no layout
//! (`vector`). The signature is written once, in kinds; what C type a kind is depends on the API (`fortran_type!`,
//! `cblas_type!`), and so does how it is turned into what the body takes (`fortran_arg!`, `cblas_arg!`):
//!
//! | kind | Fortran | CBLAS | body |
//! |---|---|---|---|
//! | `int` | pointer | value | `isize` |
//! | `count` | pointer | value | `usize`; if it is not positive the function returns zero before looking at anything else |
//! | `trans` `uplo` `diag` `side` | character | enum | `Option` of the core's type |
//! | `scalar` | pointer | value, complex: pointer | pointer |
//! | `real` | pointer | value | pointer |
//! | `input` `output` | pointer | pointer, complex: `void *` | pointer to elements |
//! | `real_input` `real_output` | pointer | pointer | pointer to reals |
//! | `ints` `transes` `inputs` `outputs` | arrays of the above, for the batched routines | | pointer |
//!
//! Forms: `vector` has no layout; `matrix` has one in CBLAS only, as first argument; `ordered` has one in both. The
//! last two report bad arguments. `both` may be `fortran` or `cblas` where the other API has no such routine.
//!
//! Symbols of `daxpy`: `daxpy_`, `daxpy_64_`, `scipy_daxpy_`, `scipy_daxpy_64_`, and for CBLAS `cblas_daxpy`,
//! `cblas_daxpy_64` (Netlib, MKL), `cblas_daxpy64_` (OpenBLAS), `scipy_cblas_daxpy`, `scipy_cblas_daxpy64_` (the
//! wheels of NumPy and SciPy). They share the body; only the reading of the arguments is compiled for each.

/// What an array of this element type points to in C.
#[rustfmt::skip]
macro_rules! element {
    (f32) => { f32 };
    (f64) => { f64 };
    (c32) => { ::core::ffi::c_void };
    (c64) => { ::core::ffi::c_void };
}

#[rustfmt::skip]
macro_rules! real {
    (f32) => { f32 };
    (f64) => { f64 };
    (c32) => { f32 };
    (c64) => { f64 };
}

/// A scalar argument of CBLAS.
#[rustfmt::skip]
macro_rules! by_value {
    (c32) => { *const ::core::ffi::c_void };
    (c64) => { *const ::core::ffi::c_void };
    ($t:ident) => { $t };
}

#[rustfmt::skip]
macro_rules! returned {
    (unit, $int:ident, $t:ident) => { () };
    (double, $int:ident, $t:ident) => { f64 };
    (real, $int:ident, $t:ident) => { real!($t) };
    (fortran_index, $int:ident, $t:ident) => { $crate::types::$int };
    (cblas_index, $int:ident, $t:ident) => { $crate::types::CBLAS_INDEX };
    (scalar, $int:ident, c32) => { $crate::types::corten_complex_float };
    (scalar, $int:ident, c64) => { $crate::types::corten_complex_double };
    (scalar, $int:ident, $t:ident) => { $t };
}

#[rustfmt::skip]
macro_rules! fortran_type {
    (int, $int:ident, $t:ident) => { *const $crate::types::$int };
    (count, $int:ident, $t:ident) => { *const $crate::types::$int };
    (trans, $int:ident, $t:ident) => { *const ::core::ffi::c_char };
    (uplo, $int:ident, $t:ident) => { *const ::core::ffi::c_char };
    (diag, $int:ident, $t:ident) => { *const ::core::ffi::c_char };
    (side, $int:ident, $t:ident) => { *const ::core::ffi::c_char };
    (scalar, $int:ident, $t:ident) => { *const element!($t) };
    (real, $int:ident, $t:ident) => { *const real!($t) };
    (transes, $int:ident, $t:ident) => { *const ::core::ffi::c_char };
    ($kind:ident, $int:ident, $t:ident) => { array_type!($kind, $int, $t) };
}

#[rustfmt::skip]
macro_rules! cblas_type {
    (int, $int:ident, $t:ident) => { $crate::types::$int };
    (count, $int:ident, $t:ident) => { $crate::types::$int };
    (trans, $int:ident, $t:ident) => { $crate::types::CBLAS_TRANSPOSE };
    (uplo, $int:ident, $t:ident) => { $crate::types::CBLAS_UPLO };
    (diag, $int:ident, $t:ident) => { $crate::types::CBLAS_DIAG };
    (side, $int:ident, $t:ident) => { $crate::types::CBLAS_SIDE };
    (scalar, $int:ident, $t:ident) => { by_value!($t) };
    (real, $int:ident, $t:ident) => { real!($t) };
    (transes, $int:ident, $t:ident) => { *const $crate::types::CBLAS_TRANSPOSE };
    ($kind:ident, $int:ident, $t:ident) => { array_type!($kind, $int, $t) };
}

/// What is a pointer to the caller's arrays in both APIs.
#[rustfmt::skip]
macro_rules! array_type {
    (input, $int:ident, $t:ident) => { *const element!($t) };
    (output, $int:ident, $t:ident) => { *mut element!($t) };
    (real_input, $int:ident, $t:ident) => { *const real!($t) };
    (real_output, $int:ident, $t:ident) => { *mut real!($t) };
    (ints, $int:ident, $t:ident) => { *const $crate::types::$int };
    (inputs, $int:ident, $t:ident) => { *mut *const element!($t) };
    (outputs, $int:ident, $t:ident) => { *mut *mut element!($t) };
}

/// Rebinds an argument to what the body takes. Used where Fortran's rule holds that every scalar argument is a valid
/// pointer; `count` comes first in its signatures, so nothing else is followed when it is not positive.
macro_rules! fortran_arg {
    ($arg:ident, int, $t:ident) => {
        // SAFETY: Fortran passes every argument by a valid address.
        let $arg = unsafe { *$arg } as isize;
    };
    ($arg:ident, count, $t:ident) => {
        // SAFETY: Fortran passes every argument by a valid address.
        let $arg = unsafe { *$arg };
        if $arg <= 0 {
            return Default::default();
        }
        let $arg = $arg as usize;
    };
    ($arg:ident, trans, $t:ident) => {
        // SAFETY: Fortran passes every argument by a valid address; a character argument has at least one byte.
        let $arg = $crate::types::Flag::op(unsafe { *$arg });
    };
    ($arg:ident, uplo, $t:ident) => {
        // SAFETY: Fortran passes every argument by a valid address; a character argument has at least one byte.
        let $arg = $crate::types::Flag::uplo(unsafe { *$arg });
    };
    ($arg:ident, diag, $t:ident) => {
        // SAFETY: Fortran passes every argument by a valid address; a character argument has at least one byte.
        let $arg = $crate::types::Flag::diag(unsafe { *$arg });
    };
    ($arg:ident, side, $t:ident) => {
        // SAFETY: Fortran passes every argument by a valid address; a character argument has at least one byte.
        let $arg = $crate::types::Flag::side(unsafe { *$arg });
    };
    ($arg:ident, scalar, $t:ident) => {
        let $arg = $arg.cast::<$crate::types::$t>();
    };
    ($arg:ident, real, $t:ident) => {};
    ($arg:ident, $kind:ident, $t:ident) => {
        array_arg!($arg, $kind, $t);
    };
}

/// Rebinds an argument to what the body takes.
macro_rules! cblas_arg {
    ($arg:ident, int, $t:ident) => {
        let $arg = $arg as isize;
    };
    ($arg:ident, count, $t:ident) => {
        if $arg <= 0 {
            return Default::default();
        }
        let $arg = $arg as usize;
    };
    ($arg:ident, trans, $t:ident) => {
        let $arg = $crate::types::Flag::op($arg);
    };
    ($arg:ident, uplo, $t:ident) => {
        let $arg = $crate::types::Flag::uplo($arg);
    };
    ($arg:ident, diag, $t:ident) => {
        let $arg = $crate::types::Flag::diag($arg);
    };
    ($arg:ident, side, $t:ident) => {
        let $arg = $crate::types::Flag::side($arg);
    };
    ($arg:ident, scalar, c32) => {
        let $arg = $arg.cast::<$crate::types::c32>();
    };
    ($arg:ident, scalar, c64) => {
        let $arg = $arg.cast::<$crate::types::c64>();
    };
    ($arg:ident, scalar, $t:ident) => {
        let $arg = &raw const $arg;
    };
    ($arg:ident, real, $t:ident) => {
        let $arg = &raw const $arg;
    };
    ($arg:ident, $kind:ident, $t:ident) => {
        array_arg!($arg, $kind, $t);
    };
}

/// Complex arrays come as `void *`, integers in two widths, flags in two forms.
macro_rules! array_arg {
    ($arg:ident, input, $t:ident) => {
        let $arg = $arg.cast::<$crate::types::$t>();
    };
    ($arg:ident, output, $t:ident) => {
        let $arg = $arg.cast::<$crate::types::$t>();
    };
    ($arg:ident, inputs, $t:ident) => {
        let $arg = $arg.cast_const().cast::<*const $crate::types::$t>();
    };
    ($arg:ident, outputs, $t:ident) => {
        let $arg = $arg.cast_const().cast::<*mut $crate::types::$t>();
    };
    ($arg:ident, ints, $t:ident) => {
        let $arg = $crate::types::Ints::from($arg);
    };
    ($arg:ident, transes, $t:ident) => {
        let $arg = $crate::types::Ops::from($arg);
    };
    ($arg:ident, real_input, $t:ident) => {};
    ($arg:ident, real_output, $t:ident) => {};
}

/// The value that the C function returns, from that of the body.
macro_rules! returned_value {
    (fortran_index, $int:ident, $value:expr) => {
        $value.map_or(0, |index: usize| index as $crate::types::$int + 1)
    };
    (cblas_index, $int:ident, $value:expr) => {
        $value.unwrap_or(0)
    };
    ($ret:ident, $int:ident, $value:expr) => {
        $value
    };
}

/// One Fortran function of one integer width.
macro_rules! fortran_fn {
    ($doc:literal, $f:ident, $pre:literal, $post:literal, $api:ident, $int:ident,
     vector $body:ident ($($arg:ident: $kind:ident),*) $ret:ident $name:ident $t:ident) => {
        #[doc = $doc]
        #[unsafe(export_name = concat!($pre, stringify!($name), $post))]
        pub unsafe extern "C" fn $f($($arg: fortran_type!($kind, $int, $t)),*) -> returned!($ret, $int, $t) {
            $(fortran_arg!($arg, $kind, $t);)*
            // SAFETY: the caller vouches for the arrays, as the routine documents them.
            returned_value!($ret, $int, unsafe { super::$body::<$crate::types::$t>($($arg),*) })
        }
    };
    ($doc:literal, $f:ident, $pre:literal, $post:literal, $api:ident, $int:ident,
     matrix $body:ident ($($arg:ident: $kind:ident),*) $ret:ident $name:ident $t:ident) => {
        #[doc = $doc]
        #[unsafe(export_name = concat!($pre, stringify!($name), $post))]
        pub unsafe extern "C" fn $f($($arg: fortran_type!($kind, $int, $t)),*) {
            const CALL: &$crate::error::Call = &$crate::error::Call::new(stringify!($name), $crate::error::Api::$api);
            $(fortran_arg!($arg, $kind, $t);)*
            let layout = ::corten_core::matrix::Layout::ColMajor;
            // SAFETY: the caller vouches for the arrays, as the routine documents them.
            CALL.report(unsafe { super::$body::<$crate::types::$t>(CALL, layout, $($arg),*) })
        }
    };
    ($doc:literal, $f:ident, $pre:literal, $post:literal, $api:ident, $int:ident,
     ordered $body:ident ($($arg:ident: $kind:ident),*) $ret:ident $name:ident $t:ident) => {
        #[doc = $doc]
        #[unsafe(export_name = concat!($pre, stringify!($name), $post))]
        pub unsafe extern "C" fn $f(order: *const ::core::ffi::c_char, $($arg: fortran_type!($kind, $int, $t)),*) {
            const CALL: &$crate::error::Call =
                &$crate::error::Call::ordered(stringify!($name), $crate::error::Api::$api);
            // SAFETY: Fortran passes every argument by a valid address; a character argument has at least one byte.
            let order = $crate::types::Flag::layout(unsafe { *order });
            $(fortran_arg!($arg, $kind, $t);)*
            // SAFETY: the caller vouches for the arrays, as the routine documents them.
            CALL.report(unsafe { super::$body::<$crate::types::$t>(order, $($arg),*) })
        }
    };
}

/// One CBLAS function of one integer width.
macro_rules! cblas_fn {
    ($doc:literal, $f:ident, $pre:literal, $post:literal, $api:ident, $int:ident,
     vector $body:ident ($($arg:ident: $kind:ident),*) $ret:ident $name:ident $t:ident) => {
        #[doc = $doc]
        #[unsafe(export_name = concat!($pre, stringify!($name), $post))]
        pub unsafe extern "C" fn $f($($arg: cblas_type!($kind, $int, $t)),*) -> returned!($ret, $int, $t) {
            $(cblas_arg!($arg, $kind, $t);)*
            // SAFETY: the caller vouches for the arrays, as the routine documents them.
            returned_value!($ret, $int, unsafe { super::$body::<$crate::types::$t>($($arg),*) })
        }
    };
    ($doc:literal, $f:ident, $pre:literal, $post:literal, $api:ident, $int:ident,
     matrix $body:ident ($($arg:ident: $kind:ident),*) $ret:ident $name:ident $t:ident) => {
        #[doc = $doc]
        #[unsafe(export_name = concat!($pre, stringify!($name), $post))]
        pub unsafe extern "C" fn $f(layout: $crate::types::CBLAS_LAYOUT, $($arg: cblas_type!($kind, $int, $t)),*) {
            const CALL: &$crate::error::Call = &$crate::error::Call::new(stringify!($name), $crate::error::Api::$api);
            $(cblas_arg!($arg, $kind, $t);)*
            CALL.report(match $crate::types::Flag::layout(layout) {
                // SAFETY: the caller vouches for the arrays, as the routine documents them.
                Some(layout) => unsafe {
                    super::$body::<$crate::types::$t>(CALL, layout, $($arg),*)
                },
                None => Err($crate::types::Bad(0)),
            })
        }
    };
    ($doc:literal, $f:ident, $pre:literal, $post:literal, $api:ident, $int:ident,
     ordered $body:ident ($($arg:ident: $kind:ident),*) $ret:ident $name:ident $t:ident) => {
        #[doc = $doc]
        #[unsafe(export_name = concat!($pre, stringify!($name), $post))]
        pub unsafe extern "C" fn $f(layout: $crate::types::CBLAS_LAYOUT, $($arg: cblas_type!($kind, $int, $t)),*) {
            const CALL: &$crate::error::Call =
                &$crate::error::Call::ordered(stringify!($name), $crate::error::Api::$api);
            let layout = $crate::types::Flag::layout(layout);
            $(cblas_arg!($arg, $kind, $t);)*
            // SAFETY: the caller vouches for the arrays, as the routine documents them.
            CALL.report(unsafe { super::$body::<$crate::types::$t>(layout, $($arg),*) })
        }
    };
}

/// The four symbols of a Fortran routine.
macro_rules! fortran_symbols {
    ($doc:literal, $form:ident $body:ident $args:tt $ret:ident $name:ident $t:ident) => {
        fortran_fn!($doc, fortran, "", "_", Fortran, blas_int, $form $body $args $ret $name $t);
        fortran_fn!($doc, fortran_64, "", "_64_", Fortran64, blas_int64, $form $body $args $ret $name $t);
        fortran_fn!($doc, scipy, "scipy_", "_", ScipyFortran, blas_int, $form $body $args $ret $name $t);
        fortran_fn!($doc, scipy_64, "scipy_", "_64_", ScipyFortran64, blas_int64, $form $body $args $ret $name $t);
    };
}

/// The five symbols of a CBLAS routine.
macro_rules! cblas_symbols {
    ($doc:literal, $form:ident $body:ident $args:tt $ret:ident $name:ident $t:ident) => {
        cblas_fn!($doc, cblas, "cblas_", "", Cblas, CBLAS_INT, $form $body $args $ret $name $t);
        cblas_fn!($doc, cblas_64, "cblas_", "_64", Cblas64, CBLAS_INT64, $form $body $args $ret $name $t);
        cblas_fn!($doc, openblas_64, "cblas_", "64_", OpenblasCblas64, CBLAS_INT64, $form $body $args $ret $name $t);
        cblas_fn!($doc, scipy_cblas, "scipy_cblas_", "", ScipyCblas, CBLAS_INT, $form $body $args $ret $name $t);
        cblas_fn!($doc, scipy_cblas_64, "scipy_cblas_", "64_", ScipyCblas64, CBLAS_INT64,
            $form $body $args $ret $name $t);
    };
}

/// One routine of one type: a module with the routine's name around its functions.
macro_rules! routine {
    ($doc:literal, both $form:ident $body:ident $args:tt index $name:ident $t:ident) => {
        pub mod $name {
            fortran_symbols!($doc, $form $body $args fortran_index $name $t);
            cblas_symbols!($doc, $form $body $args cblas_index $name $t);
        }
    };
    ($doc:literal, cblas $form:ident $body:ident $args:tt index $name:ident $t:ident) => {
        pub mod $name {
            cblas_symbols!($doc, $form $body $args cblas_index $name $t);
        }
    };
    ($doc:literal, both $form:ident $body:ident $args:tt $ret:ident $name:ident $t:ident) => {
        pub mod $name {
            fortran_symbols!($doc, $form $body $args $ret $name $t);
            cblas_symbols!($doc, $form $body $args $ret $name $t);
        }
    };
    ($doc:literal, fortran $form:ident $body:ident $args:tt $ret:ident $name:ident $t:ident) => {
        pub mod $name {
            fortran_symbols!($doc, $form $body $args $ret $name $t);
        }
    };
    ($doc:literal, cblas $form:ident $body:ident $args:tt $ret:ident $name:ident $t:ident) => {
        pub mod $name {
            cblas_symbols!($doc, $form $body $args $ret $name $t);
        }
    };
}

/// A row of a table; see the head of this file.
macro_rules! export {
    ($doc:literal; $api:ident $form:ident $body:ident $args:tt -> $ret:ident; $($name:ident $t:ident),+ $(,)?) => {
        $(routine! { $doc, $api $form $body $args $ret $name $t })+
    };
    ($doc:literal; $api:ident $form:ident $body:ident $args:tt; $($name:ident $t:ident),+ $(,)?) => {
        $(routine! { $doc, $api $form $body $args unit $name $t })+
    };
}
