//! The kernels that the engine chooses for shapes and numbers of instances or values, with each instruction set. Every kernel
//! copies the right bytes, so no other test notices another choice.

#![allow(dead_code, reason = "only the layout of the structs counts")]

use std::fmt::Write;

use crate::alone;
use dtype_runtime::explain::{self, ExplainStyle};
use dtype_runtime::isa::{Isa, select};
use dtype_runtime::{Basic, Datatype, Error, Order, Type};

/// The shape, the number of instances, and the kernels that pack them: portable, with AVX2, with AVX-512, and with NEON. `=`
/// repeats the column before. After `each:` come the kernels for the operations of one instance, or of one repetition of a loop. The number after
/// a name says how many records the kernel copies at once. If the test fails, it prints the new table.
const DECISIONS: &str = "\
4.2             |    1 | copy                  | =                     | =                     | =
4.2             |    2 | copy                  | =                     | permute, 8            | copy
4.2             |    7 | copy                  | =                     | permute, 8            | copy
4.2             | 1000 | strided4+2            | =                     | permute, 8            | strided4+2
8.4.1           |    1 | copy                  | =                     | =                     | =
8.4.1           |    2 | copy                  | =                     | permute, 4            | copy
8.4.1           |    7 | copy                  | =                     | permute, 4            | copy
8.4.1           |   25 | strided8x2            | =                     | permute, 4            | strided8x2
8.4.1           | 1000 | strided8x2            | =                     | permute, 4            | strided8x2
1 8             |    1 | copy                  | =                     | =                     | =
1 8             |    2 | copy                  | =                     | permute, 4            | copy
1 8             |    3 | copy                  | =                     | permute, 4            | copy
1 8             |    7 | copy                  | =                     | permute, 4            | copy
1 8             |   16 | records, 1 run        | =                     | permute, 4            | records, 1 run
1 8             | 1000 | records, 1 run        | =                     | permute, 4            | records, 1 run
1 2 1           |    1 | copy                  | =                     | permute               | copy
4 8             |    1 | copy                  | =                     | =                     | =
4 8             |    2 | copy                  | =                     | permute, 4            | copy
4 8             |    7 | copy                  | =                     | permute, 4            | copy
4 8             |   16 | records, 1 run        | =                     | permute, 4            | records, 1 run
4 8             | 1000 | records, 1 run        | =                     | permute, 4            | records, 1 run
1 2.4.8.1       |    2 | copy                  | =                     | permute, 2            | copy
1 2.4.8.1       |    7 | copy                  | =                     | permute, 2            | copy
1 2.4.8.1       | 1000 | records, 2 runs       | =                     | permute, 2            | records, 2 runs
12 12           |    1 | copy                  | =                     | =                     | =
12 12           |    2 | strided8+4            | =                     | permute, 4            | strided8+4
12 12           |    7 | strided8+4            | =                     | permute, 4            | strided8+4
12 12           | 1000 | strided8+4            | =                     | permute, 4            | strided8+4
6 fields        |    1 | copy                  | =                     | permute               | copy
6 fields        |    2 | copy                  | =                     | permute               | copy
6 fields        |    7 | records, 6 runs       | =                     | permute               | records, 6 runs
6 fields        | 1000 | records, 6 runs       | =                     | permute               | records, 6 runs
53              |    2 | copy                  | =                     | =                     | =
53              |    7 | strided32x2           | =                     | =                     | =
53              | 1000 | strided32x2           | =                     | =                     | =
69              |    2 | copy                  | =                     | =                     | =
69              |    7 | strided_long          | =                     | =                     | =
69              | 1000 | strided_long          | =                     | =                     | =
40 40           |    1 | copy                  | =                     | =                     | =
40 40           |    2 | strided32+8           | =                     | =                     | =
40 40           | 1000 | strided32+8           | =                     | =                     | =
2 196           |    2 | each: copy            | =                     | =                     | =
2 196           |    7 | records, 2 runs       | =                     | =                     | =
2 196           | 1000 | records, 2 runs       | =                     | =                     | =
1 1 1, apart    |    2 | each: copy            | =                     | =                     | =
1 1 1, apart    |    7 | records, 3 runs       | =                     | =                     | =
1 1 1, apart    | 1000 | records, 3 runs       | =                     | =                     | =
1 1 1, too far  |    7 | each: copy            | =                     | =                     | =
24, dense       |    1 | copy                  | =                     | =                     | =
24, dense       | 1000 | copy                  | =                     | =                     | =
4 by 8          |    1 | strided4              | =                     | =                     | =
4 by 8          | 1000 | grid4                 | =                     | permute               | grid4
blocks of 1     |    1 | strided1              | =                     | permute, 7            | strided1
blocks of 1     |    3 | grid1                 | =                     | permute, 7            | grid1
blocks of 3     |    1 | strided2+1            | =                     | permute, 5            | strided2+1
blocks of 8     |    1 | strided8              | =                     | =                     | =
blocks of 8     |    3 | grid8                 | =                     | =                     | =
blocks of 12    |    1 | strided8+4            | =                     | permute, 2            | strided8+4
blocks of 13    |    1 | strided8x2            | =                     | permute, 2            | strided8x2
blocks of 24    |    1 | strided16+8           | =                     | =                     | =
blocks of 48    |    1 | strided32x2           | =                     | =                     | =
blocks of 64    |    1 | strided32x2           | =                     | =                     | =
blocks of 100   |    1 | strided_long          | =                     | =                     | =
blocks of 100   |    3 | grid_long             | =                     | =                     | =
pairs in rows   |    1 | grid8                 | =                     | =                     | =
grid of 4       |    1 | grid4                 | =                     | =                     | =
grid of 4       |    3 | each: grid4           | =                     | =                     | =
face, thin      |    1 | grid8                 | =                     | =                     | =
face of pairs   |    1 | grid16                | =                     | =                     | =
face of rows    |    1 | strided_long          | =                     | =                     | =
slab            |    1 | grid_long             | =                     | =                     | =
15 columns      |    1 | grid8                 | =                     | =                     | =
16 columns      |    1 | grid8                 | =                     | =                     | =
transpose of 4  |    1 | grid4                 | =                     | =                     | =
transpose of 8  |    1 | grid8                 | =                     | =                     | =
big transpose   |    1 | tiles                 | =                     | =                     | =
list of 1       |    1 | list1                 | =                     | =                     | =
list of 2 to 4  |    1 | list2x2               | =                     | =                     | =
list of 4       |    1 | list4                 | =                     | =                     | =
list of 4       |    3 | each: list4           | =                     | =                     | =
list of 12      |    1 | list8+4               | =                     | =                     | =
list of 100     |    1 | list_long             | =                     | =                     | =
list of 4 to 12 |    1 | list4x4               | =                     | list_masked32         | list4x4
list of 1 to 30 |    1 | list_varied           | =                     | list_masked32         | list_varied
list of 8 to 96 |    1 | list_varied           | =                     | =                     | =
records in rows |    1 | records, 6 runs       | =                     | permute               | records, 6 runs
records in rows |   10 | each: records, 6 runs | =                     | each: permute         | each: records, 6 runs
wide in rows    |    1 | grid32+8              | =                     | =                     | =
short loops     |    1 | list8                 | =                     | =                     | =
short loops     |    3 | each: list8           | =                     | =                     | =
";

