//! The boundary to C: what each function of `dtype.h` does before and after its body.
//!
//! [`functions`] defines them. The kind of an argument, in brackets, says what its pointer is for:
//!
//! | kind | in C | in the body |
//! |---|---|---|
//! | `[&T]`, `[&mut T]` | `const T *`, `T *`, a handle | [`In`](crate::arguments::In) |
//! | `[new T]` | `T **`, for a new handle | [`Out`](crate::arguments::Out) |
//! | `[out T]` | `T *`, for a result | [`Out`](crate::arguments::Out) |
//! | `[T; number]` | `const T *`, of `number` elements | [`Array`](crate::arguments::Array) |
//! | `[mut T; number]` | `T *`, of `number` elements | [`Room`](crate::arguments::Room) |
//! | `[bytes; size]`, `[mut bytes; size]` | `const void *`, `void *` | the same, of bytes |
//! | `[memory; size]`, `[mut memory; size]` | `const void *`, `void *`, an origin | [`Memory`](crate::memory::Memory) |
//!
//! A body is run by [`boundary`], and each block of functions also lists their declarations in C, which a test compares with
//! `dtype.h`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{DTYPE_ERROR_INTERNAL, DTYPE_OK, Failure, dtype_error, report};

/// A function's name, and the types of its arguments in C.
pub(crate) type Declaration = (&'static str, &'static [&'static str]);

/// A struct's name and size, and the offset of each field.
pub(crate) type Layout = (&'static str, usize, &'static [(&'static str, usize)]);

/// Runs the body of a function, and turns its failure, or a panic, into a code. A panic ends the program where the library was
/// compiled to abort.
#[inline(always)]
pub(crate) fn boundary(body: impl FnOnce() -> Result<(), Failure>) -> dtype_error {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => DTYPE_OK,
        Ok(Err(failure)) => report(&failure),
        Err(_) => {
            report(&Failure::new(DTYPE_ERROR_INTERNAL, "a fault of the library: it panicked"))
        }
    }
}

/// Defines functions, and `$list` with their declarations.
macro_rules! functions {
    ($list:ident: $(
        $(#[$doc:meta])*
        fn $name:ident($($argument:ident: $kind:tt),* $(,)?) $body:block
    )*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            ///
            /// Each pointer is NULL, or what `dtype.h` says: a handle that lives until the function returns; readable or writable
            /// for as many elements as the argument beside it says, or wherever data lie; and borrowed for as long as it says.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(
                $($argument: $crate::boundary::rust_type!($kind)),*
            ) -> $crate::error::dtype_error {
                $( $crate::boundary::bind!($argument $kind); )*
                $crate::boundary::boundary(|| $body)
            }
        )*

        pub(crate) const $list: &[$crate::boundary::Declaration] =
            &[$((stringify!($name), &[$($crate::boundary::c_type!($kind)),*])),*];
    };
}

/// Defines the function that ends a reference.
macro_rules! release {
    ($name:ident, $object:ident) => {
        /// Removes a reference.
        ///
        /// # Safety
        ///
        /// The pointer is NULL, or a handle of which the caller owns a reference.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(object: *mut $object) {
            // SAFETY: NULL, or a handle with a reference of the caller.
            unsafe { $crate::handle::release(object) }
        }
    };
}

// One line for each kind.
#[rustfmt::skip]
macro_rules! rust_type {
    ([&mut $object:ident]) => { *mut $object };
    ([& $object:ident]) => { *const $object };
    ([new $object:ident]) => { *mut *mut $object };
    ([out $t:ident]) => { *mut $t };
    ([bytes; $size:ident]) => { *const std::ffi::c_void };
    ([mut bytes; $size:ident]) => { *mut std::ffi::c_void };
    ([memory; $size:ident]) => { *const std::ffi::c_void };
    ([mut memory; $size:ident]) => { *mut std::ffi::c_void };
    ([handles $object:ident; $number:ident]) => { *const *const $object };
    ([pointers; $number:ident]) => { *const *const std::ffi::c_void };
    ([mut pointers; $number:ident]) => { *const *mut std::ffi::c_void };
    ([mut $t:ident; $number:tt]) => { *mut $t };
    ([$t:ident; $number:tt]) => { *const $t };
    ($t:ident) => { $t };
}

#[rustfmt::skip]
macro_rules! argument {
    ($name:ident [&mut $object:ident]) => { In::new($name, stringify!($name)) };
    ($name:ident [& $object:ident]) => { In::new($name, stringify!($name)) };
    ($name:ident [new $object:ident]) => { Out::new($name, stringify!($name)) };
    ($name:ident [out $t:ident]) => { Out::new($name, stringify!($name)) };
    ($name:ident [bytes; $size:ident]) => { Array::<u8>::new($name.cast(), $size, stringify!($name)) };
    ($name:ident [mut bytes; $size:ident]) => { Room::<u8>::new($name.cast(), $size, stringify!($name)) };
    ($name:ident [memory; $size:ident]) => { Memory::new($name, $size) };
    ($name:ident [mut memory; $size:ident]) => { Memory::new($name.cast_const(), $size) };
    ($name:ident [handles $object:ident; $number:ident]) => { Array::new($name, $number, stringify!($name)) };
    ($name:ident [pointers; $number:ident]) => { Array::<*mut u8>::new($name.cast(), $number, stringify!($name)) };
    ($name:ident [mut pointers; $number:ident]) => { Array::<*mut u8>::new($name.cast(), $number, stringify!($name)) };
    ($name:ident [mut c_char; $number:tt]) => { Room::<u8>::new($name.cast(), $number, stringify!($name)) };
    ($name:ident [c_char; $number:tt]) => { Array::<u8>::new($name.cast(), $number, stringify!($name)) };
    ($name:ident [mut $t:ident; $number:tt]) => { Room::new($name, $number, stringify!($name)) };
    ($name:ident [$t:ident; $number:tt]) => { Array::new($name, $number, stringify!($name)) };
}

macro_rules! bind {
    ($name:ident [$($kind:tt)*]) => {
        // SAFETY: the pointer is NULL, or what `dtype.h` says, as the function's `# Safety` demands; the kind is that of the
        // declaration there.
        let $name = unsafe {
            #[allow(unused_imports, reason = "one of them is used")]
            use $crate::{arguments::{Array, In, Out, Room}, memory::Memory};
            $crate::boundary::argument!($name [$($kind)*])
        };
    };
    ($name:ident $number:ident) => {};
}

#[rustfmt::skip]
macro_rules! c_type {
    ([&mut $object:ident]) => { concat!(stringify!($object), " *") };
    ([& $object:ident]) => { concat!("const ", stringify!($object), " *") };
    ([new $object:ident]) => { concat!(stringify!($object), " **") };
    ([out $t:ident]) => { concat!($crate::boundary::c_type!($t), " *") };
    ([bytes; $size:ident]) => { "const void *" };
    ([mut bytes; $size:ident]) => { "void *" };
    ([memory; $size:ident]) => { "const void *" };
    ([mut memory; $size:ident]) => { "void *" };
    ([handles $object:ident; $number:ident]) => { concat!("const ", stringify!($object), " *const *") };
    ([pointers; $number:ident]) => { "const void *const *" };
    ([mut pointers; $number:ident]) => { "void *const *" };
    ([mut $t:ident; $number:tt]) => { concat!($crate::boundary::c_type!($t), " *") };
    ([$t:ident; $number:tt]) => { concat!("const ", $crate::boundary::c_type!($t), " *") };
    (i32) => { "int32_t" };
    (i64) => { "int64_t" };
    (u64) => { "uint64_t" };
    (usize) => { "size_t" };
    (bool) => { "bool" };
    (c_char) => { "char" };
    (iovec) => { "struct iovec" };
    ($other:ident) => { stringify!($other) };
}

/// Defines structs of `dtype.h`, and `$list` with their layouts.
macro_rules! structs {
    ($list:ident: $($name:ident { $($field:ident: $t:ty),* $(,)? })*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` of `dtype.h`.")]
            #[allow(non_camel_case_types, reason = "the name in dtype.h")]
            #[allow(missing_docs, reason = "dtype.h has them")]
            #[repr(C)]
            #[derive(Clone, Copy, Debug)]
            pub struct $name { $(pub $field: $t),* }
        )*

        pub(crate) const $list: &[$crate::boundary::Layout] = &[$((
            stringify!($name),
            size_of::<$name>(),
            &[$((stringify!($field), std::mem::offset_of!($name, $field))),*],
        )),*];
    };
}

pub(crate) use {argument, bind, c_type, functions, release, rust_type, structs};
