//! Datasets written and read by Rust: layouts, parts, and what is refused.

use std::ffi::{c_uint, c_void};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use dtype_hdf5::Error;
use dtype_runtime::Datatype;
use dtype_test_support::particles::{Particle, Spin};
use hdf5_metno::plist::DatasetCreate;
use hdf5_metno::plist::file_access::FileCloseDegree;
use hdf5_metno::types::TypeDescriptor;
use hdf5_metno::{Dataset, File, Group};
use hdf5_metno_sys::LOCK;
use hdf5_metno_sys::h5p::H5Pset_filter;
use hdf5_metno_sys::h5t::{
    H5T_STD_B8BE, H5T_STD_B8LE, H5T_STD_B16BE, H5T_STD_B16LE, H5T_STD_B32BE, H5T_STD_B32LE,
    H5T_STD_B64BE, H5T_STD_B64LE, H5T_STD_I64LE, H5T_order_t, H5Tcopy, H5Tenum_create,
    H5Tenum_insert, H5Tset_offset, H5Tset_order, H5Tset_precision, H5Tset_size,
};
use hdf5_metno_sys::h5z::{H5Z_FLAG_MANDATORY, H5Z_class2_t, H5Z_filter_t, H5Zregister};

/// A file in memory.
fn file() -> File {
    // It has a name, too, which no other open file has.
    let name = format!("{:?}.h5", std::thread::current().id());
    let path = std::env::temp_dir().join(name);
    File::with_options().with_fapl(|fapl| fapl.core_filebacked(false)).create(path).unwrap()
}

fn compound(descriptor: TypeDescriptor) -> hdf5_metno::types::CompoundType {
    match descriptor {
        TypeDescriptor::Compound(compound) => compound,
        other => panic!("{other}"),
    }
}

#[test]
fn descriptors_have_the_layout_of_the_memory_and_of_packed_records() {
    let memory = dtype_hdf5::descriptor::<Particle>().unwrap();
    let packed = dtype_hdf5::packed_descriptor::<Particle>().unwrap();
    assert_eq!(memory.to_packed_repr(), packed);
    assert_eq!(memory.size(), size_of::<Particle>());
    assert_eq!(packed.size(), dtype_runtime::packed_size::<Particle>(1));
    let memory = compound(memory);
    let offset = |name: &str| memory.fields.iter().find(|field| field.name == name).unwrap().offset;
    assert_eq!(offset("position"), std::mem::offset_of!(Particle, position));
    assert_eq!(offset("wall"), std::mem::offset_of!(Particle, wall));
    assert_eq!(offset("symbol"), std::mem::offset_of!(Particle, symbol));
    assert!(memory.fields.is_sorted_by_key(|field| field.offset));
    let mut declared: Vec<_> =
        memory.fields.iter().map(|field| (field.index, &*field.name)).collect();
    declared.sort_unstable();
    let names = ["charge", "position", "spins", "wall", "id", "metric", "weight", "symbol"];
    assert!(declared.into_iter().eq(names.into_iter().enumerate()));
    // The library takes it as it is.
    let made =
        hdf5_metno::Datatype::from_descriptor(&dtype_hdf5::descriptor::<Particle>().unwrap());
    assert_eq!(made.unwrap().size(), size_of::<Particle>());
}

#[test]
fn skipped_and_empty_fields_are_not_in_the_compound() {
    #[derive(Datatype)]
    struct Cached {
        value: f32,
        #[dtype(skip)]
        _cache: Vec<u8>,
        _nothing: [u64; 0],
        _unit: (),
    }
    #[derive(Datatype, Debug, PartialEq)]
    struct Value {
        value: f32,
    }
    let packed = compound(dtype_hdf5::packed_descriptor::<Cached>().unwrap());
    assert_eq!((packed.fields.len(), packed.size), (1, 4));
    let file = file();
    let cached = [Cached { value: 1.5, _cache: vec![1], _nothing: [], _unit: () }];
    let dataset = dtype_hdf5::create(&file, "cached", &cached).unwrap();
    assert_eq!(dtype_hdf5::read::<Value>(&dataset).unwrap(), [Value { value: 1.5 }]);
}