/// As [`DECISIONS`], for slices of derived types. `copy` is inlined moves; `none` means that no one kernel copies all of them.
const SLICES: &str = "\
0               | 1000 | none                  | =                     | =                     | =
8               |    1 | copy                  | =                     | =                     | =
8               | 1000 | copy                  | =                     | =                     | =
16.16           | 1000 | copy                  | =                     | =                     | =
4.2             |    1 | copy                  | =                     | =                     | =
4.2             |    2 | copy                  | =                     | =                     | =
4.2             |    7 | copy                  | =                     | =                     | =
4.2             |   16 | copy                  | shuffle, 4            | permute, 8            | shuffle, 4
4.2             |   25 | copy                  | shuffle, 4            | permute, 8            | shuffle, 4
4.2             | 1000 | copy                  | shuffle, 4            | permute, 8            | shuffle, 4
8.1             |    1 | copy                  | =                     | =                     | =
8.1             |    2 | copy                  | =                     | =                     | =
8.1             |    7 | copy                  | =                     | =                     | =
8.1             |   16 | copy                  | =                     | =                     | =
8.1             |   25 | copy                  | shuffle, 2            | permute, 4            | shuffle, 2
8.1             | 1000 | copy                  | shuffle, 2            | permute, 4            | shuffle, 2
8.4.1           |    1 | copy                  | =                     | =                     | =
8.4.1           |    7 | copy                  | =                     | =                     | =
8.4.1           |   16 | copy                  | shuffle, 2            | permute, 4            | shuffle, 2
8.4.1           |   25 | copy                  | shuffle, 2            | permute, 4            | shuffle, 2
8.4.1           | 1000 | copy                  | shuffle, 2            | permute, 4            | shuffle, 2
16.1            |    1 | copy                  | =                     | =                     | =
16.1            |    7 | copy                  | =                     | =                     | =
16.1            |   16 | copy                  | =                     | =                     | =
16.1            |   25 | copy                  | =                     | =                     | =
16.1            | 1000 | copy                  | =                     | permute, 2            | copy
1 8             |    1 | copy                  | =                     | =                     | =
1 8             |    7 | copy                  | =                     | =                     | =
1 8             |   16 | copy                  | =                     | =                     | =
1 8             |   25 | copy                  | shuffle, 2            | permute, 4            | shuffle, 2
1 8             | 1000 | copy                  | shuffle, 2            | permute, 4            | shuffle, 2
2 4             |    1 | copy                  | =                     | =                     | =
2 4             |    7 | copy                  | =                     | =                     | =
2 4             |   16 | copy                  | shuffle, 4            | permute, 8            | shuffle, 4
2 4             |   25 | copy                  | shuffle, 4            | permute, 8            | shuffle, 4
2 4             | 1000 | copy                  | shuffle, 4            | permute, 8            | shuffle, 4
4 8             |    1 | copy                  | =                     | =                     | =
4 8             |    7 | copy                  | =                     | =                     | =
4 8             |   16 | copy                  | =                     | =                     | =
4 8             |   25 | copy                  | shuffle, 2            | permute, 4            | shuffle, 2
4 8             | 1000 | copy                  | shuffle, 2            | permute, 4            | shuffle, 2
1 2 4           |    1 | copy                  | =                     | =                     | =
1 2 4           |    7 | copy                  | =                     | =                     | =
1 2 4           |   16 | copy                  | shuffle, 4            | permute, 8            | shuffle, 4
1 2 4           |   25 | copy                  | shuffle, 4            | permute, 8            | shuffle, 4
1 2 4           | 1000 | copy                  | shuffle, 4            | permute, 8            | shuffle, 4
4 8 4 8         |    1 | copy                  | =                     | =                     | =
4 8 4 8         |    7 | copy                  | =                     | =                     | =
4 8 4 8         |   16 | copy                  | shuffle, 1            | permute, 2            | shuffle, 1
4 8 4 8         |   25 | copy                  | shuffle, 1            | permute, 2            | shuffle, 1
4 8 4 8         |  100 | copy                  | shuffle, 1            | permute, 2            | shuffle, 1
4 8 4 8         | 1000 | copy                  | shuffle, 1            | permute, 2            | shuffle, 1
1 2.4.8.1       |    1 | copy                  | =                     | =                     | =
1 2.4.8.1       |    7 | copy                  | shuffle, 1            | copy                  | shuffle, 1
1 2.4.8.1       |   16 | copy                  | shuffle, 1            | permute, 2            | shuffle, 1
1 2.4.8.1       | 1000 | copy                  | shuffle, 1            | permute, 2            | shuffle, 1
8.1 4 8         |    1 | copy                  | =                     | =                     | =
8.1 4 8         |    7 | copy                  | =                     | =                     | =
8.1 4 8         |   16 | copy                  | shuffle, 4            | permute, 2            | shuffle, 4
8.1 4 8         | 1000 | copy                  | shuffle, 4            | permute, 2            | shuffle, 4
8 (8) 8         |    1 | copy                  | =                     | =                     | =
8 (8) 8         |    7 | copy                  | =                     | =                     | =
8 (8) 8         |   16 | copy                  | =                     | =                     | =
8 (8) 8         |   25 | copy                  | =                     | =                     | =
8 (8) 8         |  100 | copy                  | =                     | =                     | =
8 (8) 8         | 1000 | copy                  | =                     | =                     | =
4 (1) 4         |    1 | copy                  | =                     | =                     | =
4 (1) 4         |    7 | copy                  | =                     | =                     | =
4 (1) 4         |   16 | copy                  | =                     | =                     | =
4 (1) 4         |   25 | copy                  | =                     | =                     | =
4 (1) 4         | 1000 | copy                  | =                     | =                     | =
12.1 16.2       |    1 | copy                  | =                     | =                     | =
12.1 16.2       |    7 | copy                  | =                     | =                     | =
12.1 16.2       |   16 | copy                  | shuffle, 8            | copy                  | shuffle, 8
12.1 16.2       |  100 | copy                  | shuffle, 8            | permute               | shuffle, 8
12.1 16.2       | 1000 | copy                  | shuffle, 8            | permute               | shuffle, 8
24.1 4          |    1 | copy                  | =                     | =                     | =
24.1 4          |    7 | copy                  | =                     | =                     | =
24.1 4          |   16 | copy                  | shuffle, 1            | permute, 2            | copy
24.1 4          |  100 | copy                  | shuffle, 1            | permute, 2            | shuffle, 1
24.1 4          | 1000 | copy                  | shuffle, 1            | permute, 2            | shuffle, 1
53              |    1 | copy                  | =                     | =                     | =
53              |    7 | copy                  | =                     | =                     | =
53              |   16 | copy                  | shuffle, 4            | permute               | shuffle, 4
53              | 1000 | copy                  | shuffle, 4            | permute               | shuffle, 4
63 4            |   16 | copy                  | =                     | =                     | =
63 4            | 1000 | copy                  | =                     | =                     | =
69              |    1 | copy                  | =                     | =                     | =
69              |    7 | copy                  | =                     | =                     | =
69              |   16 | copy                  | shuffle, 4            | strided_long          | shuffle, 4
69              | 1000 | copy                  | shuffle, 4            | strided_long          | shuffle, 4
129             |    1 | copy                  | =                     | =                     | =
129             |    6 | copy                  | =                     | =                     | =
129             |    7 | copy                  | strided_long          | =                     | copy
129             | 1000 | copy                  | strided_long          | =                     | copy
1041            | 1000 | copy                  | =                     | =                     | =
2 196           |    1 | copy                  | =                     | =                     | =
2 196           |   16 | copy                  | =                     | =                     | =
2 196           | 1000 | copy                  | =                     | =                     | =
1 2, 20 of      |    1 | copy                  | =                     | permute               | copy
1 2, 20 of      |   16 | copy                  | shuffle, 2            | permute               | shuffle, 2
1 2, 20 of      | 1000 | copy                  | shuffle, 2            | permute               | shuffle, 2
1 2, 80 of      |    1 | none                  | =                     | =                     | =
1 2, 80 of      |    3 | none                  | =                     | =                     | =
1 2, 80 of      |   16 | none                  | =                     | =                     | =
1 2, 80 of      | 1000 | none                  | =                     | =                     | =
";

