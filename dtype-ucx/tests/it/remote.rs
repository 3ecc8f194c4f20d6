//! Registered memory in one process: put, got, refused and kept, with mapped memory and with memory that is not mapped.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::alone::alone;
use crate::encoded::{address_of, key_of};

use dtype_runtime::types::{Level, Order};
use dtype_runtime::{Basic, Buffer, BufferMut, Committed, Datatype, Type, bytes_of, bytes_of_mut};
use dtype_test_support::numbers::Numbers;
use dtype_ucx::{
    Context, Elements, ElementsMut, Endpoint, Error, Multi, Registered, Single, Worker,
};

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Particle {
    position: [f64; 3],
    charge: i8,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Checked {
    value: u32,
    valid: bool,
}

fn particle(i: usize) -> Particle {
    let x = f64::from(u32::try_from(i).unwrap());
    Particle { position: [x, -x, 0.5 * x], charge: i.to_le_bytes()[0].cast_signed() }
}

fn particles(count: usize) -> Vec<Particle> {
    (0..count).map(particle).collect()
}

/// Transports that can map memory, and one that cannot.
const TRANSPORTS: [(&str, bool); 3] =
    [("self", false), ("self,posix,cma", true), ("self,sysv", true)];

type Loop = (Context, Worker<Single>, Endpoint<Single>);

fn setup(transports: &str) -> Loop {
    let context = Context::with_settings([("TLS", transports)]).unwrap();
    let worker = context.worker().unwrap();
    let endpoint = worker.connect(&worker.address().unwrap()).unwrap();
    (context, worker, endpoint)
}

/// Runs a test with mapped memory, with memory that is not mapped, and with memory that the caller has allocated.
fn with_memory<T: Datatype + Clone + 'static>(
    items: &[T],
    test: impl Fn(&Endpoint<Single>, &Registered<T>),
) {
    for (transports, mapped) in TRANSPORTS {
        let (context, _worker, endpoint) = setup(transports);
        let memory = context.register(items).unwrap();
        let remote = endpoint.remote_memory::<T>(&memory.key().unwrap()).unwrap();
        assert_eq!(remote.is_mapped(), mapped, "{transports}");
        drop(remote);
        test(&endpoint, &memory);
        // SAFETY: the test no longer uses the key, and has flushed its puts.
        unsafe { memory.unregister() };

        let mut own = Vec::<T>::with_capacity(items.len());
        // SAFETY: the vector has room for the items, all of whose bytes are initialised, and it outlives the registration.
        let memory = unsafe {
            own.as_mut_ptr().write_bytes(0, items.len());
            context.register_in_place(own.as_mut_ptr(), items.len()).unwrap()
        };
        memory.write(0, items).unwrap();
        test(&endpoint, &memory);
        drop(memory);
    }
}

#[test]
fn structs_are_put_and_got() {
    with_memory(&particles(1000), |endpoint, memory| {
        let remote = endpoint.remote_memory::<Particle>(&memory.key().unwrap()).unwrap();
        assert_eq!((remote.len(), remote.is_empty()), (1000, false));
        for (at, count) in [(0, 1), (999, 1), (3, 500), (1000, 0), (0, 0)] {
            let new: Vec<_> = (0..count).map(|i| particle(5000 + i)).collect();
            remote.put(at, &new).unwrap();
            endpoint.flush().unwrap();
            assert!(memory.read(at..at + count).unwrap() == new);
            assert!(remote.get(at..at + count).unwrap() == new);
            let mut into = particles(count);
            remote.get_into(at, &mut into).unwrap();
            assert!(into == new);
        }
        // The neighbours are unchanged.
        assert_eq!(memory.get(2).unwrap(), particle(2));
        assert_eq!(memory.get(503).unwrap(), particle(503));
    });
}

