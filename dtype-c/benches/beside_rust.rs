//! The calls of the shared library beside the same calls of the engine, in one run.
//!
//! Usage: `DTYPE_LIBRARY=PREFIX/lib/libdtype.so cargo bench -p dtype-c --bench beside_rust`. Without the variable, and in tests, it
//! measures nothing.

use std::env;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::hint::black_box;
use std::mem::transmute_copy;
use std::os::unix::ffi::OsStrExt;
use std::ptr;
use std::time::Instant;

use dtype_c::{dtype_committed, dtype_error, dtype_packer, dtype_type};
use dtype_runtime::{Basic, Committed, Packer, Type};

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

type Unmarshal = unsafe extern "C" fn(*const c_void, usize, *mut *mut dtype_type) -> dtype_error;
type Commit = unsafe extern "C" fn(*const dtype_type, *mut *mut dtype_committed) -> dtype_error;
type PackedSize = unsafe extern "C" fn(*const dtype_committed, usize, *mut usize) -> dtype_error;
type Pack = unsafe extern "C" fn(
    *const dtype_committed,
    *const c_void,
    usize,
    usize,
    *mut c_void,
    usize,
    *mut usize,
) -> dtype_error;
type Unpack = unsafe extern "C" fn(
    *const dtype_committed,
    *const c_void,
    usize,
    *mut c_void,
    usize,
    usize,
) -> dtype_error;
type NewPacker = unsafe extern "C" fn(
    *const dtype_committed,
    *const c_void,
    usize,
    usize,
    *mut *mut dtype_packer,
) -> dtype_error;
type NextPiece =
    unsafe extern "C" fn(*mut dtype_packer, *mut c_void, usize, *mut usize) -> dtype_error;
type Seek = unsafe extern "C" fn(*mut dtype_packer, u64) -> dtype_error;

struct Library(*mut c_void);

impl Library {
    /// # Safety
    ///
    /// `F` must be the type of this function of `dtype.h`.
    unsafe fn function<F>(&self, name: &CStr) -> F {
        // SAFETY: the library is open, and the name ends in a zero byte.
        let address = unsafe { dlsym(self.0, name.as_ptr()) };
        assert!(!address.is_null(), "{name:?} is not in the library");
        // SAFETY: the function's address, of the type that the caller guarantees.
        unsafe { transmute_copy(&address) }
    }
}

/// The least of some rounds, in nanoseconds for each call: what other programs do on the machine only adds to it.
fn time(calls: u32, mut call: impl FnMut()) -> f64 {
    let round = |call: &mut dyn FnMut()| {
        let start = Instant::now();
        for _ in 0..calls {
            call();
        }
        start.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
    };
    (0..40).map(|_| round(&mut call)).fold(f64::INFINITY, f64::min)
}

fn report(what: &str, rust: f64, c: f64) {
    println!(
        "{what:48} Rust {rust:10.1} ns   C {c:10.1} ns   +{:6.1} ns   {:.3}",
        c - rust,
        c / rust
    );
}

/// `struct { double place[3]; int8_t charge; }` and others, with the bytes of an instance in memory.
fn layouts() -> Vec<(&'static str, Type, usize)> {
    let basic = Type::basic;
    let particle =
        Type::structure(&[3, 1], &[0, 24], &[basic(Basic::F64), basic(Basic::I8)]).unwrap();
    let five = [Basic::F64, Basic::I32, Basic::I16, Basic::F64, Basic::U8].map(basic);
    let mixed = Type::structure(&[1; 5], &[0, 8, 12, 16, 32], &five).unwrap();
    let row = Type::resized(&Type::vector(8, 1, 2, &basic(Basic::F32)).unwrap(), 0, 64).unwrap();
    // Blocks of one to three values at irregular distances.
    let lengths: Vec<u64> = (0..1000).map(|i| 1 + i % 3).collect();
    let places: Vec<i64> = (0..1000).map(|i| 64 * i + i * i % 5 * 8).collect();
    let list = Type::hindexed(&lengths, &places, &basic(Basic::F64)).unwrap();
    let list = Type::resized(&list, 0, 64 * 1000).unwrap();
    let even = Type::hindexed_block(1, &places, &basic(Basic::F32)).unwrap();
    let even = Type::resized(&even, 0, 64 * 1000).unwrap();
    let fields: Vec<Type> =
        (0..24).map(|i| basic([Basic::U8, Basic::I32, Basic::F64][i % 3])).collect();
    let places: Vec<i64> = (0..24).map(|i| i * 12).collect();
    let wide = Type::structure(&[1; 24], &places, &fields).unwrap();
    let wide = Type::resized(&wide, 0, 288).unwrap();
    vec![
        ("list of 1000", list, 64_000),
        ("even list of 1000", even, 64_000),
        ("struct of 24 fields", wide, 288),
        ("struct, 25 of 32", particle, 32),
        ("struct, 23 of 40", mixed, 40),
        ("vector, 8 × 4 of 64", row, 64),
    ]
}