#[derive(Datatype)]
#[repr(C)]
struct Two<A, B>(A, B);

#[derive(Datatype)]
#[repr(C)]
struct Three<A, B, C>(A, B, C);

#[derive(Datatype)]
#[repr(C)]
struct Four<A, B, C, D>(A, B, C, D);

#[derive(Datatype)]
#[repr(C)]
struct Skips<A, B> {
    first: A,
    #[dtype(skip)]
    skipped: B,
    last: A,
}

/// Defines a function that explains slices of the types with these names.
macro_rules! slices {
    ($($name:literal => $type:ty;)*) => {
        fn explained_slice(name: &str, values: usize) -> String {
            match name {
                $($name => explain::slice::<$type>(values),)*
                _ => panic!("there is no slice {name}"),
            }
        }
    };
}

// Structs are named by the lengths of their fields, as in `shape`; a field in brackets is skipped.
slices! {
    "0" => ();
    "8" => f64;
    "16.16" => Two<u128, [u64; 2]>;
    "4.2" => Two<u32, u16>;
    "8.1" => Two<u64, u8>;
    "8.4.1" => Three<f64, u32, u8>;
    "16.1" => Two<i128, u8>;
    "1 8" => Two<u8, f64>;
    "2 4" => Two<u16, u32>;
    "4 8" => Two<f32, f64>;
    "1 2 4" => Three<u8, u16, u32>;
    "4 8 4 8" => Four<f32, f64, f32, f64>;
    "1 2.4.8.1" => Two<Two<u8, u16>, Three<u32, f64, u8>>;
    "8.1 4 8" => Four<f64, u8, f32, f64>;
    "8 (8) 8" => Skips<f64, u64>;
    "4 (1) 4" => Skips<u32, u8>;
    "12.1 16.2" => Four<[f32; 3], u8, [f32; 4], u16>;
    "24.1 4" => Three<[f64; 3], u8, f32>;
    "53" => Four<[f64; 3], [f64; 3], u32, u8>;
    "63 4" => Two<[u8; 63], u32>;
    "69" => Three<[f64; 8], u32, u8>;
    "129" => Two<[f64; 16], u8>;
    "1041" => Two<[f64; 130], u8>;
    "2 196" => Two<u16, [u32; 49]>;
    "1 2, 20 of" => [Two<u8, u16>; 20];
    "1 2, 80 of" => [Two<u8, u16>; 80];
}