/// Records have Rust's stride, whatever extent their type has.
#[test]
fn resized_structs_have_the_stride_of_a_slice() {
    macro_rules! check {
        ($($extent:literal)*) => { $({
            #[derive(Datatype, Clone, Copy, Debug, PartialEq)]
            #[dtype(resize(lb = -8, extent = $extent))]
            #[repr(C)]
            struct Resized {
                value: u32,
                small: u8,
            }
            let record = |i: u8| Resized { value: 1000 + u32::from(i), small: i };
            let all: Vec<_> = (0..20).map(record).collect();
            with_memory(&all, |endpoint, memory| {
                let key = memory.key().unwrap();
                assert_eq!((key.record().lb(), key.record().extent()), (0, 8));
                let key = key_of(&key.to_bytes()).unwrap();
                let remote = endpoint.remote_memory::<Resized>(&key).unwrap();
                assert_eq!(remote.get(0..20).unwrap(), all);
                remote.put(7, &[record(70), record(80)]).unwrap();
                endpoint.flush().unwrap();
                assert_eq!(memory.read(6..10).unwrap(), [6, 70, 80, 9].map(record));
                let mut into = [record(0); 4];
                remote.get_into(6, &mut into).unwrap();
                assert_eq!(into, [6, 70, 80, 9].map(record));
                memory.write(0, &all).unwrap();
            });
        })* };
    }
    check!(4 5 8 64);
}

#[test]
fn accesses_outside_of_the_memory_are_refused() {
    with_memory(&particles(10), |endpoint, memory| {
        let remote = endpoint.remote_memory::<Particle>(&memory.key().unwrap()).unwrap();
        let outside = |start: i128, end: i128| {
            Error::Datatype(dtype_runtime::Error::OutOfBounds { start, end, len: 320 })
        };
        assert_eq!(remote.put(9, &particles(2)), Err(outside(288, 352)));
        assert_eq!(remote.put(11, &[]), Err(outside(352, 352)));
        assert_eq!(remote.get(10..11), Err(outside(320, 352)));
        assert_eq!(remote.get_into(0, &mut particles(11)), Err(outside(0, 352)));
        assert_eq!(memory.get(10), Err(outside(320, 352)));
        assert_eq!(memory.write(10, &particles(1)), Err(outside(320, 352)));
        assert!(memory.read(usize::MAX..usize::MAX).is_err());
        assert!(remote.put(usize::MAX, &particles(2)).is_err());
        #[expect(clippy::reversed_empty_ranges, reason = "that is what is tried")]
        let reversed = (remote.get(3..1), memory.read(3..1));
        assert_eq!(reversed, (Ok(vec![]), Ok(vec![])));

        let field = Type::hvector(10, 1, 32, &Type::basic(Basic::I8)).unwrap().commit();
        assert!(remote.strided(&field, 24, 1).is_ok());
        let far = remote.strided(&field, 56, 1).map(drop);
        assert_eq!(far, Err(outside(56, 345)));
        assert_eq!(remote.strided(&field, -8, 1).map(drop), Err(outside(-8, 281)));
        assert!(remote.strided(&field, i64::MAX, 1).is_err());
        assert!(remote.strided(&field, i64::MIN, 1).is_err());
        assert!(remote.strided(&field, 24, usize::MAX).is_err());
        assert!(memory.read(0..10).unwrap() == particles(10));
    });
}

#[test]
fn another_type_is_refused() {
    with_memory(&particles(10), |endpoint, memory| {
        let key = memory.key().unwrap();
        let error = endpoint.remote_memory::<[f64; 4]>(&key).map(drop).unwrap_err();
        let Error::RegisteredType { expected, found } = &error else { panic!("{error}") };
        assert!(expected.contains("[f64; 4]") && found.contains("32 bytes"), "{error}");
        // A type with the same values in the same order is refused if its stride is 25 bytes.
        assert!(endpoint.remote_memory::<Packed>(&key).is_err());
        // Another type with the same layout is accepted.
        assert!(endpoint.remote_memory::<Alike>(&key).is_ok());

        let remote = endpoint.remote_memory::<Particle>(&key).unwrap();
        let wrong = Type::hvector(10, 1, 32, &Type::basic(Basic::I8)).unwrap().commit();
        let error = remote.strided(&wrong, 0, 1).map(drop).unwrap_err();
        assert!(matches!(error, Error::RemoteLayout { displacement: 0, .. }), "{error}");
        let text = "displacement 0: the layout names i8, the registered memory holds f64";
        assert_eq!(error.to_string(), text);
    });
}

#[derive(Datatype, Clone, Copy)]
#[repr(C, packed)]
struct Packed {
    position: [f64; 3],
    charge: i8,
}

#[derive(Datatype, Clone, Copy)]
#[repr(C)]
struct Alike {
    x: f64,
    yz: [f64; 2],
    charge: i8,
}

