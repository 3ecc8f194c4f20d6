//! The worked examples of the source documents and of the standard, entry by entry.

use dtype_runtime::convertor::{StackFrame, StackType};
use dtype_runtime::types::{Elem, EndLoop, Entry, Loop};
use dtype_runtime::{Basic, Error, Flags, Type};
use dtype_test_support::seeds::{basic, seed_000, seed_003};

fn elem(basic: Basic, count: u64, disp: i64) -> Entry {
    Entry::Elem(Elem { basic, count, disp, extent: basic.size() as i64 })
}

fn head(loops: u64, items: usize, extent: i64, flags: Flags) -> Entry {
    Entry::Loop(Loop { loops, items, extent, flags })
}

fn end(items: usize, size: u64, first_elem_disp: i64, flags: Flags) -> Entry {
    Entry::EndLoop(EndLoop { items, size, first_elem_disp, flags })
}

fn dense() -> Flags {
    Flags::CONTIGUOUS | Flags::NO_GAPS
}

#[test]
fn seed_000_description() {
    let contiguous = Flags::CONTIGUOUS;
    assert_eq!(
        seed_000().description().entries(),
        [
            elem(Basic::U64, 1, 0),
            head(2, 3, 8, dense()),
            elem(Basic::U32, 1, 8),
            elem(Basic::U16, 2, 12),
            end(3, 8, 8, dense()),
            head(3, 2, 4, contiguous),
            elem(Basic::U16, 1, 24),
            end(2, 2, 24, contiguous),
            end(8, 30, 0, Flags::NONE),
        ]
    );
}

#[test]
fn seed_000_optimized_description() {
    assert_eq!(
        seed_000().commit().optimized_description().entries(),
        [
            elem(Basic::U8, 26, 0),
            elem(Basic::U8, 2, 28),
            elem(Basic::U8, 2, 32),
            end(3, 30, 0, Flags::NONE),
        ]
    );
}

/// The first repetition of the loop is merged with the data that it touches. More than two repetitions remain, so the loop
/// remains, too.
#[test]
fn the_rest_of_a_loop_is_a_loop() {
    let loops = Type::hvector(5, 1, 8, &basic(Basic::U32)).unwrap();
    let ty = Type::structure(&[1, 1], &[0, 4], &[basic(Basic::F32), loops]).unwrap();
    assert_eq!(
        ty.commit().optimized_description().entries(),
        [
            elem(Basic::U8, 8, 0),
            head(4, 2, 8, Flags::CONTIGUOUS),
            elem(Basic::U8, 4, 12),
            end(2, 4, 12, Flags::CONTIGUOUS),
            end(4, 24, 0, Flags::NONE),
        ]
    );
}

#[test]
fn seed_000_numbers() {
    let ty = seed_000();
    // 8 on 64-bit platforms, and 4 on some 32-bit platforms.
    let align = align_of::<u64>() as u64;
    assert_eq!((ty.size(), ty.true_lb(), ty.true_ub(), ty.align()), (30, 0, 34, align));
    // The resized u16 leaves its markers: at 24, and at 24 + 3 · 4.
    assert_eq!((ty.lb(), ty.ub()), (24, 36));
    assert_eq!(format!("{:?}", ty.signature()), "{u64, u32, 2×u16, u32, 5×u16}");
}

/// 76 bytes of struct{vector(2, 3, 4) of {i32, f64}, i32} are 13 elements. One MPI library says 14.
#[test]
fn elements_of_a_vector_of_structs() {
    let pair = Type::structure(&[1, 1], &[0, 8], &[basic(Basic::I32), basic(Basic::F64)]).unwrap();
    let rows = Type::vector(2, 3, 4, &pair).unwrap();
    let end = rows.extent();
    let ty = Type::structure(&[1, 1], &[0, end], &[rows, basic(Basic::I32)]).unwrap();
    assert_eq!((ty.size(), ty.element_count(76), ty.elements()), (76, Some(13), 13));
    assert_eq!(ty.element_count(74), None);
}