/// The type with this name in the table.
fn shape(name: &str) -> Type {
    // Of three dimensions, 64 numbers in each.
    let part = |sizes| Type::subarray(&[64; 3], sizes, &[1; 3], Order::C, &Type::basic(Basic::F64));
    let ty = match name {
        // Structs are named by the lengths of their fields. A dot stands between fields that touch.
        "4.2" => record(&[(6, 0)], 8),
        "8.4.1" => record(&[(13, 0)], 16),
        "1 8" => record(&[(1, 0), (8, 8)], 16),
        "1 2 1" => record(&[(1, 0), (2, 4), (1, 9)], 12),
        "4 8" => record(&[(4, 0), (8, 8)], 16),
        "1 2.4.8.1" => record(&[(1, 0), (15, 2)], 24),
        "12 12" => record(&[(12, 0), (12, 16)], 32),
        "6 fields" => record(&[(4, 0), (9, 8), (15, 18), (1, 40), (15, 42), (4, 64)], 72),
        "53" => record(&[(53, 0)], 56),
        "69" => record(&[(69, 0)], 72),
        "40 40" => record(&[(40, 0), (40, 48)], 96),
        "2 196" => record(&[(2, 0), (196, 8)], 208),
        "1 1 1, apart" => record(&[(1, 0), (1, 100), (1, 300)], 2000),
        "1 1 1, too far" => record(&[(1, 0), (1, 100), (1, 300)], 2100),
        "24, dense" => record(&[(24, 0)], 24),
        "4 by 8" => record(&[(4, 0), (4, 12), (4, 24), (4, 36), (4, 48), (4, 60)], 100),
        // Blocks of so many bytes.
        "blocks of 1" => blocks(1),
        "blocks of 3" => blocks(3),
        "blocks of 8" => blocks(8),
        "blocks of 12" => blocks(12),
        "blocks of 13" => blocks(13),
        "blocks of 24" => blocks(24),
        "blocks of 48" => blocks(48),
        "blocks of 64" => blocks(64),
        "blocks of 100" => blocks(100),
        "pairs in rows" => Type::hvector(64, 1, 1000, &Type::hvector(2, 8, 16, &byte()).unwrap()),
        "grid of 4" => Type::hvector(64, 1, 1000, &Type::hvector(20, 4, 8, &byte()).unwrap()),
        "face, thin" => part(&[62, 62, 1]),
        "face of pairs" => part(&[62, 62, 2]),
        "face of rows" => part(&[62, 1, 62]),
        "slab" => part(&[62, 62, 62]),
        "15 columns" => columns(15, Basic::F64),
        "16 columns" => columns(16, Basic::F64),
        "transpose of 4" => columns(64, Basic::F32),
        "transpose of 8" => columns(64, Basic::F64),
        "big transpose" => columns(1024, Basic::F64),
        "list of 1" => list(1, &[1]),
        "list of 2 to 4" => list(2, &[1, 2]),
        "list of 4" => list(4, &[1]),
        "list of 12" => list(4, &[3]),
        "list of 100" => list(4, &[25]),
        "list of 4 to 12" => list(4, &[1, 3, 2]),
        "list of 1 to 30" => list(1, &[1, 30, 7, 16]),
        "list of 8 to 96" => list(8, &[1, 12, 5]),
        "records in rows" => {
            let row = Type::hvector(5, 1, 16, &record(&[(8, 0), (4, 12)], 16).unwrap()).unwrap();
            Type::hvector(20, 1, 128, &row)
        }
        "short loops" => {
            [32, 160, 800].iter().fold(Type::hvector(4, 8, 16, &byte()), |ty, stride| {
                Type::hvector(4, 1, 5 * stride, &ty?)
            })
        }
        "wide in rows" => {
            let row =
                Type::hvector(6, 1, 128, &record(&[(40, 0), (40, 64)], 128).unwrap()).unwrap();
            Type::hvector(16, 1, 1024, &row)
        }
        _ => panic!("there is no shape {name}"),
    };
    ty.unwrap()
}