/// Layouts in an array of values. The origin is in bytes.
fn layouts(cells: [usize; 3]) -> Vec<(&'static str, Committed, i64)> {
    let [z, y, x] = cells.map(|edge| edge as u64);
    let u64s = Type::basic(Basic::U64);
    let sub = |size: [u64; 3], start: [u64; 3]| {
        Type::subarray(&[z, y, x], &size, &start, Order::C, &u64s).unwrap().commit()
    };
    let column = Type::vector(z * y, 1, x as i64, &u64s).unwrap();
    let last = 8 * (x * y * z - x) as i64;
    let scattered = [7, 1, 30, 4, 5, 6].map(|at| 8 * at);
    let blocks = Type::vector(z, y * x - 1, (y * x) as i64, &u64s).unwrap();
    vec![
        ("nothing", Type::contiguous(0, &u64s).unwrap().commit(), 0),
        ("everything", Type::contiguous(x * y * z, &u64s).unwrap().commit(), 0),
        ("a column", column.commit(), 8 * (x as i64 - 1)),
        ("backwards", Type::vector(z * y, 1, -(x as i64), &u64s).unwrap().commit(), last),
        ("an inner part", sub([z - 2, y - 2, x - 2], [1, 1, 1]), 0),
        ("a face", sub([z - 2, y - 2, 1], [1, 1, x - 2]), 0),
        ("a list", Type::hindexed_block(1, &scattered, &u64s).unwrap().commit(), 8),
        ("no blocks", Type::vector(0, 3, 4, &u64s).unwrap().commit(), 16),
        ("long blocks", blocks.commit(), 8),
    ]
}

#[test]
fn layouts_are_put_and_got() {
    for cells in [[3, 4, 8], [5, 30, 70]] {
        let len = cells.iter().product::<usize>();
        with_memory(&vec![0_u64; len], |endpoint, memory| {
            let remote = endpoint.remote_memory::<u64>(&memory.key().unwrap()).unwrap();
            let before: Vec<u64> = (0..len).map(|at| 1000 + at as u64).collect();
            for (name, layout, origin) in layouts(cells) {
                memory.write(0, &before).unwrap();
                let part = remote.strided(&layout, origin, 1).unwrap();
                let count = part.packed_size() / 8;
                let values: Vec<u64> = (0..count).map(|at| !(at as u64)).collect();
                let mut expected = before.clone();
                let to = BufferMut::new(bytes_of_mut(&mut expected)).origin(origin);
                layout.unpack(bytes_of(&values), to, 1).unwrap();

                // The values come from a slice, from the same layout, and from every second value of a slice.
                let spread: Vec<u64> = values.iter().flat_map(|&value| [value, 77]).collect();
                let second = Type::vector(count as u64, 1, 2, &Type::basic(Basic::U64)).unwrap();
                let second = second.commit();
                let alike = Buffer::new(bytes_of(&expected)).origin(origin);
                for elements in [
                    Elements::from(&values),
                    Elements::new(&layout, alike, 1).unwrap(),
                    Elements::new(&second, bytes_of(&spread), 1).unwrap(),
                ] {
                    memory.write(0, &before).unwrap();
                    part.put(elements).unwrap();
                    endpoint.flush().unwrap();
                    assert!(memory.read(0..len).unwrap() == expected, "put of {name}");
                }

                let mut found = vec![0; count];
                part.get(&mut found).unwrap();
                assert!(found == values, "get of {name}");
                let mut whole = before.clone();
                let to = BufferMut::new(bytes_of_mut(&mut whole)).origin(origin);
                part.get(ElementsMut::new(&layout, to, 1).unwrap()).unwrap();
                assert!(whole == expected, "get of {name} to the same layout");
                let mut spread = vec![77; 2 * count];
                part.get(ElementsMut::new(&second, bytes_of_mut(&mut spread), 1).unwrap()).unwrap();
                assert!(spread.chunks(2).map(|pair| pair[0]).eq(values.iter().copied()), "{name}");
                assert!(spread.chunks(2).all(|pair| pair[1] == 77), "{name}");
            }
        });
    }
}

#[test]
fn one_field_of_all_records() {
    with_memory(&particles(100), |endpoint, memory| {
        let remote = endpoint.remote_memory::<Particle>(&memory.key().unwrap()).unwrap();
        let record = Type::of::<Particle>();
        let charge = record.type_map().last().unwrap().displacement;
        let one = Type::resized(&Type::basic(Basic::I8), 0, record.extent()).unwrap().commit();
        let charges = remote.strided(&one, charge, 100).unwrap();
        let level = Level { base: charge, length: 1, count: 100, stride: record.extent() };
        assert_eq!(charges.levels(), Some(vec![level]));
        charges.put(&[9_i8; 100]).unwrap();
        endpoint.flush().unwrap();
        let expected = particles(100).into_iter().map(|each| Particle { charge: 9, ..each });
        assert!(memory.read(0..100).unwrap().into_iter().eq(expected));
        let mut back = [0_i8; 100];
        charges.get(&mut back).unwrap();
        assert_eq!(back, [9; 100]);
    });
}

