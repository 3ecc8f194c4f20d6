//! A real NumPy reads the bytes that are written here, with the dtypes that are printed for it.
//!
//! Without `python3` and its `numpy` the tests print a note, and pass.
#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

use std::fmt::Write as _;

use crate::program::{hex, output};
use dtype_npy::{Dtype, NumpyDtype, NumpyError, NumpyOptions, numpy_dtype};
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::time::Nanoseconds;
use dtype_runtime::types::{Order, Pair};
use dtype_runtime::{
    Basic, Buffer, Datatype, FixedStr, Flags, Packer, Representation, Timestamp, Type, pack,
};
use dtype_test_support::model::trees_with_lists;
use dtype_test_support::tags::{Kind, Tag};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

/// Reads a dtype and bytes, and prints the values.
const VALUES: &str = "
import numpy as np, sys
def plain(value):
    # NumPy before 1.25 leaves arrays in structures.
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    return type(value)(map(plain, value)) if isinstance(value, (list, tuple)) else value
for line in sys.stdin:
    dtype, data = line.rstrip('\\n').split('\\t')
    print(plain(np.frombuffer(bytes.fromhex(data), dtype=eval(dtype))))
";

#[derive(Datatype, Clone)]
#[repr(C)]
struct Particle {
    charge: i8,
    position: [f64; 3],
    tags: [Tag; 2],
    on: bool,
    #[dtype(skip)]
    cache: u32,
    r#type: (u16, i64),
}