fn byte() -> Type {
    Type::basic(Basic::U8)
}

/// A struct with runs of these lengths at these displacements.
fn record(runs: &[(u64, i64)], extent: i64) -> Result<Type, Error> {
    let (lengths, places): (Vec<u64>, Vec<i64>) = runs.iter().copied().unzip();
    Type::resized(&Type::hindexed(&lengths, &places, &byte())?, 0, extent)
}

/// 400 blocks. The distance between blocks is different for each length.
fn blocks(len: u8) -> Result<Type, Error> {
    Type::hvector(400, len.into(), 2 * i64::from(len) + 8, &byte())
}

/// 300 blocks with irregular gaps. The lengths, in units, repeat.
fn list(unit: u32, lengths: &[u32]) -> Result<Type, Error> {
    let mut place = 0;
    let blocks = lengths.iter().cycle().zip(0..300).map(|(length, i)| {
        let block = (u64::from(unit * length), i64::from(place));
        place += unit * (length + 1 + i * i % 5);
        block
    });
    let (lengths, places): (Vec<u64>, Vec<i64>) = blocks.unzip();
    Type::hindexed(&lengths, &places, &byte())
}

/// All columns of a square matrix.
fn columns(side: u32, of: Basic) -> Result<Type, Error> {
    let old = Type::basic(of);
    let column = Type::vector(side.into(), 1, side.into(), &old)?;
    Type::contiguous(side.into(), &Type::resized(&column, 0, old.extent())?)
}