#[test]
fn every_layout_has_the_same_records() {
    let file = file();
    let records = Particle::several(37);
    let packed = dtype_hdf5::packed_datatype::<Particle>().unwrap();
    let nested = dtype_hdf5::packed_descriptor::<Particle>().unwrap();
    let nested = hdf5_metno::Datatype::from_descriptor(&nested).unwrap();
    let memory = dtype_hdf5::datatype::<Particle>().unwrap();
    for (name, datatype) in [("packed", packed), ("memory", memory), ("nested", nested)] {
        let builder = || file.new_dataset_builder().empty_as(&datatype);
        let line = builder().shape(37).create(&*format!("{name}/line")).unwrap();
        dtype_hdf5::write(&line, &records).unwrap();
        assert_eq!(dtype_hdf5::read::<Particle>(&line).unwrap(), records);
        assert_eq!(dtype_hdf5::read_range::<Particle>(&line, 5..30).unwrap(), records[5..30]);
        let grid = builder().shape((4, 9)).create(&*format!("{name}/grid")).unwrap();
        dtype_hdf5::write(&grid, &records[..36]).unwrap();
        assert_eq!(dtype_hdf5::read::<Particle>(&grid).unwrap(), records[..36]);
        let one = builder().shape(()).create(&*format!("{name}/one")).unwrap();
        dtype_hdf5::write(&one, &records[3..4]).unwrap();
        assert_eq!(dtype_hdf5::read::<Particle>(&one).unwrap(), records[3..4]);
        let none = builder().shape(0).create(&*format!("{name}/none")).unwrap();
        dtype_hdf5::write::<Particle>(&none, &[]).unwrap();
        assert_eq!(dtype_hdf5::read::<Particle>(&none).unwrap(), []);
        let grows = file
            .new_dataset_builder()
            .chunk(8)
            .empty_as(&datatype)
            .shape(0..)
            .create(&*format!("{name}/grows"))
            .unwrap();
        for part in records.chunks(5) {
            dtype_hdf5::append(&grows, part).unwrap();
        }
        dtype_hdf5::append::<Particle>(&grows, &[]).unwrap();
        dtype_hdf5::write_at(&grows, 10, &records[..2]).unwrap();
        let read = dtype_hdf5::read::<Particle>(&grows).unwrap();
        assert_eq!((&read[..10], &read[10..12]), (&records[..10], &records[..2]));
        assert_eq!(read[12..], records[12..]);
    }
}

#[test]
fn single_values_and_arrays_are_items_too() {
    let file = file();
    let numbers = dtype_hdf5::create(&file, "numbers", &[1.5_f64, 2.5]).unwrap();
    assert_eq!(numbers.read_raw::<f64>().unwrap(), [1.5, 2.5]);
    assert_eq!(dtype_hdf5::read::<f64>(&numbers).unwrap(), [1.5, 2.5]);
    let vectors = [[1_i16, 2, 3], [4, 5, 6]];
    let dataset = dtype_hdf5::create(&file, "vectors", &vectors).unwrap();
    assert_eq!(dtype_hdf5::read::<[i16; 3]>(&dataset).unwrap(), vectors);
    assert_eq!(
        dtype_hdf5::read::<[i16; 4]>(&dataset).unwrap_err().to_string(),
        "the item has the shape [3] in the dataset, expected the shape [4]"
    );
    assert_eq!(
        dtype_hdf5::read::<i16>(&dataset).unwrap_err().to_string(),
        "the item has the shape [3] in the dataset, expected no shape"
    );
}

#[test]
fn what_the_library_derives_is_the_same_compound() {
    #[derive(Datatype, hdf5_metno::H5Type, Clone, Debug, PartialEq)]
    #[repr(C)]
    struct Sample {
        valid: bool,
        value: f64,
        tags: [u16; 3],
    }
    let (ours, theirs) = (dtype_hdf5::descriptor::<Sample>().unwrap(), {
        use hdf5_metno::H5Type;
        Sample::type_descriptor()
    });
    assert_eq!(ours, theirs);
    let file = file();
    let samples = [1.0, 2.0].map(|value| Sample { valid: value > 1.0, value, tags: [1, 2, 3] });
    let dataset = file.new_dataset_builder().with_data(&samples).create("theirs").unwrap();
    assert_eq!(dtype_hdf5::read::<Sample>(&dataset).unwrap(), samples);
    let dataset = dtype_hdf5::create(&file, "ours", &samples).unwrap();
    assert_eq!(dataset.read_raw::<Sample>().unwrap(), samples);
}

