//! Memory that the owner's worker serves, in one process: one message carries many small blocks. The memory is not mapped.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use dtype_runtime::types::Order;
use dtype_runtime::{Basic, Buffer, BufferMut, Committed, Datatype, Type, bytes_of, bytes_of_mut};
use dtype_test_support::numbers::Numbers;
use dtype_ucx::{
    Context, Elements, ElementsMut, Endpoint, Error, MemoryKey, Multi, Refusal, Registered, Single,
    Worker,
};

use crate::alone::alone;
use crate::encoded::key_of;

/// Transports that do not map the memory of `register_in_place`. The first one maps no memory at all.
const TRANSPORTS: [&[(&str, &str)]; 3] =
    [&[("TLS", "self")], &[("TLS", "self,tcp"), ("NET_DEVICES", "lo")], &[("TLS", "posix,cma")]];

struct Setup {
    worker: Worker<Single>,
    endpoint: Endpoint<Single>,
    context: Context,
}

impl Setup {
    fn new(settings: &[(&str, &str)]) -> Self {
        let context = Context::with_settings(settings.iter().copied()).unwrap();
        let worker = context.worker().unwrap();
        let endpoint = worker.connect(&worker.address().unwrap()).unwrap();
        Self { worker, endpoint, context }
    }
}

/// Calls a test with the values in served memory, which is not mapped, and with its key.
fn with_memory<T: Datatype + Clone>(
    values: &[T],
    test: impl Fn(&Setup, &Registered<T>, &MemoryKey),
) {
    for settings in TRANSPORTS {
        let setup = Setup::new(settings);
        let mut own = values.to_vec();
        // SAFETY: the vector is not used until the memory is dropped, after all puts were flushed. Its values have no padding.
        let memory =
            unsafe { setup.context.register_in_place(own.as_mut_ptr(), own.len()).unwrap() };
        let key = setup.worker.serve(&memory).unwrap();
        let key = key_of(&key.to_bytes()).unwrap();
        test(&setup, &memory, &key);
        drop(memory);
    }
}

/// A layout of bytes: nests of rows in either direction, lists of blocks, and both.
fn random_layout(random: &mut Numbers) -> Type {
    let mut ty = Type::contiguous(1 + random.below(20), &Type::basic(Basic::U8)).unwrap();
    for _ in 0..random.below(4) {
        let (count, gap) = (random.below(12), random.below(30).cast_signed());
        let stride = ty.true_extent() + gap;
        let stride = if random.below(3) == 0 { -stride } else { stride };
        ty = match random.below(4) {
            0 => {
                // The blocks are in any order.
                let mut places: Vec<i64> = (0..count.cast_signed()).map(|at| at * stride).collect();
                for at in (1..places.len()).rev() {
                    let other = random.below(at as u64 + 1);
                    places.swap(at, usize::try_from(other).unwrap());
                }
                Type::hindexed_block(1, &places, &ty).unwrap()
            }
            _ => Type::hvector(count, 1, stride, &ty).unwrap(),
        };
    }
    ty
}

/// The reference: the offset of each byte of a layout of bytes, in packed order.
fn places(layout: &Type, origin: i64) -> Vec<usize> {
    layout
        .type_map()
        .flat_map(|entry| entry.displacement..entry.displacement + entry.basic.size() as i64)
        .map(|displacement| usize::try_from(origin + displacement).unwrap())
        .collect()
}

#[test]
fn random_layouts_are_put_and_got() {
    const LEN: usize = 400_000;
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let mut random = Numbers(u64::try_from(seed).unwrap());
    let mut tried = 0;
    let layouts: Vec<(Committed, i64)> = std::iter::repeat_with(|| random_layout(&mut random))
        .filter_map(|ty| {
            tried += 1;
            let (lb, span) = (ty.true_lb(), usize::try_from(ty.true_extent()).unwrap());
            (span < LEN).then(|| (ty.commit(), ((LEN - span) / 2) as i64 - lb))
        })
        .filter(|(layout, _)| layout.check_overlap(1).is_ok())
        .take(200)
        .collect();
    assert!(tried < 2000, "{tried} for 200");
    let before: Vec<u8> = (0..LEN).map(|at| (at * 7 / 3).to_le_bytes()[0]).collect();
    with_memory(&before, |Setup { endpoint, .. }, memory, key| {
        let remote = endpoint.remote_memory::<u8>(key).unwrap();
        assert!(!remote.is_mapped());
        for (index, (layout, origin)) in layouts.iter().enumerate() {
            let part = remote.strided(layout, *origin, 1).unwrap();
            let places = places(layout, *origin);
            let values: Vec<u8> = (0..places.len()).map(|at| !(at * 5).to_le_bytes()[0]).collect();
            let mut expected = before.clone();
            for (&at, &value) in places.iter().zip(&values) {
                expected[at] = value;
            }
            memory.write(0, &before).unwrap();
            part.put(&values).unwrap();
            endpoint.flush().unwrap();
            assert!(memory.read(0..LEN).unwrap() == expected, "seed {seed}, put {index}");

            let mut found = vec![0; values.len()];
            part.get(&mut found).unwrap();
            assert!(found == values, "seed {seed}, get {index}");
        }
    });
}