#[test]
fn seed_000_flags() {
    use Basic::{U8, U16, U32};
    let of = |displacements: &[i64], basics: &[Basic]| {
        let types: Vec<Type> = basics.iter().copied().map(Type::basic).collect();
        Type::structure(&vec![1; types.len()], displacements, &types).unwrap().flags()
    };
    // The data are in order and have no gaps. The padding at the end makes the extent larger than the size.
    let tail = of(&[0, 4, 6], &[U32, U16, U8]);
    assert_eq!(tail, Flags::CONTIGUOUS | Flags::DATA);
    // The same bytes, packed in another order.
    assert_eq!(of(&[4, 6, 0], &[U16, U8, U32]), Flags::DATA);
    assert_eq!(of(&[0, 4, 6, 7], &[U32, U16, U8, U8]), dense() | Flags::DATA);

    assert_eq!(basic(Basic::F64).flags(), Flags::BASIC);
    let committed = basic(Basic::F64).commit();
    assert!(committed.flags().contains(Flags::COMMITTED));
    let resized = Type::resized(&basic(Basic::I32), -4, 100).unwrap();
    assert!(!resized.flags().contains(Flags::USER_LB) && !resized.flags().contains(Flags::USER_UB));
    assert!(!Type::lb_marker().flags().contains(Flags::USER_LB));
    assert!(!Type::lb_marker().flags().contains(Flags::DATA));
    // A marker counts even at the displacement of the natural bound.
    let marked =
        Type::structure(&[1, 1], &[0, 0], &[Type::lb_marker(), basic(Basic::I32)]).unwrap();
    assert_eq!(marked.flags(), Flags::USER_LB | dense() | Flags::DATA);
    let marked =
        Type::structure(&[1, 1], &[4, 0], &[Type::ub_marker(), basic(Basic::I32)]).unwrap();
    assert_eq!(marked.flags(), Flags::USER_UB | dense() | Flags::DATA);
    // Markers are sticky, and so are their flags.
    let array = Type::contiguous(3, &marked).unwrap();
    assert!(array.flags().contains(Flags::USER_UB));
}

/// The example of MPI-1.1 section 3.12.3: LB and UB markers.
#[test]
fn seed_002() {
    let one = Type::structure(
        &[1, 1, 1],
        &[-3, 0, 6],
        &[Type::lb_marker(), basic(Basic::I32), Type::ub_marker()],
    )
    .unwrap();
    assert_eq!((one.lb(), one.ub(), one.extent(), one.size()), (-3, 6, 9, 4));
    let two = Type::contiguous(2, &one).unwrap();
    assert_eq!((two.lb(), two.ub(), two.extent(), two.size()), (-3, 15, 18, 8));
    assert_eq!((two.true_lb(), two.true_extent()), (0, 13));
    let places: Vec<_> = two.type_map().map(|e| (e.basic, e.displacement)).collect();
    assert_eq!(places, [(Basic::I32, 0), (Basic::I32, 9)]);
    assert!(two.flags().contains(Flags::USER_LB | Flags::USER_UB));
}

fn seed_003_entries(data: Entry) -> [Entry; 6] {
    let none = Flags::NONE;
    [
        head(3, 4, 50, none),
        head(4, 2, 12, Flags::CONTIGUOUS),
        data,
        end(2, 10, 0, Flags::CONTIGUOUS),
        end(4, 40, 0, none),
        end(5, 120, 0, none),
    ]
}

#[test]
fn seed_003_descriptions() {
    let ty = seed_003();
    assert_eq!(ty.description().entries(), seed_003_entries(elem(Basic::U16, 5, 0)));
    assert_eq!(
        ty.commit().optimized_description().entries(),
        seed_003_entries(elem(Basic::U8, 10, 0))
    );
}

/// A loop's repetitions may each be a run, and the loop as a whole may be a run.
#[test]
fn a_loop_is_contiguous_if_its_repetitions_touch_in_order() {
    let structure = |displacements: &[i64], types: &[Type]| {
        Type::structure(&vec![1; types.len()], displacements, types).unwrap()
    };
    let flags = |ty: &Type| {
        let entries = ty.description().entries().to_vec();
        let flags = entries.iter().filter_map(|entry| match entry {
            Entry::EndLoop(end) => Some(end.flags),
            _ => None,
        });
        flags.collect::<Vec<Flags>>()
    };
    let (contiguous, none) = (Flags::CONTIGUOUS, Flags::NONE);
    let [u16, u32] = [Basic::U16, Basic::U32].map(basic);
    // A loop over twice the part, after a number: the part is the inner loop, or an instance.
    let inside = |part: &Type| {
        let twice = Type::hvector(2, 1, part.extent(), part).unwrap();
        flags(&structure(&[0, 4], &[basic(Basic::F32), twice]))
    };
    assert_eq!(inside(&structure(&[0, 4], &[u32.clone(), u16.clone()])), [contiguous, none]);
    let three = structure(&[0, 2, 4], &[u16.clone(), basic(Basic::I16), u32.clone()]);
    assert_eq!(inside(&three), [dense(), dense()]);
    // The parts are as long as the stride, but their bytes are in another order.
    let swapped = structure(&[2, 0], &[u16.clone(), basic(Basic::I16)]);
    assert_eq!(inside(&swapped), [none, none]);
    assert_eq!(flags(&swapped), [none]);
    assert_eq!(flags(&Type::resized(&u32, 0, 8).unwrap()), [contiguous]);
}