#[test]
fn lengths_and_ranges_are_checked() {
    let file = file();
    let dataset = dtype_hdf5::create(&file, "numbers", &[1_u32, 2, 3]).unwrap();
    let message = |result: Result<(), Error>| result.unwrap_err().to_string();
    assert_eq!(
        message(dtype_hdf5::write(&dataset, &[1_u32])),
        "the dataset has 3 items, expected 1 as there are records"
    );
    let outside =
        |start, end| format!("items {start} to {end} are not in the dataset, which has 3");
    assert_eq!(message(dtype_hdf5::write_at(&dataset, 2, &[1_u32, 2])), outside(2, 4));
    assert_eq!(
        message(dtype_hdf5::write_at(&dataset, usize::MAX, &[1_u32, 2])),
        outside(usize::MAX, usize::MAX)
    );
    #[allow(clippy::reversed_empty_ranges, reason = "that is the mistake")]
    for range in [0..4, 3..2, 4..4, 0..usize::MAX] {
        let expected = outside(range.start, range.end);
        let read = dtype_hdf5::read_range::<u32>(&dataset, range);
        assert_eq!(read.unwrap_err().to_string(), expected);
    }
    assert_eq!(dtype_hdf5::read_range::<u32>(&dataset, 3..3).unwrap(), []);
    // It cannot grow, and has what it had.
    assert!(matches!(dtype_hdf5::append(&dataset, &[4_u32]), Err(Error::Hdf5(_))));
    assert_eq!(dtype_hdf5::read::<u32>(&dataset).unwrap(), [1, 2, 3]);
    let grid = file.new_dataset::<u32>().shape((2, 2)).create("grid").unwrap();
    let axes = "the dataset has 2 axes, expected one axis to use a part of it";
    assert_eq!(message(dtype_hdf5::append(&grid, &[4_u32])), axes);
    assert_eq!(dtype_hdf5::read_range::<u32>(&grid, 0..1).unwrap_err().to_string(), axes);
    // The name is taken.
    let taken = dtype_hdf5::create(&file, "numbers", &[1_u32]);
    assert!(matches!(taken, Err(Error::Occupied { .. })));
    assert!(matches!(dtype_hdf5::create(&file, "a\0b", &[1_u32]), Err(Error::Hdf5(_))));
}

#[test]
fn what_hdf5_does_not_have_is_refused_by_name() {
    #[derive(Datatype)]
    struct Wide {
        _header: (u8, [(u16, u128); 2]),
    }
    assert_eq!(
        dtype_hdf5::descriptor::<Wide>().unwrap_err().to_string(),
        "field `_header.1.1` is u128, and HDF5 has no such datatype"
    );
    assert!(matches!(
        dtype_hdf5::packed_descriptor::<half::bf16>(),
        Err(Error::NoEquivalent { field, .. }) if field.is_empty()
    ));
    let empty = file().group("/").and_then(|group: Group| group.new_dataset::<u8>().create("x"));
    assert!(matches!(dtype_hdf5::read::<()>(&empty.unwrap()), Err(Error::NoData)));
    assert!(matches!(dtype_hdf5::descriptor::<[u64; 0]>(), Err(Error::NoData)));
    // Of these, the file would have the lower 32 bits of the size.
    let file = self::file();
    let error = dtype_hdf5::create::<(u8, [u8; 1 << 32])>(&file, "large", &[]).unwrap_err();
    let expected = "a record has 4294967297 bytes, and datatypes of HDF5 have at most 4294967295";
    assert_eq!(error.to_string(), expected);
    assert!(!file.link_exists("large"));
    assert!(dtype_hdf5::packed_descriptor::<[u8; (1 << 32) - 1]>().is_ok());
}

#[test]
fn what_the_library_says_when_it_creates_nothing_is_returned() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("numbers.h5");
    File::create(&path).unwrap();
    let file = File::open(&path).unwrap();
    let error = dtype_hdf5::create(&file, "numbers", &[1_u8]).unwrap_err().to_string();
    assert!(error.starts_with("H5Dcreate2(): "), "{error}");
    assert!(error.ends_with("no write intent on file"), "{error}");
}