#[test]
fn long_layouts_go_in_parts() {
    // More packed bytes than fit a message, and more messages than may be under way at once.
    let cells = [12_u64, 300, 200];
    let len = usize::try_from(cells.iter().product::<u64>()).unwrap();
    let value = Type::basic(Basic::U64);
    let [z, y, x] = cells;
    let inner =
        Type::subarray(&cells, &[z, y - 2, x - 2], &[0, 1, 1], Order::C, &value).unwrap().commit();
    let second = Type::vector(len as u64 / 2, 1, 2, &value).unwrap().commit();
    let mut scattered: Vec<i64> = (0..len as i64 / 3).map(|at| 24 * at).collect();
    scattered.reverse();
    scattered.swap(5, 4000);
    let list = Type::hindexed_block(1, &scattered, &value).unwrap().commit();
    // Blocks of very different lengths. One is longer than a message.
    let lengths = [1, 40_000, 3, 1, 2, 1, 1, 7];
    let starts = [0, 10, 50_000, 50_010, 60_000, 60_010, 60_020, 60_030].map(|at| 8 * at);
    let uneven = Type::hindexed(&lengths, &starts, &value).unwrap().commit();
    let before: Vec<u64> = (0..len as u64).collect();
    with_memory(&before, |Setup { endpoint, .. }, memory, key| {
        let remote = endpoint.remote_memory::<u64>(key).unwrap();
        for layout in [&inner, &second, &list, &uneven] {
            memory.write(0, &before).unwrap();
            let part = remote.strided(layout, 0, 1).unwrap();
            let values: Vec<u64> = (0..layout.size() / 8).map(|at| !at).collect();
            let mut expected = before.clone();
            layout.unpack(bytes_of(&values), bytes_of_mut(&mut expected), 1).unwrap();
            for elements in
                [Elements::from(&values), Elements::new(layout, bytes_of(&expected), 1).unwrap()]
            {
                memory.write(0, &before).unwrap();
                part.put(elements).unwrap();
                endpoint.flush().unwrap();
                assert!(memory.read(0..len).unwrap() == expected);
            }
            let mut found = before.clone();
            part.get(ElementsMut::new(layout, bytes_of_mut(&mut found), 1).unwrap()).unwrap();
            assert!(found == expected);
        }
    });
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Checked {
    valid: bool,
    small: u8,
    value: u16,
}

#[test]
fn values_are_checked_before_they_are_written() {
    let value = Checked { valid: true, small: 3, value: 4 };
    with_memory(&[value; 100], |Setup { endpoint, .. }, memory, key| {
        let remote = endpoint.remote_memory::<Checked>(key).unwrap();
        let bytes = |basic| Type::resized(&Type::basic(basic), 0, 4).unwrap().commit();
        let record = Type::of::<Checked>();
        let basics: HashMap<i64, Basic> =
            record.type_map().map(|entry| (entry.displacement, entry.basic)).collect();
        let flags = remote.strided(&bytes(basics[&0]), 0, 100).unwrap();
        let mut values = [1_u8; 100];
        values[99] = 2;
        flags.put(&values).unwrap();
        endpoint.flush().unwrap();
        let (good, bad) = (memory.get(98), memory.get(99));
        assert_eq!(good, Ok(value));
        assert!(matches!(bad, Err(Error::Datatype(_))), "{bad:?}");

        // The flag and the value of every record, without the byte between them.
        let two =
            Type::structure(&[1, 1], &[0, 2], &[Type::basic(basics[&0]), Type::basic(basics[&2])]);
        let two = Type::resized(&two.unwrap(), 0, 4).unwrap().commit();
        let part = remote.strided(&two, 0, 100).unwrap();
        let mut into = [(false, 7_u16); 100];
        let error = part.get(&mut into).unwrap_err();
        assert!(matches!(error, Error::Datatype(_)), "{error}");
        assert_eq!(into, [(false, 7); 100]);
        memory.write(99, &[value]).unwrap();
        part.get(&mut into).unwrap();
        assert_eq!(into, [(true, 4); 100]);
    });
}

fn column(rows: u64, stride: i64) -> Committed {
    Type::vector(rows, 1, stride, &Type::basic(Basic::U32)).unwrap().commit()
}

#[test]
fn memory_that_is_given_back_is_refused() {
    for settings in TRANSPORTS {
        let setup = Setup::new(settings);
        let Setup { worker, endpoint, context } = &setup;
        let mut own = vec![1_u32; 1000];
        // SAFETY: the vector is not used before the memory is dropped and the last put is flushed.
        let memory = unsafe { context.register_in_place(own.as_mut_ptr(), 1000).unwrap() };
        let key = worker.serve(&memory).unwrap();
        let remote = endpoint.remote_memory::<u32>(&key).unwrap();
        let part = remote.strided(&column(100, 10), 0, 1).unwrap();
        part.put(&[2_u32; 100]).unwrap();
        endpoint.flush().unwrap();
        drop(memory);
        part.put(&[3_u32; 100]).unwrap();
        part.put(&[4_u32; 100]).unwrap();
        let (way, bytes, reason) = ("put", 400, Refusal::Unregistered);
        let refused = Error::Refused { way, bytes, reason };
        assert_eq!(endpoint.flush(), Err(refused.clone()));
        // The refusal is reported once.
        assert_eq!(endpoint.flush(), Ok(()));
        let mut into = [7_u32; 100];
        assert_eq!(part.get(&mut into), Err(Error::Refused { way: "get", bytes, reason }));
        assert_eq!(into, [7; 100]);
        part.put(&[3_u32; 100]).unwrap();
        assert_eq!(worker.flush(), Err(refused.clone()));
        assert_eq!(worker.flush(), Ok(()));
        // Closing the endpoint returns a refusal, too.
        part.put(&[3_u32; 100]).unwrap();
        drop(part);
        drop(remote);
        let text = "the owner of the memory has refused a put of 400 bytes: its worker does not serve this memory, which may have been dropped or unregistered";
        assert_eq!(setup.endpoint.close().unwrap_err().to_string(), text);
        assert!(own.iter().enumerate().all(|(at, &value)| value == 1 + u32::from(at % 10 == 0)));
    }
}

#[test]
fn memory_in_several_workers_and_several_memories() {
    let first = Setup::new(TRANSPORTS[0]);
    let second = first.context.worker::<Single>().unwrap();
    let memories = [1_u32, 2].map(|value| first.context.register(&vec![value; 600]).unwrap());
    let keys = [&memories[0], &memories[1]].map(|memory| first.worker.serve(memory).unwrap());
    // The first worker does not serve this memory, so peers put block by block.
    let elsewhere = second.serve(&memories[0]).unwrap();
    assert_ne!(elsewhere, keys[0]);
    for (number, key) in (10_u32..).zip(keys.iter().chain([&elsewhere])) {
        let remote = first.endpoint.remote_memory::<u32>(key).unwrap();
        remote.strided(&column(60, 10), 0, 1).unwrap().put(&[number; 60]).unwrap();
        first.endpoint.flush().unwrap();
        let memory = &memories[usize::from(number == 11)];
        assert_eq!(memory.get(590), Ok(number));
        assert_eq!(memory.get(591).unwrap() % 2, u32::from(number != 11));
    }
    // The other worker still serves the memory.
    drop(second);
    let remote = first.endpoint.remote_memory::<u32>(&keys[0]).unwrap();
    remote.strided(&column(60, 10), 0, 1).unwrap().put(&[13; 60]).unwrap();
    first.endpoint.flush().unwrap();
    assert_eq!(memories[0].get(590), Ok(13));
}

#[test]
fn a_handler_puts_and_flushes() {
    let Setup { worker, endpoint, context } = Setup::new(TRANSPORTS[0]);
    let memory = context.register(&[0_u32; 500]).unwrap();
    let key = worker.serve(&memory).unwrap();
    let to = worker.connect(&worker.address().unwrap()).unwrap();
    let handler = worker.handle_active(3, move |message| {
        let values = message.recv::<u32>().unwrap();
        let remote = to.remote_memory::<u32>(&key).unwrap();
        remote.strided(&column(50, 10), 0, 1).unwrap().put(&values).unwrap();
        to.flush().unwrap();
    });
    endpoint.send_active(3, &(), &[9_u32; 50]).unwrap();
    while memory.get(490).unwrap() == 0 {
        worker.progress();
    }
    assert!(
        memory.read(0..500).unwrap().chunks(10).all(|row| row == [9, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    );
    drop(handler);
}

#[test]
fn the_owner_and_its_worker_are_in_different_threads() {
    const LEN: usize = 20_000;
    let context = Context::with_settings(TRANSPORTS[1].iter().copied()).unwrap();
    let memory = context.register(&vec![0_u32; LEN]).unwrap();
    let worker = match context.worker::<Multi>() {
        Err(Error::Threads) => return println!("left out: this UCX has no threads"),
        worker => worker.unwrap(),
    };
    let key = worker.serve(&memory).unwrap();
    let address = worker.address().unwrap();
    let done = &AtomicBool::new(false);
    thread::scope(|threads| {
        let serving = &worker;
        for _ in 0..2 {
            threads.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    if !serving.progress() {
                        thread::yield_now();
                    }
                }
            });
        }
        threads.spawn(move || {
            let own = Context::with_settings(TRANSPORTS[1].iter().copied()).unwrap();
            let own = own.worker::<Single>().unwrap();
            let endpoint = own.connect(&address).unwrap();
            let remote = endpoint.remote_memory::<u32>(&key).unwrap();
            let part = remote.strided(&column(LEN as u64 / 4, 4), 4, 1).unwrap();
            for round in 1..=30_u32 {
                part.put(&vec![round; LEN / 4]).unwrap();
                endpoint.flush().unwrap();
                let mut found = vec![0_u32; LEN / 4];
                part.get(&mut found).unwrap();
                assert!(found.iter().all(|&value| value == round), "round {round}");
            }
            done.store(true, Ordering::Relaxed);
        });
        // The owner reads and writes meanwhile.
        let mut last = 0;
        for round in 0_u32.. {
            memory.write(2, &[round]).unwrap();
            let found = memory.read(0..LEN).unwrap();
            assert!(found[1] >= last && found[1] <= 30 && found[2] == round && found[3] == 0);
            last = found[1];
            if done.load(Ordering::Relaxed) {
                break;
            }
        }
    });
    assert_eq!(memory.get(1), Ok(30));
}