/// The index, kind, count and displacement of each frame.
fn frames(stack: &[StackFrame]) -> Vec<(i64, StackType, u64, i64)> {
    stack.iter().map(|frame| (frame.index, frame.kind, frame.count, frame.disp)).collect()
}

#[test]
fn seed_003_stack() {
    let frame = |index, count, disp| (index, StackType::Loop, count, disp);
    let ty = seed_003();
    let optimized = ty.commit().optimized_description();
    for description in [&ty.description(), &optimized] {
        // The stack before the first copy.
        let stack = frames(&description.stack(2, 0).unwrap());
        assert_eq!(stack, [frame(-1, 2, 0), frame(0, 3, 0), frame(1, 4, 0)]);
        // The stack at the last copy: i = 1, j = 2, k = 3.
        let last = [frame(-1, 0, 154), frame(0, 0, 254), frame(1, 0, 290)];
        assert_eq!(frames(&description.stack(2, 240).unwrap()), last);
        // The stack in the last copy, after two of its five u16.
        let stack = frames(&description.stack(2, 234).unwrap());
        assert_eq!(stack[..3], last);
        let (basic, count) = match description.entries()[2] {
            Entry::Elem(elem) if elem.basic == Basic::U16 => (Basic::U16, 3),
            _ => (Basic::U8, 6),
        };
        let kind = StackType::Basic(basic);
        assert_eq!(stack[3..], [(2, kind, count, 294)]);
    }
    assert_eq!(ty.description().stack(2, 241), Err(Error::Position { position: 241, end: 240 }));
}

/// Where the first entry is data, the stack begins with that entry.
#[test]
fn stack_of_a_type_that_begins_with_data() {
    let stack = frames(&seed_000().description().stack(1, 0).unwrap());
    let kind = StackType::Basic(Basic::U64);
    assert_eq!(stack[1..], [(0, kind, 1, 0)]);
}

/// `OPAL_CONVERTOR_PREPARE` sets `CONVERTOR_COMPLETED` if the count or the size is 0, and makes no stack.
#[test]
fn without_data_there_is_no_stack() {
    let (first, second) = (seed_000(), seed_003());
    let nothing = Type::vector(3, 0, 2, &first).unwrap();
    let among = Type::structure(&[0, 2], &[0, 8], &[first.clone(), nothing.clone()]).unwrap();
    for (ty, count) in [(&first, 0_usize), (&second, 0), (&nothing, 0), (&nothing, 4), (&among, 1)]
    {
        let committed = ty.commit();
        for description in [&ty.description(), &committed.optimized_description()] {
            assert_eq!(description.stack(count as u64, 0), Ok(Vec::new()));
            let behind = Error::Position { position: 1, end: 0 };
            assert_eq!(description.stack(count as u64, 1), Err(behind));
        }
        let mut memory = [0; 8];
        let packer = committed.packer(&memory, count).unwrap();
        assert!(packer.is_complete() && packer.stack().is_empty());
        let unpacker = committed.unpacker(&mut memory, count).unwrap();
        assert!(unpacker.is_complete() && unpacker.stack().is_empty());
    }
    let mut none: [(u64, u8); 0] = [];
    assert_eq!(dtype_runtime::Packer::new(&none).stack(), []);
    assert_eq!(dtype_runtime::Unpacker::new(&mut none).stack(), []);
}

/// Size, lb, extent, true lb, true extent.
fn numbers(ty: &Type) -> (u64, i64, i64, i64, i64) {
    (ty.size(), ty.lb(), ty.extent(), ty.true_lb(), ty.true_extent())
}