#[test]
fn a_dataset_that_cannot_be_written_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let members = folder.path().join("members");
    std::fs::create_dir(&members).unwrap();
    let file = File::with_options()
        .with_fapl(|fapl| fapl.family_options(1 << 14))
        .create(members.join("%d.h5"))
        .unwrap();
    dtype_hdf5::create(&file, "small", &[1_u8]).unwrap();
    // There is no folder any more for the file's second member.
    std::fs::rename(&members, folder.path().join("moved")).unwrap();
    let large: Vec<u64> = (0..1 << 12).collect();
    assert!(matches!(dtype_hdf5::create(&file, "large", &large), Err(Error::Hdf5(_))));
    assert_eq!(file.member_names().unwrap(), ["small"]);
    std::fs::rename(folder.path().join("moved"), &members).unwrap();
    let dataset = dtype_hdf5::create(&file, "large", &large).unwrap();
    assert_eq!(dtype_hdf5::read::<u64>(&dataset).unwrap(), large);
}

#[test]
fn a_failed_append_leaves_the_dataset_as_it_was() {
    let file = file();
    let datatype = dtype_hdf5::packed_datatype::<Spin>().unwrap();
    let builder = file.new_dataset_builder().chunk(4).empty_as(&datatype);
    let dataset = builder.shape(0..).create("spins").unwrap();
    let error = dtype_hdf5::append(&dataset, &[(true, 1.5_f32)]).unwrap_err();
    assert_eq!(error.to_string(), "field `0` is missing in the dataset");
    assert_eq!(dataset.shape(), [0]);
}

#[test]
fn an_append_that_cannot_be_written_leaves_the_dataset_as_it_was() {
    /// The first number for filters in development.
    const FAILING: H5Z_filter_t = 256;
    unsafe extern "C" fn fail(
        _: c_uint,
        _: usize,
        _: *const c_uint,
        _: usize,
        _: *mut usize,
        _: *mut *mut c_void,
    ) -> usize {
        0
    }

    let class = H5Z_class2_t {
        version: 1,
        id: FAILING,
        encoder_present: 1,
        decoder_present: 1,
        name: c"failing".as_ptr(),
        can_apply: None,
        set_local: None,
        filter: Some(fail),
    };
    {
        let _guard = LOCK.lock();
        // SAFETY: the library copies the class; the name and the function are static.
        assert_eq!(unsafe { H5Zregister((&raw const class).cast()) }, 0);
    }
    let properties = DatasetCreate::build().finish().unwrap();
    {
        let _guard = LOCK.lock();
        // SAFETY: the call changes a list that nothing else refers to, and checks the handle. There are no parameters.
        let status = unsafe {
            H5Pset_filter(properties.id(), FAILING, H5Z_FLAG_MANDATORY, 0, std::ptr::null())
        };
        assert_eq!(status, 0);
    }
    let file = file();
    let builder = file.new_dataset::<u64>().set_create_plist(&properties);
    // Larger than the cache of chunks, so that each chunk is written at once.
    let dataset = builder.chunk(300_000).shape(0..).create("numbers").unwrap();
    assert!(matches!(dtype_hdf5::append(&dataset, &[1_u64, 2, 3]), Err(Error::Hdf5(_))));
    assert_eq!(dataset.shape(), [0]);
}

/// A datatype that no safe call makes.
fn handmade(make: impl FnOnce() -> i64) -> hdf5_metno::Datatype {
    let _guard = hdf5_metno_sys::LOCK.lock();
    // SAFETY: a new datatype that nothing else refers to.
    unsafe { hdf5_metno::from_id(make()) }.unwrap()
}

