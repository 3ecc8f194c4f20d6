//! Fields with other names than in the source, wherever a name is written or looked up.

use dtype_runtime::{Columns, Datatype, Error, Packed, columns, pack, unpack};
use dtype_test_support::odd_names::{NAMES, Step, steps};

#[test]
fn columns_are_found_by_the_names() {
    let (steps, names) = (steps(), NAMES.map(str::to_owned));
    let all = columns(&steps);
    assert!(Columns::<Step>::zeroed(0).unwrap().fields().map(|field| field.path).eq(names));
    assert_eq!(all.get::<i32>("total blocks").unwrap(), [7, -8]);
    assert_eq!(all.get::<u8>("<&>: x").unwrap(), [1, 2, 1, 2]);
    assert_eq!(all.get::<i16>("is.on [0].温度").unwrap(), [-4, 300, -4, 300]);
    let packed = pack(&steps);
    let packed = Packed::<Step>::new(&packed).unwrap();
    assert!(packed.column::<i32>("total blocks").unwrap().iter().eq([7, -8]));
    assert!(packed.column::<bool>("is.on [0][1].on/off").unwrap().iter().eq([false; 2]));
    assert!(packed.column::<u8>("<&>: x[1]").unwrap().iter().eq([2, 2]));
    for old in ["total_blocks", "total", "is", "is.on", "is.on [0", "flags", "total blocks.", ""] {
        assert!(all.get::<i32>(old).is_err(), "{old}");
        assert!(packed.column::<i32>(old).is_err(), "{old}");
    }
}

#[test]
fn of_two_names_the_longer_one_counts() {
    #[derive(Datatype, Clone, Copy)]
    struct Inner {
        b: u8,
        c: u8,
    }
    #[derive(Datatype, Clone, Copy)]
    struct Outer {
        a: Inner,
        #[dtype(rename = "a.b")]
        dot: u16,
        list: [u8; 2],
        #[dtype(rename = "list[0]")]
        bracket: u16,
    }
    let outer = Outer { a: Inner { b: 1, c: 2 }, dot: 3, list: [4, 5], bracket: 6 };
    let packed = pack(&[outer]);
    let packed = Packed::<Outer>::new(&packed).unwrap();
    let all = columns(&[outer]);
    assert_eq!((all.get("a.b"), all.get("a.c")), (Ok(&[3_u16][..]), Ok(&[2_u8][..])));
    assert!(packed.column::<u16>("a.b").unwrap().iter().eq([3]));
    assert!(packed.column::<u8>("a.c").unwrap().iter().eq([2]));
    assert!(packed.column::<u16>("list[0]").unwrap().iter().eq([6]));
    assert!(packed.column::<u8>("list[1]").unwrap().iter().eq([5]));
    assert!(packed.column::<(u8, u8)>("a").unwrap().iter().eq([(1, 2)]));
}

/// The longer name is no path.
#[test]
fn each_path_of_a_column_is_found() {
    #[derive(Datatype, Clone, Copy)]
    struct Inner {
        #[dtype(rename = "b.c")]
        dot: [u16; 2],
    }
    #[derive(Datatype, Clone, Copy)]
    struct Outer {
        #[dtype(rename = "a.b")]
        longer: u8,
        a: Inner,
    }
    let outer = Outer { longer: 1, a: Inner { dot: [2, 3] } };
    let packed = pack(&[outer]);
    let packed = Packed::<Outer>::new(&packed).unwrap();
    let all = columns(&[outer]);
    assert_eq!((all.get("a.b"), all.get("a.b.c")), (Ok(&[1_u8][..]), Ok(&[2_u16, 3][..])));
    assert!(packed.column::<u8>("a.b").unwrap().iter().eq([1]));
    assert!(packed.column::<u16>("a.b.c[1]").unwrap().iter().eq([3]));
    let error = packed.column::<u8>("a.b.x").map(drop).unwrap_err();
    assert_eq!(error.to_string(), "field `a.b.x`: u8 packs no field `x`");
}

#[test]
fn errors_have_the_names() {
    let mut bytes = pack(&steps());
    let at = bytes.len() - 3;
    bytes[at] = 2;
    let error = unpack::<Step>(&bytes).unwrap_err();
    let expected = "record 1, field is.on [0][1].on/off: 0x2 is not a valid bool";
    assert_eq!(error.to_string(), expected);
    let Error::InvalidValue { path, .. } = error else { panic!("{error}") };
    let packed = pack(&steps());
    let column = Packed::<Step>::new(&packed).unwrap().column::<bool>(&path);
    assert!(column.unwrap().iter().eq([false; 2]));
}