#[test]
fn bounds_of_the_table() {
    let (i8, i32, f64) = (basic(Basic::I8), basic(Basic::I32), basic(Basic::F64));
    let padded = Type::structure(&[1, 1], &[0, 8], &[f64.clone(), i8.clone()]).unwrap();
    // The padding at the end aligns the extent for f64: 8 bytes on 64-bit platforms, and 4 on some 32-bit platforms.
    let extent = 9_usize.next_multiple_of(align_of::<f64>()) as i64;
    assert_eq!(numbers(&padded), (9, 0, extent, 0, 9));
    let four = Type::contiguous(4, &padded).unwrap();
    assert_eq!(numbers(&four), (36, 0, 4 * extent, 0, 3 * extent + 9));

    let empty_block = Type::structure(&[0, 1], &[0, 8], &[i32.clone(), i32.clone()]).unwrap();
    assert_eq!(numbers(&empty_block), (4, 8, 4, 8, 4));

    let backwards = Type::resized(&i8, 0, -3).unwrap();
    assert_eq!(backwards.extent(), -3);
    let backwards = Type::contiguous(4, &backwards).unwrap();
    assert_eq!(numbers(&backwards), (4, -9, 6, -9, 10));
    let places: Vec<_> = backwards.type_map().map(|e| e.displacement).collect();
    assert_eq!(places, [0, -3, -6, -9]);

    assert_eq!(numbers(&Type::vector(4, 1, -1, &i8).unwrap()), (4, -3, 4, -3, 4));
    assert_eq!(numbers(&Type::hvector(3, 2, -1, &i8).unwrap()), (6, -2, 4, -2, 4));

    let stacked = Type::vector(3, 1, 0, &i8).unwrap();
    assert_eq!(numbers(&stacked), (3, 0, 1, 0, 1));
    assert!(stacked.flags().contains(Flags::OVERLAP));
    let committed = stacked.commit();
    let mut out = [0; 3];
    assert_eq!(committed.pack(&[7], 1, &mut out), Ok(3));
    assert_eq!(out, [7; 3]);
    let mut memory = [9];
    let refused = committed.unpack(&[1, 2, 3], &mut memory, 1);
    assert_eq!((refused, memory), (Err(Error::Overlap { count: 1 }), [9]));

    let marked = Type::resized(&i32, -4, 16).unwrap();
    let sticky = Type::structure(&[1, 1], &[0, 8], &[marked, f64]).unwrap();
    assert_eq!(numbers(&sticky), (12, -4, 16, 0, 16));

    let empty = Type::contiguous(0, &i32).unwrap();
    assert_eq!(numbers(&empty), (0, 0, 0, 0, 0));
    let marked = Type::resized(&empty, -4, 100).unwrap();
    assert_eq!(numbers(&Type::contiguous(2, &marked).unwrap()), (0, -4, 200, 0, 0));
}

#[test]
fn empty_blocks_have_no_effect_however_absurd_their_place() {
    let i32 = basic(Basic::I32);
    for displacement in [i64::MAX, i64::MIN, i64::from(i32::MAX)] {
        let types = [i32.clone(), Type::ub_marker(), i32.clone()];
        let ty = Type::structure(&[1, 0, 0], &[4, displacement, displacement], &types).unwrap();
        assert_eq!(numbers(&ty), (4, 4, 4, 4, 4));
    }
    assert_eq!(Type::vector(0, 5, i64::MAX, &i32).unwrap().size(), 0);
    assert_eq!(Type::vector(5, 0, i64::MAX, &i32).unwrap().extent(), 0);
    assert_eq!(Type::vector(1, 5, i64::MAX, &i32).unwrap().extent(), 20);
    assert_eq!(Type::hvector(1, 5, i64::MIN, &i32).unwrap().extent(), 20);
    // Empty blocks do not decide whether the data are contiguous.
    let list = Type::indexed(&[1, 0, 2], &[0, 50, 1], &i32).unwrap();
    assert!(list.flags().contains(dense()) && list.extent() == 12);
    let ty = Type::indexed(&[0, 1, 0], &[i64::MAX, 2, i64::MIN], &i32).unwrap();
    assert_eq!((ty.lb(), ty.extent(), ty.size()), (8, 4, 4));
    let ty = Type::hindexed(&[0, 1], &[i64::MAX, 8], &i32).unwrap();
    assert_eq!((ty.lb(), ty.extent(), ty.size()), (8, 4, 4));
    assert_eq!(Type::indexed_block(0, &[i64::MAX], &i32).unwrap().extent(), 0);
    assert_eq!(Type::indexed(&[], &[], &i32).unwrap().size(), 0);
    // More copies than 64 bits can count, of a type that has bounds but no data.
    let empty = Type::resized(&Type::contiguous(0, &i32).unwrap(), 4, 0).unwrap();
    let many = Type::hindexed(&[u64::MAX, u64::MAX], &[0, 8], &empty).unwrap();
    assert_eq!((many.size(), many.lb(), many.ub()), (0, 4, 12));
    let refused = Error::Overflow { call: "hindexed", quantity: "size" };
    assert_eq!(Type::hindexed(&[1 << 60, 1 << 60], &[0, 0], &i32).err(), Some(refused));
}