#[test]
fn the_number_of_bytes_must_be_the_same() {
    with_memory(&[0.0_f64; 12], |endpoint, memory| {
        let remote = endpoint.remote_memory::<f64>(&memory.key().unwrap()).unwrap();
        let column = Type::vector(3, 1, 4, &Type::basic(Basic::F64)).unwrap().commit();
        let part = remote.strided(&column, 0, 1).unwrap();
        for wrong in [0, 2, 4] {
            let (expected, actual) = (24, 8 * wrong as u64);
            let error = Error::Datatype(dtype_runtime::Error::PackedLength { expected, actual });
            assert_eq!(part.put(&vec![1.0_f64; wrong]), Err(error.clone()));
            assert_eq!(part.get(&mut vec![1.0_f64; wrong]), Err(error));
        }
        let twice = Type::hindexed_block(1, &[0, 0], &Type::basic(Basic::F64)).unwrap().commit();
        let twice = remote.strided(&twice, 0, 1).unwrap();
        let overlap = dtype_runtime::Error::Overlap { count: 1 };
        assert_eq!(twice.put(&[1.0_f64; 2]), Err(overlap.into()));
        let mut both = [1.0_f64; 2];
        twice.get(&mut both).unwrap();
        assert_eq!((both, memory.read(0..12).unwrap()), ([0.0; 2], vec![0.0; 12]));
    });
}

#[test]
fn values_are_checked_after_they_were_copied() {
    let valid = [Checked { value: 1, valid: true }; 4];
    with_memory(&valid, |endpoint, memory| {
        let remote = endpoint.remote_memory::<Checked>(&memory.key().unwrap()).unwrap();
        assert_eq!(remote.get(0..4).unwrap(), valid);
        remote.put(1, &[Checked { value: 2, valid: false }]).unwrap();
        endpoint.flush().unwrap();
        assert_eq!(memory.get(1).unwrap(), Checked { value: 2, valid: false });
        // A program with a key can write anything.
        let record = Type::of::<Checked>();
        let flag = record.type_map().find(|entry| entry.basic.size() == 1).unwrap();
        let flags = Type::resized(&Type::basic(flag.basic), 0, record.extent()).unwrap().commit();
        remote.strided(&flags, flag.displacement, 4).unwrap().put(&[1_u8, 0, 2, 1]).unwrap();
        endpoint.flush().unwrap();
        let invalid = |record: usize| {
            Error::Datatype(dtype_runtime::Error::InvalidValue {
                record,
                path: "valid".to_owned(),
                expected: "bool",
                value: 2,
            })
        };
        assert_eq!(memory.get(2), Err(invalid(0)));
        assert_eq!(memory.read(0..4), Err(invalid(2)));
        assert_eq!(remote.get(1..4), Err(invalid(1)));
        let mut into = valid;
        assert_eq!(remote.get_into(0, &mut into), Err(invalid(2)));
        assert_eq!(memory.read_into(0, &mut into), Err(invalid(2)));
        let whole = remote.strided(&record.commit(), 0, 4).unwrap();
        assert_eq!(whole.get(&mut into), Err(invalid(2)));
        assert_eq!(into, valid);
        assert_eq!(memory.read(0..2).unwrap().len(), 2);
    });
}

#[test]
fn nothing_is_registered_too() {
    with_memory(&[0_u16; 0], |endpoint, memory| {
        let remote = endpoint.remote_memory::<u16>(&memory.key().unwrap()).unwrap();
        assert!(remote.is_empty() && memory.is_empty());
        remote.put(0, &[]).unwrap();
        assert_eq!((remote.get(0..0), memory.read(0..0)), (Ok(vec![]), Ok(vec![])));
        assert!(remote.put(0, &[1]).is_err());
        let none = Type::contiguous(0, &Type::basic(Basic::U16)).unwrap().commit();
        remote.strided(&none, 0, 1).unwrap().put(&[0_u16; 0]).unwrap();
    });
    with_memory(&[(); 7], |endpoint, memory| {
        let remote = endpoint.remote_memory::<()>(&memory.key().unwrap()).unwrap();
        remote.put(3, &[(); 4]).unwrap();
        assert_eq!((remote.get(0..7), memory.get(6)), (Ok(vec![(); 7]), Ok(())));
        assert!(remote.put(4, &[(); 4]).is_err());
    });
}