#[test]
fn numbers_of_other_formats_are_refused() {
    let file = file();
    let refused = |name: &str, datatype: hdf5_metno::Datatype| {
        let dataset = file.new_dataset_builder().empty_as(datatype).shape(2).create(name).unwrap();
        dtype_hdf5::read::<i64>(&dataset).unwrap_err().to_string()
    };
    let other = "the item is an integer of another format in the dataset, expected i64";
    // SAFETY: the library's calls, with the handles that it returned.
    let copy = || unsafe { H5Tcopy(*H5T_STD_I64LE) };
    let partial = handmade(|| {
        let id = copy();
        // SAFETY: as above.
        unsafe { H5Tset_precision(id, 40) };
        id
    });
    assert_eq!(refused("partial", partial), other);
    let shifted = handmade(|| {
        let id = copy();
        // SAFETY: as above.
        unsafe { (H5Tset_precision(id, 40), H5Tset_offset(id, 8)) };
        id
    });
    assert_eq!(refused("shifted", shifted), other);
    let wide = || {
        let id = copy();
        // SAFETY: as above.
        unsafe { (H5Tset_size(id, 16), H5Tset_precision(id, 128)) };
        id
    };
    assert_eq!(refused("wide", handmade(wide)), "the item is i128 in the dataset, expected i64");
    // Values of 16 bytes, which the member's value must not be read into 8 bytes of.
    let enumeration = handmade(|| {
        // SAFETY: as above; each value has the 16 bytes of its base.
        unsafe {
            let id = H5Tenum_create(wide());
            let value = [7_u8; 16];
            H5Tenum_insert(id, c"SEVEN".as_ptr(), value.as_ptr().cast());
            id
        }
    });
    assert_eq!(
        refused("enumeration", enumeration),
        "the item is an enumeration of i128 in the dataset, expected i64"
    );
    let swapped = handmade(|| {
        let id = copy();
        // SAFETY: as above.
        unsafe { H5Tset_order(id, H5T_order_t::H5T_ORDER_BE) };
        id
    });
    let builder = file.new_dataset_builder().empty_as(swapped);
    let dataset = builder.shape(2).create("swapped").unwrap();
    dtype_hdf5::write(&dataset, &[1_i64, -2]).unwrap();
    assert_eq!(dataset.read_raw::<i64>().unwrap(), [1, -2]);
    assert_eq!(dtype_hdf5::read::<i64>(&dataset).unwrap(), [1, -2]);
}

#[test]
fn bit_fields_are_unsigned_integers() {
    let file = file();
    let make = |name: &str, datatype, precision: usize| {
        let datatype = handmade(|| {
            // SAFETY: calls of the library with its own handles.
            unsafe {
                let id = H5Tcopy(datatype);
                H5Tset_precision(id, precision);
                id
            }
        });
        file.new_dataset_builder().empty_as(datatype).shape(2).create(name).unwrap()
    };
    macro_rules! check {
        ($unsigned:ty, $signed:ty, $little:expr, $big:expr) => {{
            let bits = <$unsigned>::BITS;
            for (order, datatype) in [("little", *$little), ("big", *$big)] {
                let dataset = make(&format!("{order} {bits}"), datatype, bits as usize);
                let records = [1, <$unsigned>::MAX - 2];
                dtype_hdf5::write(&dataset, &records).unwrap();
                assert_eq!(dtype_hdf5::read::<$unsigned>(&dataset).unwrap(), records, "{order}");
                let error = dtype_hdf5::read::<$signed>(&dataset).unwrap_err().to_string();
                let found = format!("a bit field of {bits} bits in the dataset");
                assert_eq!(error, format!("the item is {found}, expected i{bits}"));
                if bits != 32 {
                    let error = dtype_hdf5::read::<u32>(&dataset).unwrap_err().to_string();
                    assert_eq!(error, format!("the item is {found}, expected u32"));
                }
                if bits != 8 {
                    let error = dtype_hdf5::read::<bool>(&dataset).unwrap_err().to_string();
                    assert_eq!(error, format!("the item is {found}, expected bool"));
                }
                let partial = make(&format!("{order} part of {bits}"), datatype, bits as usize - 1);
                let error = dtype_hdf5::read::<$unsigned>(&partial).unwrap_err().to_string();
                let found = "a bit field of another format in the dataset";
                assert_eq!(error, format!("the item is {found}, expected u{bits}"));
            }
        }};
    }
    check!(u8, i8, H5T_STD_B8LE, H5T_STD_B8BE);
    check!(u16, i16, H5T_STD_B16LE, H5T_STD_B16BE);
    check!(u32, i32, H5T_STD_B32LE, H5T_STD_B32BE);
    check!(u64, i64, H5T_STD_B64LE, H5T_STD_B64BE);

    // As pandas writes truth values.
    let dataset = make("truth", *H5T_STD_B8LE, 8);
    dtype_hdf5::write(&dataset, &[true, false]).unwrap();
    assert_eq!(dtype_hdf5::read::<bool>(&dataset).unwrap(), [true, false]);
    dtype_hdf5::write(&dataset, &[1_u8, 2]).unwrap();
    let error = dtype_hdf5::read::<bool>(&dataset).unwrap_err();
    assert_eq!(error.to_string(), "record 1: 0x2 is not a valid bool");
}