#[expect(clippy::too_many_lines, reason = "each call twice, one after another")]
fn main() {
    let Some(path) = env::var_os("DTYPE_LIBRARY") else {
        println!("DTYPE_LIBRARY is not set: nothing is measured");
        return;
    };
    let path = CString::new(path.as_bytes()).unwrap();
    // SAFETY: opens a library, whose initialisers are those of Rust's standard library. 2 is RTLD_NOW.
    let library = Library(unsafe { dlopen(path.as_ptr(), 2) });
    assert!(!library.0.is_null(), "{path:?} cannot be opened");
    // SAFETY: the types are those of the functions in dtype.h, which tests/header.rs compares with these.
    let (unmarshal, commit, packed_size, pack, unpack, new_packer, next_piece, seek) = unsafe {
        (
            library.function::<Unmarshal>(c"dtype_type_unmarshal"),
            library.function::<Commit>(c"dtype_commit"),
            library.function::<PackedSize>(c"dtype_packed_size"),
            library.function::<Pack>(c"dtype_pack"),
            library.function::<Unpack>(c"dtype_unpack"),
            library.function::<NewPacker>(c"dtype_packer_new"),
            library.function::<NextPiece>(c"dtype_packer_pack"),
            library.function::<Seek>(c"dtype_packer_seek"),
        )
    };
    for (name, ty, extent) in layouts() {
        let bytes = ty.marshal();
        let (mut c_type, mut c) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the bytes of a type; the results are live handles.
        unsafe {
            assert_eq!(unmarshal(bytes.as_ptr().cast(), bytes.len(), &raw mut c_type), 0);
            assert_eq!(commit(c_type, &raw mut c), 0);
        }
        let rust: Committed = ty.commit();
        let one = usize::try_from(ty.size()).unwrap();
        let sizes = (
            time(200_000, || drop(black_box(black_box(&rust).packed_size(black_box(3))))),
            time(200_000, || {
                let mut size = 0;
                // SAFETY: a live handle, and a place for the result.
                unsafe { packed_size(black_box(c), black_box(3), &raw mut size) };
                black_box(size);
            }),
        );
        report(&format!("{name}: packed_size"), sizes.0, sizes.1);
        for count in [1_usize, 16, 1000, 100_000] {
            if extent * count > 1 << 25 {
                continue;
            }
            let mut memory = vec![1_u8; extent * count];
            let mut packed = vec![0_u8; one * count];
            let calls = u32::try_from((1 << 19) / (one * count)).unwrap().clamp(3, 20_000);
            let from_rust = time(calls, || {
                black_box(rust.pack(black_box(&memory[..]), black_box(count), &mut packed))
                    .unwrap();
            });
            let from_c = time(calls, || {
                let (mut size, out) = (0, packed.as_mut_ptr().cast());
                // SAFETY: a live handle; the instances lie in the memory, and there is room for their packed bytes.
                let code = unsafe {
                    let from = black_box(&memory).as_ptr().cast();
                    pack(c, from, extent * count, black_box(count), out, one * count, &raw mut size)
                };
                assert_eq!(code, 0);
                black_box(size);
            });
            report(&format!("{name}: pack {count}"), from_rust, from_c);
            let from_rust = time(calls, || {
                black_box(rust.unpack(black_box(&packed), &mut memory[..], black_box(count)))
                    .unwrap();
            });
            let from_c = time(calls, || {
                let to = memory.as_mut_ptr().cast();
                // SAFETY: a live handle; the instances lie in the memory.
                let code = unsafe {
                    let from = black_box(&packed).as_ptr().cast();
                    unpack(c, from, one * count, to, extent * count, black_box(count))
                };
                assert_eq!(code, 0);
            });
            report(&format!("{name}: unpack {count}"), from_rust, from_c);
        }
        // A message in fragments of 64 bytes and of 8 KiB.
        let count = (1 << 22) / extent;
        let memory = vec![1_u8; extent * count];
        for piece in [64_usize, 8192] {
            let mut out = vec![0_u8; piece];
            // SAFETY: the instances lie in the memory, which outlives the packer.
            let mut packer = unsafe { Packer::from_raw(&rust, memory.as_ptr(), count) }.unwrap();
            let pieces = u32::try_from(one * count / piece).unwrap();
            let from_rust = time(20, || {
                packer.set_position(0).unwrap();
                for _ in 0..pieces {
                    black_box(packer.pack(black_box(&mut out)));
                }
            });
            let mut c_packer = ptr::null_mut();
            // SAFETY: a live handle; the memory outlives the packer.
            unsafe {
                let from = memory.as_ptr().cast();
                assert_eq!(new_packer(c, from, extent * count, count, &raw mut c_packer), 0);
            }
            let from_c = time(20, || {
                // SAFETY: a live handle, and room for a piece.
                unsafe {
                    assert_eq!(seek(c_packer, 0), 0);
                    for _ in 0..pieces {
                        let (mut size, to) = (0, black_box(&mut out).as_mut_ptr().cast());
                        next_piece(c_packer, to, piece, &raw mut size);
                        black_box(size);
                    }
                }
            });
            let each = f64::from(pieces);
            report(&format!("{name}: fragment of {piece}"), from_rust / each, from_c / each);
        }
    }
}