#[test]
fn memory_outlives_its_dropped_handle() {
    for (transports, _) in TRANSPORTS {
        let (context, worker, endpoint) = setup(transports);
        let memory = context.register(&[1_u64; 1000]).unwrap();
        let key = memory.key().unwrap();
        let remote = endpoint.remote_memory::<u64>(&key).unwrap();
        // A peer does not notice that the memory is dropped.
        drop(memory);
        remote.put(0, &[2; 1000]).unwrap();
        endpoint.flush().unwrap();
        assert_eq!(remote.get(0..1000).unwrap(), [2; 1000]);
        drop((context, remote));
        let late = endpoint.remote_memory::<u64>(&key).unwrap();
        assert_eq!(late.get(999..1000).unwrap(), [2]);
        drop(late);
        endpoint.close().unwrap();
        drop(worker);
    }
}

#[test]
fn a_worker_in_several_threads() {
    let context = Context::with_settings([("TLS", "self,posix")]).unwrap();
    let worker = match context.worker::<Multi>() {
        Err(Error::Threads) => return println!("left out: this UCX has no threads"),
        worker => worker.unwrap(),
    };
    let endpoint = &worker.connect(&worker.address().unwrap()).unwrap();
    let memory = context.register(&[0_u32; 4000]).unwrap();
    let key = &memory.key().unwrap();
    std::thread::scope(|threads| {
        for thread in 0..4_u32 {
            threads.spawn(move || {
                let remote = endpoint.remote_memory::<u32>(key).unwrap();
                let start = 1000 * thread as usize;
                for round in 0..100 {
                    remote.put(start, &[thread + 10 * round; 1000]).unwrap();
                    endpoint.flush().unwrap();
                    let found = remote.get(start..start + 1000).unwrap();
                    assert!(found.iter().all(|&value| value == thread + 10 * round));
                }
            });
        }
    });
    for thread in 0..4 {
        assert_eq!(memory.get(1000 * thread + 500).unwrap(), 990 + u32::try_from(thread).unwrap());
    }
    // SAFETY: all threads have ended, and have flushed their puts.
    unsafe { memory.unregister() };
}

#[test]
fn a_key_of_another_process_is_refused() {
    let (context, worker, endpoint) = setup("self");
    let memory = context.register(&[0_u8; 8]).unwrap();
    let mut bytes = memory.key().unwrap().to_bytes();
    // A byte after the magic bytes, the checksum and the byte order.
    bytes[20] ^= 1;
    seal(&mut bytes);
    let key = key_of(&bytes).unwrap();
    let error = endpoint.remote_memory::<u8>(&key).map(drop).unwrap_err();
    assert!(matches!(error, Error::OtherProcess { .. }), "{error}");

    let mut bytes = worker.address().unwrap().to_bytes();
    bytes[16] ^= 1;
    seal(&mut bytes);
    let elsewhere = worker.connect(&address_of(&bytes).unwrap()).unwrap();
    let error = elsewhere.remote_memory::<u8>(&memory.key().unwrap()).map(drop).unwrap_err();
    assert!(matches!(error, Error::OtherProcess { .. }), "{error}");
}

/// The owner makes no progress, and a handler of this worker panics meanwhile.
#[test]
fn a_panic_ends_a_put_to_a_peer_that_does_nothing() {
    alone("remote::a_panic_ends_a_put_to_a_peer_that_does_nothing", || {
        let settings = [("TLS", "self,tcp"), ("NET_DEVICES", "lo"), ("PROTO_ENABLE", "n")];
        let context = Context::with_settings(settings).unwrap();
        let [worker, owner] = [(); 2].map(|()| context.worker::<Single>().unwrap());
        worker.set_time_limit(Duration::from_millis(100));
        let endpoint = worker.connect_monitored(&owner.address().unwrap()).unwrap();
        let memory = context.register(&vec![0_u64; 4 << 20]).unwrap();
        let remote = endpoint.remote_memory::<u64>(&memory.key().unwrap()).unwrap();
        let myself = worker.connect(&worker.address().unwrap()).unwrap();
        let _handler = worker.handle_active(1, |_| panic!("in a handler")).unwrap();
        myself.send_active(1, &(), &[1_u8]).unwrap();
        let values = vec![1_u64; 4 << 20];
        let put = catch_unwind(AssertUnwindSafe(|| remote.put(0, &values)));
        assert_eq!(put.unwrap_err().downcast_ref::<&str>(), Some(&"in a handler"));
        assert!(matches!(remote.put(0, &[1]), Err(Error::ConnectionLost { .. })));
        assert!(matches!(remote.get(0..1), Err(Error::ConnectionLost { .. })));
        assert!(endpoint.remote_memory::<u64>(&memory.key().unwrap()).is_err());
        myself.send(2, &[1_u8]).unwrap();
        assert_eq!(worker.recv::<u8>(2).unwrap().0, [1]);
    });
}

