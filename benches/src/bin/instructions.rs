//! Packs, unpacks or checks records with the kernels of one instruction set, for an emulator to count instructions.
//!
//! ```console
//! cargo build --release -p dtype-benches --bin instructions --target aarch64-unknown-linux-gnu
//! qemu-aarch64 -singlestep -d nochain,exec -D log -L /usr/aarch64-linux-gnu instructions neon pack f64_u8 1000 1
//! ```
//!
//! A line of the log is an instruction. docs/src/figures.md says how to get those of a record from it.

use std::env;
use std::hint::black_box;
use std::process::exit;

use dtype_runtime::isa::{Isa, select};
use dtype_runtime::{Datatype, pack_into, packed_size, unpack_into};

/// Does the work on `count` records of zeros, `repetitions` times.
fn run<T: Datatype + Copy + Default>(work: &str, count: usize, repetitions: usize) {
    let mut records = vec![T::default(); count];
    let mut packed = vec![0; packed_size::<T>(count)];
    for _ in 0..repetitions {
        let done = match work {
            "pack" => pack_into(black_box(&records), black_box(&mut packed)).is_ok(),
            "unpack" => unpack_into(black_box(&packed), black_box(&mut records)).is_ok(),
            _ => false,
        };
        assert!(done, "packs or unpacks, not {work}");
    }
}

macro_rules! shapes {
    ($($name:ident($($field:ty),+);)+) => {
        $(
            #[derive(Clone, Copy, Datatype, Default)]
            #[repr(C)]
            #[allow(non_camel_case_types, reason = "names for the command line")]
            struct $name($($field),+);
        )+

        const SHAPES: &[(&str, fn(&str, usize, usize))] = &[$((stringify!($name), run::<$name>)),+];
    };
}

shapes! {
    u64_u32(u64, u32);
    f64_u8(f64, u8);
    u64_5u8(u64, [u8; 5]);
    u8_u16_u32_u64(u8, u16, u32, u64);
    u32_u64_u32_u64(u32, u64, u32, u64);
    f64_bool(f64, bool);
    u16_char_bool_f32(u16, char, bool, f32);
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [isa, work, shape, count, repetitions] = arguments.as_slice() else {
        eprintln!("usage: instructions ISA pack|unpack SHAPE COUNT REPETITIONS");
        exit(2);
    };
    let isa = Isa::ALL.iter().find(|one| one.name() == isa).expect("an instruction set");
    select(*isa).expect("one that the machine has");
    let (_, run) = SHAPES.iter().find(|(name, _)| name == shape).expect("a shape");
    let number = |text: &str| text.parse().expect("a number");
    run(work, number(count), number(repetitions));
}
