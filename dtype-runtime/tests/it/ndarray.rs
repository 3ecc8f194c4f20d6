//! Arrays of the `ndarray` crate, compared with the results of their own iterators.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "indices made elements"
)]

use dtype_runtime::ndarray::{ArrayDatatype, unpack};
use dtype_runtime::types::{Entry, Order};
use dtype_runtime::{Basic, Datatype, Error, Type};
use dtype_test_support::model::config;
use ndarray::{
    Array, Array0, Array1, Array2, Array3, ArrayBase, ArrayD, ArrayView, ArrayViewD, Axis, Data,
    IxDyn, RawData, ShapeBuilder, Slice, arr0, array, s,
};
use proptest::prelude::*;

/// An element with padding, a checked field and a skipped field.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Cell {
    flag: bool,
    level: f32,
    #[dtype(skip)]
    visits: u16,
    code: u8,
}

impl Cell {
    fn new(i: usize) -> Self {
        let code = i.to_le_bytes()[0];
        Self { flag: i.is_multiple_of(3), level: f32::from(code) / 4.0, visits: 500, code }
    }
}

/// An operation on a view that does not look at the elements.
#[derive(Clone, Debug)]
enum Step {
    /// Every `n`-th element of a part of an axis; backwards if `n` is negative.
    Slice {
        axis: usize,
        from: usize,
        to: usize,
        step: isize,
    },
    Invert(usize),
    Swap(usize, usize),
    Insert(usize),
    /// The elements at one index of an axis.
    Index(usize, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (axis, index) = (0_usize..8, 0_usize..4);
    let step = prop_oneof![
        4 => (axis.clone(), index.clone(), index.clone(), 1_isize..4, any::<bool>()).prop_map(
            |(axis, from, to, step, back)| {
                Step::Slice { axis, from, to, step: if back { -step } else { step } }
            }
        ),
        2 => axis.clone().prop_map(Step::Invert),
        4 => (axis.clone(), axis.clone()).prop_map(|(a, b)| Step::Swap(a, b)),
        1 => axis.clone().prop_map(Step::Insert),
        1 => (axis, index).prop_map(|(axis, index)| Step::Index(axis, index)),
    ];
    prop::collection::vec(step, 0..7)
}

fn take<S: RawData>(mut view: ArrayBase<S, IxDyn>, steps: &[Step]) -> ArrayBase<S, IxDyn> {
    for step in steps {
        let ndim = view.ndim();
        if let Step::Insert(axis) = *step {
            if ndim < 6 {
                view = view.insert_axis(Axis(axis % (ndim + 1)));
            }
            continue;
        }
        if ndim == 0 {
            continue;
        }
        match *step {
            Step::Slice { axis, from, to, step } => {
                let axis = Axis(axis % ndim);
                let len = view.len_of(axis);
                // Both halves of the range keep some elements.
                let (from, to) = (from % (len / 2 + 1), len - to % (len / 2 + 1));
                let (from, to) = (from.min(to).cast_signed(), to.cast_signed());
                view.slice_axis_inplace(axis, Slice::new(from, Some(to), step));
            }
            Step::Invert(axis) => view.invert_axis(Axis(axis % ndim)),
            Step::Swap(a, b) => view.swap_axes(a % ndim, b % ndim),
            Step::Index(axis, index) => {
                let axis = Axis(axis % ndim);
                if view.len_of(axis) > 0 {
                    let index = index % view.len_of(axis);
                    view = view.index_axis_move(axis, index);
                }
            }
            Step::Insert(_) => unreachable!("done above"),
        }
    }
    view
}

/// The lengths of up to six axes, and whether they are in Fortran's order.
fn shapes() -> impl Strategy<Value = (Vec<usize>, bool)> {
    (prop::collection::vec(prop_oneof![40 => 1_usize..8, 1 => Just(0)], 0..=6), any::<bool>())
}

fn new<T>((lengths, fortran): &(Vec<usize>, bool), element: fn(usize) -> T) -> ArrayD<T> {
    let mut next = 0..;
    Array::from_shape_simple_fn(IxDyn(lengths).set_f(*fortran), || {
        element(next.next().unwrap_or(0))
    })
}

fn listed<T: Clone, S: Data<Elem = T>>(view: &ArrayBase<S, IxDyn>) -> Vec<T> {
    view.iter().cloned().collect()
}

/// Every function that packs a view returns the packed bytes of a list of its elements.
fn check_pack<T: Datatype + Clone>(view: &ArrayViewD<'_, T>, cut: usize) {
    let expected = dtype_runtime::pack(&listed(view));
    assert_eq!(view.pack().unwrap(), expected);
    let layout = view.commit().unwrap();
    assert_eq!(layout.element_count(), view.len());
    assert_eq!(layout.pack(view).unwrap(), expected);

    let len = expected.len();
    for front in [&mut |out: &mut [u8]| view.pack_into(out), &mut |out: &mut [u8]| {
        layout.pack_into(view, out)
    }] as [&mut dyn FnMut(&mut [u8]) -> Result<usize, Error>; 2]
    {
        let mut out = vec![0xA5; len + 3];
        assert_eq!(front(&mut out), Ok(len));
        assert_eq!((&out[..len], &out[len..]), (&expected[..], &[0xA5; 3][..]));
        if let Some(short) = len.checked_sub(1) {
            let mut out = vec![0xA5; short];
            let (needed, available) = (len as u64, short as u64);
            assert_eq!(front(&mut out), Err(Error::DestinationTooSmall { needed, available }));
            assert!(out.iter().all(|&byte| byte == 0xA5));
        }
    }

    for mut packer in [view.packer().unwrap(), layout.packer(view).unwrap()] {
        let mut packed = Vec::new();
        let mut fragment = vec![0; cut];
        while !packer.is_complete() {
            let bytes = packer.pack(&mut fragment);
            packed.extend_from_slice(&fragment[..bytes]);
        }
        assert_eq!(packed, expected);
    }
}

/// The displacements of the elements, relative to the first one.
fn check_datatype(view: &ArrayViewD<'_, u16>) {
    let ty = view.datatype().unwrap();
    let first = view.as_ptr().addr();
    let places: Vec<i64> = view
        .iter()
        .map(|element| core::ptr::from_ref(element).addr().wrapping_sub(first).cast_signed() as i64)
        .collect();
    assert_eq!(ty.type_map().map(|entry| entry.displacement).collect::<Vec<_>>(), places);
    assert!(ty.type_map().all(|entry| entry.basic == Basic::U16));
    // The datatype has at most as many levels as the view has axes with more than one element.
    let axes = view.shape().iter().filter(|&&len| len > 1).count();
    let description = ty.description();
    let loops =
        description.entries().iter().filter(|entry| matches!(entry, Entry::Loop(_))).count();
    assert!(view.is_empty() || loops <= axes, "{ty:?}");
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn views_are_packed_as_they_are_listed(shape in shapes(), steps in steps(), cut in 1_usize..40) {
        let numbers = new(&shape, |i| u16::try_from(i % 65_536).unwrap());
        let view = take(numbers.view(), &steps);
        check_datatype(&view);
        check_pack(&view, cut);
        check_pack(&take(new(&shape, Cell::new).view(), &steps), cut);
        check_pack(&take(new(&shape, |i| [i as f64, -1.0, 0.5]).view(), &steps), cut);
        check_pack(&take(new(&shape, |_| ()).view(), &steps), cut);
        // A view that repeats the same elements many times.
        let mut more = view.shape().to_vec();
        more.insert(0, cut % 4);
        let many = view.broadcast(more).unwrap();
        check_datatype(&many);
        check_pack(&many, cut);
    }

    #[test]
    fn views_are_unpacked_where_they_lie(shape in shapes(), steps in steps(), cut in 1_usize..40) {
        // The expected elements are written one by one, by the view's own iterator.
        let mut target = new(&shape, |i| Cell { visits: 7, ..Cell::new(i + 40) });
        let mut wanted = target.clone();
        let mut other = 0..;
        for cell in take(wanted.view_mut(), &steps) {
            let Cell { flag, level, code, .. } = Cell::new(other.next().unwrap_or(0));
            *cell = Cell { flag, level, code, visits: cell.visits };
        }
        let before = target.clone();
        let cells = listed(&take(wanted.view(), &steps));
        let bytes = dtype_runtime::pack(&cells);
        let mut view = take(target.view_mut(), &steps);
        prop_assert_eq!(view.unpack_from(&bytes), Ok(bytes.len()));
        prop_assert_eq!(&target, &wanted);

        // The same in fragments.
        target.assign(&before);
        let mut view = take(target.view_mut(), &steps);
        let mut unpacker = view.unpacker().unwrap();
        for fragment in bytes.chunks(cut) {
            prop_assert_eq!(unpacker.unpack(fragment), Ok(fragment.len()));
        }
        prop_assert!(unpacker.is_complete());
        prop_assert_eq!(&target, &wanted);

        // After an error nothing is changed, and the error names the position.
        target.assign(&before);
        let mut view = take(target.view_mut(), &steps);
        let mut longer = bytes.clone();
        longer.push(0);
        let (expected, actual) = (bytes.len() as u64, longer.len() as u64);
        prop_assert_eq!(
            view.unpack_from(&longer),
            Err(Error::PackedLength { expected, actual })
        );
        if !cells.is_empty() {
            let record = cut % cells.len();
            let mut wrong = bytes;
            wrong[6 * record] = 2;
            let refused = Error::InvalidValue {
                record,
                path: "flag".into(),
                expected: "bool",
                value: 2,
            };
            prop_assert_eq!(view.unpack_from(&wrong), Err(refused.clone()));
            let mut unpacker = view.unpacker().unwrap();
            let (last, front) = wrong.split_last().unwrap();
            prop_assert_eq!(unpacker.unpack(front), Ok(front.len()));
            prop_assert_eq!(unpacker.unpack(&[*last]), Err(refused));
        }
        prop_assert_eq!(&target, &before);
    }

    #[test]
    fn new_arrays_of_any_shape((lengths, fortran) in shapes()) {
        let original = new(&(lengths.clone(), fortran), |i| (i as f64, i % 2 == 0));
        let bytes = original.pack().unwrap();
        let shape = IxDyn(&lengths).set_f(fortran);
        let copy: ArrayD<(f64, bool)> = unpack(shape, &bytes).unwrap();
        prop_assert_eq!(&copy, &original);
        prop_assert_eq!(copy.strides(), original.strides());
        let units = new(&(lengths.clone(), fortran), |_| ());
        let copy: ArrayD<()> = unpack(IxDyn(&lengths).set_f(fortran), &[]).unwrap();
        prop_assert_eq!(copy, units);
        if let Some(last) = bytes.last() {
            let mut wrong = bytes.clone();
            *wrong.last_mut().unwrap() = last + 2;
            let error = unpack::<(f64, bool), _>(IxDyn(&lengths).set_f(fortran), &wrong);
            let refused = Error::InvalidValue {
                record: original.len() - 1,
                path: "1".into(),
                expected: "bool",
                value: u128::from(last + 2),
            };
            prop_assert_eq!(error.unwrap_err(), refused);
        }
    }
}

#[test]
fn datatypes_are_the_constructors_of_the_standard() {
    let f64s = Type::basic(Basic::F64);
    let cube = Array3::<f64>::zeros((4, 5, 6));
    let one = |ty: Result<Type, Error>| ty.unwrap();
    assert_eq!(one(cube.datatype()), one(Type::contiguous(120, &f64s)));
    assert_eq!(one(arr0(1.0).datatype()), f64s);
    assert_eq!(one(cube.slice(s![0..0, .., ..]).datatype()), one(Type::contiguous(0, &f64s)));
    // Axes of one element have no effect.
    assert_eq!(one(cube.slice(s![1..2, 3, 2..3]).datatype()), f64s);
    let pillar = one(Type::hvector(5, 1, 48, &f64s));
    assert_eq!(one(cube.slice(s![1..2, .., 3..4]).datatype()), pillar);
    // One face of each kind. In the first face, the second and the third axis merge.
    assert_eq!(one(cube.slice(s![1, .., ..]).datatype()), one(Type::contiguous(30, &f64s)));
    assert_eq!(one(cube.slice(s![.., 0, ..]).datatype()), one(Type::hvector(4, 6, 240, &f64s)));
    assert_eq!(one(cube.slice(s![.., .., 5]).datatype()), one(Type::hvector(20, 1, 48, &f64s)));
    let all_backwards = cube.slice(s![..;-1, ..;-1, ..;-1]);
    assert_eq!(one(all_backwards.datatype()), one(Type::hvector(120, 1, -8, &f64s)));
    let transposed = one(Type::hvector(4, 1, 240, &f64s));
    let transposed = one(Type::hvector(5, 1, 48, &transposed));
    assert_eq!(one(cube.t().datatype()), one(Type::hvector(6, 1, 8, &transposed)));
    // A part of an array as MPI's subarray, with the same bytes.
    let part = cube.slice(s![1..3, 2..5, 1..]);
    let subarray = one(Type::subarray(&[4, 5, 6], &[2, 3, 5], &[1, 2, 1], Order::C, &f64s));
    let shift = (30 + 2 * 6 + 1) * 8;
    assert!(
        one(part.datatype())
            .type_map()
            .map(|entry| entry.displacement + shift)
            .eq(subarray.type_map().map(|entry| entry.displacement))
    );
}

#[test]
fn arrays_of_known_dimensions_and_owners() {
    let mut nothing: Array0<u8> = arr0(7);
    assert_eq!(nothing.pack().unwrap(), [7]);
    nothing.unpack_from(&[9]).unwrap();
    assert_eq!(nothing, arr0(9));
    let mut vector: Array1<u16> = array![1, 2, 3];
    vector.unpack_from(&dtype_runtime::pack(&[4_u16, 5, 6])).unwrap();
    assert_eq!(vector, array![4, 5, 6]);
    let mut six = Array::from_shape_fn((2, 1, 2, 1, 2, 1), |(a, _, b, _, c, _)| (a + b + c) as u8);
    six.invert_axis(Axis(4));
    assert_eq!(six.pack().unwrap(), [1, 0, 2, 1, 2, 1, 3, 2]);

    // Writing to a shared array copies it, so the array of the other owner is unchanged.
    let mut shared = Array2::<u8>::zeros((2, 2)).into_shared();
    let other = shared.clone();
    shared.unpack_from(&[1, 2, 3, 4]).unwrap();
    assert_eq!(
        (shared, other),
        (array![[1, 2], [3, 4]].into_shared(), Array2::zeros((2, 2)).into())
    );

    // A view of borrowed memory with strides of its own.
    let memory = [0_u8, 1, 2, 3, 4, 5, 6];
    let view = ArrayView::from_shape((2, 2).strides((4, 2)), &memory).unwrap();
    assert_eq!(view.pack().unwrap(), [0, 2, 4, 6]);
}

#[test]
fn a_layout_is_for_its_shape_and_strides() {
    let mut grid = Array2::from_shape_fn((6, 8), |(i, j)| (i * 8 + j) as u32);
    let layout = grid.slice(s![..;2, 1]).commit().unwrap();
    let refused = |axis, quantity, expected, actual| {
        Err(Error::ArrayLayout { axis, quantity, expected, actual })
    };
    let mut out = [0xA5; 64];
    assert_eq!(
        layout.pack_into(&grid.slice(s![.., 1]), &mut out),
        refused(Some(0), "length", 3, 6)
    );
    assert_eq!(
        layout.pack_into(&grid.slice(s![1, ..3]), &mut out),
        refused(Some(0), "stride in bytes", 64, 4)
    );
    assert_eq!(
        layout.pack_into(&grid.slice(s![5, ..3;-1]), &mut out),
        refused(Some(0), "stride in bytes", 64, -4)
    );
    assert_eq!(layout.pack_into(&grid, &mut out), refused(None, "dimensions", 1, 2));
    assert!(layout.packer(&grid).is_err() && layout.pack(&grid).is_err());
    assert_eq!(out, [0xA5; 64]);
    let before = grid.clone();
    let bytes = [1; 12];
    assert_eq!(
        layout.unpack_into(&bytes, &mut grid.slice_mut(s![3.., 1])),
        refused(Some(0), "stride in bytes", 64, 32)
    );
    assert!(layout.unpacker(&mut grid.slice_mut(s![3.., 1])).is_err());
    assert_eq!(grid, before);
    // The layout serves the other columns. A reversed column needs the reversed layout.
    for column in 0..8 {
        let view = grid.slice(s![1..;2, column]);
        assert_eq!(layout.pack(&view).unwrap(), view.pack().unwrap());
        layout.unpack_into(&bytes, &mut grid.slice_mut(s![1..;2, column])).unwrap();
    }
    assert!(grid.slice(s![1..;2, ..]).iter().all(|&element| element == 0x0101_0101));
    assert!(grid.slice(s![..;2, ..]) == before.slice(s![..;2, ..]));
    // The stride of an axis with one element, or without elements, does not matter.
    let memory = [0_u32; 16];
    let [a, b] =
        [3, 5].map(|stride| ArrayView::from_shape((1, 2).strides((stride, 2)), &memory).unwrap());
    assert!(a.commit().unwrap().pack(&b).is_ok());
    let (a, b) = (grid.slice(s![..0, ..]), grid.slice(s![..0, ..;-1]));
    assert_eq!(a.commit().unwrap().pack(&b), Ok(Vec::new()));
}

#[test]
fn shapes_from_elsewhere_are_refused() {
    let huge = usize::MAX;
    let too_large = Error::Overflow { call: "unpack", quantity: "number of elements" };
    for shape in [vec![huge], vec![huge, 0], vec![0, huge, 2], vec![huge / 2, 4]] {
        assert_eq!(unpack::<u8, _>(IxDyn(&shape), &[]).unwrap_err(), too_large);
        assert_eq!(unpack::<(), _>(IxDyn(&shape).set_f(true), &[]).unwrap_err(), too_large);
    }
    // The largest number of elements that can be addressed, without memory for them.
    let most = isize::MAX.cast_unsigned();
    let error = unpack::<u64, _>((most, 1).f(), &[0; 8]).unwrap_err();
    let expected = (most as u64).saturating_mul(8);
    assert_eq!(error, Error::PackedLength { expected, actual: 8 });
    assert_eq!(unpack::<(), _>(most, &[]).unwrap().len(), most);

    // A view larger than any memory is valid, and an error only when it is packed.
    let many = arr0(1_u8);
    let many = many.broadcast(most).unwrap();
    assert_eq!(many.commit().unwrap().packed_size(), Ok(most));
    assert_eq!(many.pack(), Err(Error::Allocation { count: most, stride: 1 }));
    let mut packer = many.packer().unwrap();
    packer.set_position(packer.remaining() - 2).unwrap();
    let mut out = [0; 4];
    assert_eq!((packer.pack(&mut out), out), (2, [1, 1, 0, 0]));
    let many = arr0(1_u64);
    let error = many.broadcast(most).unwrap().pack().unwrap_err();
    assert!(matches!(error, Error::Overflow { .. } | Error::CountTooLarge { .. }), "{error}");
}

#[test]
fn large_transposes_are_unpacked() {
    // There are too many blocks to compare one by one, so the strides have to prove that none overlap.
    let side = 2050;
    let original = Array2::from_shape_fn((side, side), |(i, j)| (i * 7 + j) as u8);
    let bytes = original.t().pack().unwrap();
    let mut copy = Array2::<u8>::zeros((side, side));
    copy.view_mut().reversed_axes().unpack_from(&bytes).unwrap();
    assert!(copy == original);
    let mut cube = Array3::<u8>::zeros((170, 160, 170));
    let mut view = cube.view_mut().permuted_axes([1, 2, 0]);
    view.invert_axis(Axis(1));
    let values = dtype_runtime::pack(&(0..view.len()).map(|i| (i % 251) as u8).collect::<Vec<_>>());
    view.unpack_from(&values).unwrap();
    assert!(view.iter().eq(&values));
}

/// Threads can share the layout of an array, whatever the elements are.
#[test]
fn layouts_are_shared() {
    fn shared<T: Send + Sync + Clone>(_: &T) {}
    let grid = Array2::<f64>::ones((300, 300));
    let layout = grid.slice(s![.., 0]).commit().unwrap();
    shared(&layout);
    let columns: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let pack = |column| layout.pack(&grid.slice(s![.., column])).unwrap();
        let threads: Vec<_> = (0..4).map(|column| scope.spawn(move || pack(column))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(columns.iter().all(|column| *column == dtype_runtime::pack(&[1.0; 300])));
}

/// A view that repeats one element so often that no machine has memory for all copies.
#[cfg(all(unix, target_pointer_width = "64"))]
#[test]
fn too_many_copies_for_any_memory_are_an_error() {
    const SIZE: usize = 1 << 38;
    type Huge = [u8; SIZE];

    // SAFETY: a new anonymous mapping, of zeros that take no memory.
    let start = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        libc::mmap(std::ptr::null_mut(), SIZE, libc::PROT_READ, flags, -1, 0)
    };
    assert_ne!(start, libc::MAP_FAILED);
    {
        // SAFETY: the mapping has this number of initialised bytes. Nothing writes them, and they stay mapped as long as the
        // reference lives.
        let huge = unsafe { &*start.cast::<Huge>() };
        let one = ndarray::aview0(huge);
        for count in [511, 512, 513] {
            let refused = Err(Error::Allocation { count, stride: SIZE });
            assert_eq!(one.broadcast(count).unwrap().pack(), refused);
        }
    }
    // SAFETY: no references to the mapping are left.
    unsafe { libc::munmap(start, SIZE) };
}

#[test]
fn columns_are_arrays_with_the_axes_of_their_fields() {
    let records =
        [(1_u8, [[(1_u16, true), (2, false)], [(3, true), (4, true)], [(5, false), (6, true)]])];
    let records = [records[0], records[0]];
    let mut columns = dtype_runtime::columns(&records);
    assert_eq!(columns.array::<u8>("0").unwrap().shape(), [2]);
    let numbers = columns.array::<u16>("1.0").unwrap();
    assert_eq!(numbers.shape(), [2, 3, 2]);
    assert_eq!(numbers[[1, 2, 0]], 5);
    let rows = columns.array::<[u16; 2]>("1.0").unwrap();
    assert_eq!((rows.shape(), rows[[0, 1]]), (&[2, 3][..], [3, 4]));
    columns.array_mut::<bool>("1.1").unwrap()[[1, 0, 1]] = true;
    assert!(columns.to_records().unwrap()[1].1[0][1].1);
    assert_eq!(columns.take_array::<u16>("1.0").unwrap().sum(), 42);
    assert!(columns.array::<u16>("1.0").is_err());
    assert!(columns.array::<u16>("0").is_err());
}