thread_local! {
    static ODD: RefCell<Option<Registered<Odd>>> = const { RefCell::new(None) };
}

/// An odd number. Its check uses the served memory that contains the number.
#[derive(Datatype, Clone, Debug, PartialEq)]
#[dtype(check = Self::check)]
struct Odd {
    value: u32,
}

impl Odd {
    fn check(&self) -> bool {
        ODD.with_borrow(|memory| memory.as_ref().unwrap().write(1, &[Self { value: 7 }]).unwrap());
        !self.value.is_multiple_of(2)
    }
}

/// The memory is locked while its worker may copy, and not while a check runs.
#[test]
fn a_check_may_use_the_memory() {
    alone("served::a_check_may_use_the_memory", || {
        let setup = Setup::new(TRANSPORTS[0]);
        let memory = setup.context.register(&[1, 3].map(|value| Odd { value })).unwrap();
        setup.worker.serve(&memory).unwrap();
        ODD.set(Some(memory));
        ODD.with_borrow(|memory| {
            let memory = memory.as_ref().unwrap();
            assert_eq!(memory.get(0), Ok(Odd { value: 1 }));
            assert_eq!(memory.read(0..2), Ok([1, 7].map(|value| Odd { value }).to_vec()));
            let mut into = [1, 1].map(|value| Odd { value });
            memory.read_into(0, &mut into).unwrap();
            assert_eq!(into[1], Odd { value: 7 });
        });
        drop(ODD.take());
    });
}