#[test]
fn counts_beyond_32_bits() {
    let two_gib = Type::contiguous((1 << 31) - 1, &basic(Basic::U8)).unwrap();
    let eight = Type::contiguous(4, &two_gib).unwrap();
    assert_eq!(eight.size(), 4 * ((1 << 31) - 1));
    let size = 4 * ((1 << 31) - 1);
    let entries = [elem(Basic::U8, size, 0), end(1, size, 0, dense())];
    assert_eq!(eight.description().entries(), entries);
}

#[test]
fn overflow_is_an_error_that_names_the_quantity() {
    let f64 = basic(Basic::F64);
    let overflow = |call, quantity| Err(Error::Overflow { call, quantity });
    let err = |result: Result<Type, Error>| result.map(|ty| ty.size());
    assert_eq!(err(Type::contiguous(u64::MAX, &f64)), overflow("contiguous", "size"));
    assert_eq!(err(Type::contiguous(1 << 60, &f64)), overflow("contiguous", "size"));
    assert_eq!(err(Type::vector(2, 1, i64::MAX, &f64)), overflow("vector", "stride"));
    assert_eq!(err(Type::hvector(3, 1, i64::MAX, &f64)), overflow("hvector", "displacement"));
    assert_eq!(
        err(Type::structure(&[1], &[i64::MAX - 3], std::slice::from_ref(&f64))),
        overflow("structure", "true upper bound")
    );
    assert_eq!(
        err(Type::structure(&[1, 1], &[i64::MIN, 0], &[f64.clone(), f64.clone()])),
        overflow("structure", "true extent")
    );
    assert_eq!(err(Type::resized(&f64, 8, i64::MAX)), overflow("resized", "upper bound"));
    assert_eq!(
        err(Type::structure(&[1, 1], &[0], &[f64.clone(), f64.clone()])),
        Err(Error::ArgumentLengths {
            call: "structure",
            argument: "array_of_displacements",
            expected: 2,
            actual: 1
        })
    );
}

#[test]
fn depth_is_limited() {
    let mut ty = basic(Basic::U8);
    let error = loop {
        match Type::contiguous(1, &ty) {
            Ok(next) => ty = next,
            Err(error) => break error,
        }
    };
    assert_eq!(error, Error::TooDeep { depth: 256, limit: 255 });
    assert_eq!(ty.commit().size(), 1);
}

#[test]
fn shared_parts_cannot_blow_up_a_description() {
    let mut ty = basic(Basic::U8);
    let error = loop {
        match Type::structure(&[1, 1], &[0, ty.extent() + 1], &[ty.clone(), ty.clone()]) {
            Ok(next) => ty = next,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::TooManyEntries { limit: 0x100_0000, .. }), "{error}");
}

/// Blocks without data do not count.
#[test]
#[cfg_attr(miri, ignore = "thousands of blocks take Miri a minute")]
fn many_blocks_of_many_entries_cannot_blow_up_a_description() {
    let (bytes, floats) = (basic(Basic::U8), basic(Basic::F32));
    let types: Vec<Type> = [bytes, floats].iter().cycle().take(1000).cloned().collect();
    let places: Vec<i64> = (0..1000).map(|i| 4 * i).collect();
    let old = Type::structure(&[1; 1000], &places, &types).unwrap();
    let blocks: Vec<i64> = (0..20_000).collect();
    let error = Type::indexed_block(1, &blocks, &old).unwrap_err();
    assert!(matches!(error, Error::TooManyEntries { limit: 0x100_0000, .. }), "{error}");
    assert!(Type::indexed_block(1, &blocks[..1000], &old).is_ok());
    // The data have no gaps, but a block still has more than one entry.
    let twins = [Basic::U8, Basic::I8].map(basic);
    let twins: Vec<Type> = twins.iter().cycle().take(1000).cloned().collect();
    let places_of_twins: Vec<i64> = (0..1000).collect();
    let gapless = Type::structure(&[1; 1000], &places_of_twins, &twins).unwrap();
    let error = Type::indexed_block(1, &blocks, &gapless).unwrap_err();
    assert!(matches!(error, Error::TooManyEntries { limit: 0x100_0000, .. }), "{error}");
    let nothing = Type::hindexed(&[0; 1000], &places, &old).unwrap();
    assert_eq!(Type::indexed_block(1, &blocks, &nothing).unwrap().size(), 0);
}