/// The names of the kernels in an explanation.
fn decision(explanation: &str) -> String {
    let (mut words, mut covered) = (Vec::<String>::new(), usize::MAX);
    for line in explanation.lines().skip(1) {
        let text = line.trim_start();
        let depth = line.len() - text.len();
        if depth > covered {
            continue;
        }
        covered = usize::MAX;
        if let Some((_, kernel)) = text.split_once(", kernel ") {
            covered = depth;
            words.push(kernel.replace(" at once", ""));
        } else {
            words.push("each:".to_owned());
        }
    }
    words.dedup();
    words.join(" ")
}

/// A row of a table. If this machine lacks an instruction set, the pinned decision stays.
fn row(pinned: &str, explained: impl Fn(&str, usize) -> String) -> String {
    let mut cells = pinned.split('|').map(str::trim);
    let [name, count] = [(); 2].map(|()| cells.next().unwrap_or(""));
    let mut row = format!("{name:15} |{count:>5}");
    let [mut before, mut pinned_before] = [(); 2].map(|()| String::new());
    for isa in Isa::ALL {
        if let Some(cell) = cells.next().filter(|cell| *cell != "=") {
            cell.clone_into(&mut pinned_before);
        }
        let decision = match select(*isa) {
            Ok(()) => explained(name, count.parse().unwrap()),
            Err(_) => pinned_before.clone(),
        };
        let cell = if decision == before { "=" } else { &decision };
        let _ = write!(row, " | {cell:21}");
        before = decision;
    }
    row.trim_end().to_owned()
}

/// Compares the decisions with a table.
fn check(table: &str, explained: impl Fn(&str, usize) -> String) {
    let _alone = alone();
    for isa in Isa::ALL.iter().filter(|isa| select(**isa).is_err()) {
        println!("left out: no {isa} in this machine");
    }
    let found: String = table.lines().map(|line| row(line, &explained) + "\n").collect();
    assert!(found == table, "the decisions are\n{found}");
}

#[test]
fn kernels_are_chosen_by_shape_count_and_instructions() {
    check(DECISIONS, |name, count| {
        let style = ExplainStyle::default().with_instances(count as u64);
        decision(&shape(name).commit().explain(&style).to_string())
    });
}

#[test]
fn slices_are_copied_by_what_is_known_when_they_are_compiled() {
    check(SLICES, |name, count| {
        let explanation = explained_slice(name, count);
        explanation
            .split_once(", kernel ")
            .map_or("none", |(_, kernel)| kernel)
            .replace(" at once", "")
    });
}