#[test]
fn nothing_and_a_few_blocks() {
    with_memory(&[5_u32; 100], |Setup { endpoint, .. }, memory, key| {
        let remote = endpoint.remote_memory::<u32>(key).unwrap();
        for rows in 0..8_u64 {
            let count = usize::try_from(rows).unwrap();
            let part = remote.strided(&column(rows, -10), 4 * 95, 1).unwrap();
            part.put(&vec![6_u32; count]).unwrap();
            endpoint.flush().unwrap();
            let mut found = vec![0_u32; count];
            part.get(&mut found).unwrap();
            assert_eq!(found, vec![6; count]);
            let whole = memory.read(0..100).unwrap();
            assert_eq!(whole.iter().filter(|&&value| value == 6).count(), count);
            // The wrong number of values is refused before anything is sent.
            assert!(part.put(&vec![6_u32; count + 1]).is_err());
        }
        let twice = Type::hindexed_block(1, &[0, 8, 16, 24, 0], &Type::basic(Basic::U32)).unwrap();
        let twice = remote.strided(&twice.commit(), 0, 1).unwrap();
        assert!(twice.put(&[1_u32; 5]).is_err());
        let mut found = [0_u32; 5];
        twice.get(&mut found).unwrap();
        assert_eq!(found, [5; 5]);
        // A layout on the sender's side.
        let mut spread = [0_u32; 200];
        let second = column(100, 2);
        let all = remote.strided(&column(50, 2), 0, 1).unwrap();
        let half = ElementsMut::new(&column(50, 4), BufferMut::new(bytes_of_mut(&mut spread)), 1);
        all.get(half.unwrap()).unwrap();
        all.put(Elements::new(&column(50, 4), Buffer::new(bytes_of(&spread)), 1).unwrap()).unwrap();
        endpoint.flush().unwrap();
        assert_eq!(spread.iter().filter(|&&value| value == 5).count(), 50);
        drop(second);
    });
}