#[test]
fn datatypes_nest_only_so_deep() {
    let file = file();
    let mut descriptor = TypeDescriptor::Unsigned(hdf5_metno::types::IntSize::U1);
    for _ in 0..100 {
        descriptor = TypeDescriptor::FixedArray(Box::new(descriptor), 1);
    }
    let datatype = hdf5_metno::Datatype::from_descriptor(&descriptor).unwrap();
    let dataset = file.new_dataset_builder().empty_as(datatype).shape(1).create("deep").unwrap();
    let error = dtype_hdf5::read::<u8>(&dataset).unwrap_err().to_string();
    assert_eq!(error, "the item of the dataset has a malformed datatype");
}

#[test]
fn closed_files_are_errors() {
    // With all that is open in it.
    let path = std::env::temp_dir().join("closed.h5");
    let file = File::with_options()
        .with_fapl(|fapl| fapl.core_filebacked(false).fclose_degree(FileCloseDegree::Strong))
        .create(path)
        .unwrap();
    let dataset = dtype_hdf5::create(&file, "numbers", &[1_u32, 2, 3]).unwrap();
    file.close().unwrap();
    assert!(!dataset.is_valid());
    assert!(matches!(dtype_hdf5::read::<u32>(&dataset), Err(Error::Hdf5(_))));
    assert!(matches!(dtype_hdf5::write(&dataset, &[1_u32, 2, 3]), Err(Error::Hdf5(_))));
}

#[test]
fn threads_share_a_file() {
    let file = file();
    std::thread::scope(|scope| {
        for thread in 0..4_u32 {
            let file = &file;
            scope.spawn(move || {
                let records = Particle::several(100 + thread);
                let name = format!("particles-{thread}");
                let dataset = dtype_hdf5::create(file, &name, &records).unwrap();
                for _ in 0..20 {
                    assert_eq!(dtype_hdf5::read::<Particle>(&dataset).unwrap(), records);
                }
            });
        }
    });
}

#[test]
fn a_name_is_one_threads_and_its_records_are_there() {
    let (file, start) = (file(), Barrier::new(2));
    let mine = |thread: u64, name: &str| {
        start.wait();
        match dtype_hdf5::create(&file, name, &[thread; 9]) {
            Ok(_) => true,
            Err(Error::Occupied { found: "a dataset", .. }) => {
                let dataset = file.dataset(name).unwrap();
                assert_ne!(dtype_hdf5::read::<u64>(&dataset).unwrap()[8], 0);
                false
            }
            Err(error) => panic!("{error}"),
        }
    };
    for name in 0..500 {
        let (name, mine) = (&name.to_string(), &mine);
        let created: Vec<bool> = std::thread::scope(|scope| {
            let threads = [1, 2].map(|thread| scope.spawn(move || mine(thread, name)));
            threads.map(|thread| thread.join().unwrap()).to_vec()
        });
        assert_ne!(created[0], created[1]);
    }
}

/// A dataset that can grow, with these records.
fn growing(file: &File, records: &[(u64, u64)]) -> Dataset {
    let datatype = dtype_hdf5::packed_datatype::<(u64, u64)>().unwrap();
    let builder = file.new_dataset_builder().chunk(64).empty_as(&datatype);
    let dataset = builder.shape(0..).create("growing").unwrap();
    dtype_hdf5::append(&dataset, records).unwrap();
    dataset
}

#[test]
fn threads_append_to_a_dataset() {
    const CALLS: u64 = 200;
    let file = file();
    let dataset = growing(&file, &[]);
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            let dataset = &dataset;
            scope.spawn(move || {
                for call in 0..CALLS {
                    let records = [(thread, 2 * call), (thread, 2 * call + 1)];
                    dtype_hdf5::append(dataset, &records).unwrap();
                }
            });
        }
    });
    let records = dtype_hdf5::read::<(u64, u64)>(&dataset).unwrap();
    assert_eq!(records.len() as u64, 4 * 2 * CALLS);
    for thread in 0..4 {
        let of_thread = records.iter().filter(|(of, _)| *of == thread).map(|(_, number)| *number);
        assert!(of_thread.eq(0..2 * CALLS));
    }
    assert!(records.chunks(2).all(|pair| pair[0].0 == pair[1].0));
}

