//! Explanations of plans.

#![allow(dead_code, reason = "only the layout of the structs counts")]

use crate::alone;
use dtype_runtime::explain::ExplainStyle;
use dtype_runtime::isa::{Isa, select};
use dtype_runtime::{Basic, Datatype, Representation, Type};
use dtype_test_support::seeds::{basic, seed_000};

#[derive(Datatype)]
#[repr(u8)]
enum Kind {
    Free,
    Fixed,
}

#[derive(Datatype)]
#[repr(C)]
struct Site {
    mass: f64,
    tags: [u16; 3],
    kind: Kind,
}

#[derive(Datatype)]
#[repr(C)]
struct Body {
    name: [u8; 5],
    sites: [Site; 2],
    #[dtype(skip)]
    cache: u64,
    at: (f32, f32),
}

/// The explanation for some instances.
fn words(ty: &Type, instances: u64) -> String {
    ty.commit().explain(&ExplainStyle::default().with_instances(instances)).to_string()
}

#[test]
fn plans_in_words() {
    let _alone = alone();
    // With the portable kernels, the text is the same on every machine.
    select(Isa::Portable).unwrap();
    assert_eq!(
        words(&seed_000(), 1),
        "\
1 instance: 30 packed bytes from 3 pieces of memory
copy of 26 bytes at 0, kernel copy
2 copies of 2 bytes at 28, every 4, kernel copy
"
    );
    for len in [1, 13, 64, 65] {
        let before = Type::hindexed(&[len], &[-5], &basic(Basic::U8)).unwrap();
        let bytes = if len == 1 { "byte" } else { "bytes" };
        let line = format!("\ncopy of {len} {bytes} at -5, kernel copy\n");
        assert!(words(&before, 1).ends_with(&line), "{line}");
    }
    let column =
        Type::resized(&Type::vector(64, 1, 64, &basic(Basic::F64)).unwrap(), 0, 8).unwrap();
    assert_eq!(
        words(&column, 64),
        "\
64 instances: 32768 packed bytes from 4096 pieces of memory
loop of 64, stride 8: 64 copies of 8 bytes at 0, every 512, kernel grid8
"
    );
    assert_eq!(words(&column, 0), "0 instances: 0 packed bytes from 0 pieces of memory\nnothing\n");
    assert_eq!(
        words(&Type::of::<Body>(), 1000),
        "\
1000 instances: 43000 packed bytes from 3001 pieces of memory
loop of 1000, stride 56, kernel records, 3 runs
  copy of 5 bytes at 0
  2 copies of 15 bytes at 8, every 16
  copy of 8 bytes at 48
"
    );
    let three = Type::hindexed(&[1, 2, 1], &[0, 4, 9], &basic(Basic::U8)).unwrap();
    if select(Isa::Avx512).is_ok() {
        assert_eq!(
            words(&three, 1),
            "\
1 instance: 4 packed bytes from 3 pieces of memory
at once, kernel permute
  copy of 1 byte at 0
  copy of 2 bytes at 4
  copy of 1 byte at 9
"
        );
    } else {
        println!("left out: no AVX-512 in this machine");
    }
    select(Isa::Portable).unwrap();
    assert_eq!(
        words(&three, 1),
        "\
1 instance: 4 packed bytes from 3 pieces of memory
copy of 1 byte at 0, kernel copy
copy of 2 bytes at 4, kernel copy
copy of 1 byte at 9, kernel copy
"
    );
    let places: Vec<i64> = (0..40).map(|i| i * (i + 3) / 2).collect();
    let list = Type::indexed_block(1, &places, &basic(Basic::U32)).unwrap();
    assert_eq!(
        words(&list, 1),
        "\
1 instance: 160 packed bytes from 40 pieces of memory
list of 40 blocks of 4 bytes each, kernel list4
"
    );
    assert_eq!(words(&list, 0), "0 instances: 0 packed bytes from 0 pieces of memory\nnothing\n");
    let many = words(&list, u64::MAX);
    let text = "18446744073709551615 instances: 2951479051793528258400 packed bytes, \
                more than can be addressed\n";
    assert_eq!(many, text);
    let longs = Type::vector(4, 1, 2, &basic(Basic::F64)).unwrap().commit();
    let big = if cfg!(target_endian = "little") {
        Representation::BigEndian
    } else {
        Representation::LittleEndian
    };
    assert_eq!(
        longs
            .conversion(big)
            .unwrap()
            .explain(&ExplainStyle::default().with_instances(1).with_lines(9))
            .to_string(),
        "\
1 instance: 32 packed bytes, each 8 of them reversed
4 copies of 8 bytes at 0, every 16
"
    );
}