/// UCX would search for the key among the components of another context.
#[test]
fn a_key_of_another_context_is_refused() {
    for (first, second) in [("self,sm", "self,sm"), ("sysv,cma", "posix,cma"), ("self", "sm")] {
        let (owner, own_worker, own_endpoint) = setup(first);
        let (_, worker, endpoint) = setup(second);
        let memory = owner.register(&[7_u64; 100]).unwrap();
        let key = key_of(&memory.key().unwrap().to_bytes()).unwrap();
        let address = worker.address().unwrap().to_bytes();
        let elsewhere = worker.connect(&address_of(&address).unwrap()).unwrap();
        for other in [&endpoint, &elsewhere] {
            let error = other.remote_memory::<u64>(&key).map(drop).unwrap_err();
            assert!(matches!(error, Error::OtherContext { .. }), "{error}");
        }
        // Only memory that peers can reach can be served.
        let error = worker.serve(&memory).unwrap_err();
        assert!(matches!(error, Error::OtherContext { .. }), "{error}");
        own_worker.serve(&memory).unwrap();
        assert_eq!(own_endpoint.remote_memory::<u64>(&key).unwrap().get(99..100), Ok(vec![7]));
    }
}

/// Corrects the checksum: FNV-1a of the bytes after it.
fn seal(bytes: &mut [u8]) {
    let sum = bytes[16..].iter().fold(0xCBF2_9CE4_8422_2325_u64, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    bytes[8..16].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn damaged_keys_are_refused() {
    let (context, _worker, _endpoint) = setup("self");
    let memory = context.register(&particles(10)).unwrap();
    let key = memory.key().unwrap();
    let good = key.to_bytes();
    assert_eq!(key_of(&good).as_ref(), Ok(&key));
    for len in 0..good.len() {
        assert!(key_of(&good[..len]).is_err());
        // The same with the right checksum. Only UCX's own part may be shorter.
        let mut cut = good[..len].to_vec();
        if len >= 16 {
            seal(&mut cut);
            if let Ok(found) = key_of(&cut) {
                assert_eq!((found.len(), found.record()), (key.len(), key.record()));
            }
        }
    }
    for at in 0..8 * good.len() {
        let mut bad = good.clone();
        bad[at / 8] ^= 1 << (at % 8);
        let error = key_of(&bad).unwrap_err();
        assert!(matches!(error, Error::Key { len, .. } if len == good.len()), "{error}");
    }
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let seed = u64::try_from(seed).unwrap();
    let mut random = Numbers(seed);
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..20_000 {
        let mut bytes = good.clone();
        for _ in 0..=random.below(4) {
            let at = random.index(bytes.len());
            match random.below(4) {
                0 => bytes[at] = random.byte(),
                1 => drop(bytes.drain(at..at + random.index(bytes.len() - at).min(8))),
                2 => bytes.insert(at, random.byte()),
                _ => bytes[at] = *random.one_of(&[0, 1, 0x7F, 0x80, 0xFF]),
            }
            if bytes.len() < 17 {
                break;
            }
        }
        if bytes != good {
            assert!(key_of(&bytes).is_err(), "seed {seed}, round {round}");
        }
        // With the right checksum, a decoded key encodes to the same bytes.
        if bytes.len() >= 16 {
            seal(&mut bytes);
            match key_of(&bytes) {
                Ok(found) => {
                    assert_eq!(found.to_bytes(), bytes, "seed {seed}, round {round}");
                    accepted += 1;
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    refused += 1;
                }
            }
        }
    }
    assert!(accepted > 100 && refused > 100, "{accepted} {refused}");
}