#[test]
fn what_is_read_is_what_was_there_at_one_time() {
    let file = file();
    let records: Vec<_> = (1..=1000).map(|number| (number, number)).collect();
    let dataset = growing(&file, &records);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                dataset.resize(10).unwrap();
                dtype_hdf5::append(&dataset, &records[10..]).unwrap();
            }
        });
        for _ in 0..1000 {
            let read = dtype_hdf5::read::<(u64, u64)>(&dataset).unwrap();
            let expected = &records[..read.len()];
            done.fetch_or(read != expected, Ordering::Relaxed);
            assert_eq!(read, expected);
            let range = dtype_hdf5::read_range::<(u64, u64)>(&dataset, 5..500);
            if let Ok(read) = range {
                done.fetch_or(read != records[5..500], Ordering::Relaxed);
                assert_eq!(read, records[5..500]);
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// What this crate does not rely on, and why it has the library convert nothing.
#[test]
fn the_library_itself_cuts_values_and_leaves_missing_fields_as_they_were() {
    #[derive(Datatype)]
    struct Stored {
        _wide: i64,
    }
    #[derive(hdf5_metno::H5Type, Datatype, Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    struct Read {
        _wide: i32,
        _missing: u32,
    }
    let file = file();
    let dataset = dtype_hdf5::create(&file, "wide", &[Stored { _wide: 1 << 40 }]).unwrap();
    let mut read = [Read { _wide: 0, _missing: 0x5555_5555 }];
    dataset.read_into_raw(&mut read).unwrap();
    assert_eq!(read, [Read { _wide: i32::MAX, _missing: 0x5555_5555 }]);
    assert_eq!(
        dtype_hdf5::read::<Read>(&dataset).unwrap_err().to_string(),
        "field `_wide` is i64 in the dataset, expected i32"
    );
}

#[test]
fn a_name_that_is_taken_is_refused_with_what_is_there() {
    let file = file();
    dtype_hdf5::create(&file, "data", &[1_u8]).unwrap();
    let group = file.create_group("group").unwrap();
    dtype_hdf5::create(&group, "deep/data", &[2_u8]).unwrap();
    file.link_soft("/nowhere", "link").unwrap();
    for (within, name, expected) in [
        (&*file, "data", "/data` is a dataset, expected nothing"),
        (&file, "/data/", "/data` is a dataset, expected nothing"),
        (&file, "data/more", "/data` is a dataset, expected a group"),
        (&file, "group", "/group` is a group, expected nothing"),
        (&group, "./deep/data", "/group/deep/data` is a dataset, expected nothing"),
        (&group, "/data", "/data` is a dataset, expected nothing"),
        (&group, "", "/group` is a group, expected nothing"),
        (&file, "link", "/link` is a link that leads nowhere, expected nothing"),
        (&file, "link/more", "/link` is a link that leads nowhere, expected a group"),
    ] {
        let error = dtype_hdf5::create(within, name, &[3_u8]).unwrap_err();
        let Error::Occupied { file: name_of_file, .. } = &error else { panic!("{error:?}") };
        assert_eq!(*name_of_file, file.filename());
        let (path, rest) = expected.split_once('`').unwrap();
        assert_eq!(error.to_string(), format!("`{path}` in `{name_of_file}`{rest}"), "{name}");
    }
    assert_eq!(dtype_hdf5::read::<u8>(&file.dataset("data").unwrap()).unwrap(), [1]);
    assert!(dtype_hdf5::create(&group, "/fine/data", &[4_u8]).is_ok());

    // A group that has no path any more has names of its own.
    file.unlink("group").unwrap();
    assert!(dtype_hdf5::create(&group, "data", &[5_u8]).is_ok());
    let error = dtype_hdf5::create(&group, "data", &[6_u8]).unwrap_err();
    assert!(matches!(error, Error::Occupied { found: "a dataset", .. }), "{error}");
}