fn particles() -> [Particle; 2] {
    let tags = [Tag { letter: 'é', kind: Kind::Free }, Tag { letter: '😀', kind: Kind::Fixed }];
    let first = Particle {
        charge: -5,
        position: [1.5, -2.25, 1e300],
        tags,
        on: true,
        cache: 0xffff_ffff,
        r#type: (65_535, -1),
    };
    let mut second = first.clone();
    (second.charge, second.on, second.r#type.1) = (7, false, i64::MIN);
    assert_eq!(first.cache, second.cache);
    [first, second]
}

const AS_PYTHON: &str = "[\
    (-5, [1.5, -2.25, 1e+300], [('é', 3), ('😀', 200)], True, (65535, -1)), \
    (7, [1.5, -2.25, 1e+300], [('é', 3), ('😀', 200)], False, (65535, -9223372036854775808))]\n";

/// The bytes of records, padding included, with nonzero bytes in the padding.
fn memory_of(records: &[Particle]) -> Vec<u8> {
    let ty = Type::of::<Particle>().commit();
    let mut memory = vec![0xaa; size_of_val(records)];
    ty.unpack(&pack(records), &mut memory, records.len()).unwrap();
    memory
}

#[test]
fn numpy_reads_records_in_memory_and_packed() {
    let records = particles();
    let memory = numpy_dtype::<Particle>(&NumpyOptions::memory()).unwrap();
    let packed = NumpyOptions::packed();
    let big = packed.with_order(ByteOrder::Big);
    let [packed, big] = [packed, big].map(|options| numpy_dtype::<Particle>(&options).unwrap());
    let mut reversed = vec![0; pack(&records).len()];
    let mut packer = Packer::new(&records).with_representation(Representation::BigEndian).unwrap();
    packer.pack(&mut reversed).unwrap();
    let lines = [(memory, memory_of(&records)), (packed, pack(&records)), (big, reversed)]
        .map(|(dtype, bytes)| format!("{dtype}\t{}\n", hex(&bytes)));
    if let Some(values) = output(VALUES, &lines.concat()) {
        assert_eq!(values, AS_PYTHON.repeat(3));
    }
}

/// As a datatype, its extent is not the size of an element of a slice.
#[derive(Datatype)]
#[dtype(resize(lb = 0, extent = 64))]
#[repr(C)]
struct Arrays {
    one: [f64; 1],
    ones: [[u8; 1]; 3],
    points: [[(i16, u8); 1]; 2],
}

#[test]
fn arrays_of_rust_have_all_their_axes() {
    let point = "{'names': ['0', '1'], 'formats': ['<i2', 'u1'], 'offsets': [0, 2], 'itemsize'";
    let formats = |size| format!("[('<f8', (1,)), ('u1', (3, 1)), ({point}: {size}}}, (2, 1))]");
    let expected = |points, offset, itemsize| {
        let formats = formats(points);
        format!(
            "np.dtype({{'names': ['one', 'ones', 'points'], 'formats': {formats}, \
             'offsets': [0, 8, {offset}], 'itemsize': {itemsize}}})"
        )
    };
    let memory = numpy_dtype::<Arrays>(&NumpyOptions::memory()).unwrap();
    assert_eq!(memory.expression, expected(4, 12, 24));
    assert_eq!((memory.itemsize, size_of::<Arrays>()), (24, 24));
    let packed = numpy_dtype::<Arrays>(&NumpyOptions::packed()).unwrap();
    assert_eq!(packed.expression, expected(3, 11, 17));
    let nested = numpy_dtype::<[[[u8; 4]; 1]; 2]>(&NumpyOptions::packed()).unwrap();
    assert_eq!(nested.expression, "np.dtype(('u1', (2, 1, 4)))");
}

/// The expression is that of the file that [`dtype_npy::write`] makes.
#[test]
fn texts_and_times_are_those_of_a_file() {
    type Record = (Timestamp<Nanoseconds>, FixedStr<4>);
    let options = NumpyOptions::file().with_order(ByteOrder::Big);
    let dtype = numpy_dtype::<Record>(&options).unwrap();
    assert_eq!(
        dtype.expression,
        "np.dtype({'names': ['0', '1'], 'formats': ['>M8[ns]', '>U4'], 'offsets': [0, 8], 'itemsize': 24})"
    );
    assert_eq!(Dtype::parse(&dtype.expression).unwrap(), Dtype::of::<Record>(&options));
    assert_eq!((dtype.start, dtype.itemsize), (0, 24));
}

/// Reads a dtype, the bytes of items and their packed values, and prints the dtypes for which it finds other
/// values, and the number of dtypes.
const LEAVES: &str = "
import numpy as np, sys
def leaves(items):
    if items.dtype.names is not None:
        for i in range(len(items)):
            for name in items.dtype.names:
                yield from leaves(items[i:i + 1][name].reshape(-1))
    else:
        yield items.tobytes()
number = 0
for line in sys.stdin:
    dtype, itemsize, data, values = line.rstrip('\\n').split('\\t')
    dtype = eval(dtype)
    items = np.frombuffer(bytes.fromhex(data), dtype=dtype).reshape(-1)
    if dtype.itemsize != int(itemsize) or b''.join(leaves(items)) != bytes.fromhex(values):
        print(line)
    number += 1
print(number)
";

/// Random types: the values that NumPy finds, field by field, are the values packed here.
#[test]
fn numpy_finds_the_values_in_the_order_of_packing() {
    let mut runner = TestRunner::deterministic();
    let trees = trees_with_lists(1);
    let (mut input, mut number, mut refused) = (String::new(), 0, 0);
    for _ in 0..1500 {
        let ty = trees.new_tree(&mut runner).unwrap().current().build().unwrap();
        let packed = NumpyOptions::packed();
        let count = 3;
        let extent = ty.extent();
        if ty.size() == 0 || ty.size() > 2000 || !(0..20_000).contains(&extent) {
            continue;
        }
        let reach =
            4 * extent.unsigned_abs() + ty.lb().unsigned_abs() + ty.true_lb().unsigned_abs();
        let origin = reach + ty.true_ub().unsigned_abs();
        let memory: Vec<u8> =
            (0..2 * origin + ty.size()).map(|i| (i * 7 + i / 251) as u8).collect();
        let origin = usize::try_from(origin).unwrap();
        let mut values = vec![0; usize::try_from(ty.size()).unwrap() * count];
        ty.commit().pack(Buffer::new(&memory).origin(origin as i64), count, &mut values).unwrap();
        let mut line = |dtype: NumpyDtype, items: &[u8]| {
            writeln!(input, "{dtype}\t{}\t{}\t{}", dtype.itemsize, hex(items), hex(&values))
                .unwrap();
            number += 1;
        };
        match NumpyDtype::of_type(&ty, &NumpyOptions::memory()) {
            Ok(dtype) => {
                let from = origin.checked_add_signed(dtype.start.try_into().unwrap()).unwrap();
                let bytes = usize::try_from(dtype.itemsize).unwrap() * count;
                line(dtype, &memory[from..from + bytes]);
            }
            Err(NumpyError::Overlap) => {
                assert!(ty.flags().contains(Flags::OVERLAP));
                refused += 1;
            }
            Err(NumpyError::OutsideExtent { lb, .. }) => {
                let is_in = |start: i64| start <= ty.true_lb() && ty.true_ub() <= start + extent;
                assert!(!is_in(0) && !is_in(lb));
                refused += 1;
            }
            Err(error) => panic!("{error}"),
        }
        line(NumpyDtype::of_type(&ty, &packed).unwrap(), &values);
    }
    assert!(number > 1200 && refused > 100, "{number} {refused}");
    if let Some(output) = output(LEAVES, &input) {
        assert_eq!(output, format!("{number}\n"));
    }
}

#[test]
fn what_numpy_cannot_have_is_refused() {
    let memory = NumpyOptions::memory();
    let f64 = Type::basic(Basic::F64);
    // Adjacent columns.
    let column = Type::resized(&Type::vector(4, 1, 4, &f64).unwrap(), 0, 8).unwrap();
    let error = NumpyDtype::of_type(&column, &memory).unwrap_err();
    assert_eq!(error, NumpyError::OutsideExtent { lb: 0, extent: 8, true_lb: 0, true_ub: 104 });
    assert_eq!(
        error.to_string(),
        "no dtype: data from 0 to 104, and instances of 8 bytes from 0 on"
    );
    let overlapping = Type::hvector(3, 1, 4, &f64).unwrap();
    assert_eq!(NumpyDtype::of_type(&overlapping, &memory), Err(NumpyError::Overlap));
    let gaps = Type::vector(1_000_000_000, 1, 2, &f64).unwrap();
    assert!(matches!(NumpyDtype::of_type(&gaps, &memory), Err(NumpyError::TooManyFields { .. })));
    // All of these are readable in packed form, however many they are.
    let packed = NumpyOptions::packed();
    for (ty, count) in [(column, 4), (overlapping, 3), (gaps, 1_000_000_000)] {
        let dtype = NumpyDtype::of_type(&ty, &packed).unwrap();
        assert_eq!(dtype.expression, format!("np.dtype(('<f8', ({count},)))"));
    }
}

#[test]
fn numpy_reads_layouts_made_at_run_time() {
    let [u8, u16, f64] = [Basic::U8, Basic::U16, Basic::F64].map(Type::basic);
    let bytes: Vec<u8> = (0..24).collect();
    let cases = [
        // A column of a matrix: an item is a column with the gaps after its elements.
        (
            Type::resized(&Type::vector(3, 1, 4, &u8).unwrap(), 0, 12).unwrap(),
            "[(0, 4, 8), (12, 16, 20)]",
        ),
        (
            Type::subarray(&[2, 6], &[2, 2], &[0, 3], Order::C, &u8).unwrap(),
            "[(([3, 4], [9, 10]),), (([15, 16], [21, 22]),)]",
        ),
        // Backwards: the order is the packing order.
        (
            Type::structure(
                &[1, 1],
                &[10, 0],
                &[Type::vector(3, 1, -2, &u16).unwrap(), u8.clone()],
            )
            .unwrap(),
            "[((2826, 1798, 770), 0), ((5910, 4882, 3854), 12)]",
        ),
        (Type::pair(Pair::ShortInt), "[(256, 117835012), (2312, 252579084), (4368, 387323156)]"),
        (
            Type::hindexed(&[2, 1], &[1, 7], &u8).unwrap(),
            "[([1, 2], 7), ([8, 9], 14), ([15, 16], 21)]",
        ),
        (
            Type::contiguous(3, &f64).unwrap(),
            "[[7.949928895127363e-275, 3.6919162048650923e-236, 1.846323925681849e-197]]",
        ),
    ];
    let mut input = String::new();
    for (ty, _) in &cases {
        let dtype = NumpyDtype::of_type(ty, &NumpyOptions::memory()).unwrap();
        let items = &bytes[usize::try_from(dtype.start).unwrap()..];
        let whole = items.len() - items.len() % usize::try_from(dtype.itemsize).unwrap();
        writeln!(input, "{dtype}\t{}", hex(&items[..whole])).unwrap();
    }
    if let Some(values) = output(VALUES, &input) {
        for ((_, expected), line) in cases.iter().zip(values.lines()) {
            assert_eq!(line, *expected);
        }
    }
}

/// A member whose instances are fields of their own has names for them that no other member has.
#[test]
fn names_are_different_whatever_the_caller_chooses() {
    let [u8, f64] = [Basic::U8, Basic::F64].map(Type::basic);
    let before = Type::hindexed_block(1, &[-8], &f64).unwrap();
    let cases = [
        (["a", "a_0", "c"], "['a_0', 'a_1', 'a_0_2', 'c']"),
        (["a", "c", "a_1"], "['a_0', 'a_1', 'c', 'a_1_2']"),
        (["a", "a", "a"], "['a_0', 'a_1', 'a_2', 'a_3']"),
    ];
    let ty = Type::structure(&[2, 1, 1], &[8, 40, 41], &[before, u8.clone(), u8]).unwrap();
    let mut input = String::new();
    for (names, expected) in cases {
        let name = |_: &Type, member: usize| Some(names[member].to_owned());
        let dtype = NumpyDtype::of_type_with(&ty, &NumpyOptions::memory(), name, |_| None).unwrap();
        let start = format!("np.dtype({{'names': {expected}, ");
        assert!(dtype.expression.starts_with(&start), "{dtype}");
        let item = vec![0; usize::try_from(dtype.itemsize).unwrap()];
        writeln!(input, "{dtype}\t{}", hex(&item)).unwrap();
    }
    if let Some(values) = output(VALUES, &input) {
        assert_eq!(values, "[((0.0,), (0.0,), 0, 0)]\n".repeat(3));
    }
}
