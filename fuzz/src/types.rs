//! Marshalled types: bytes that may be a type, and all functions of a type.
//!
//! If bytes are a type, the type marshals to the same bytes. What a type reports about itself agrees with its type map, if that
//! is short enough to be written out. No call panics or runs forever, however large the numbers are.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use dtype_npy::{NumpyDtype, NumpyOptions};
use dtype_runtime::explain::ExplainStyle;
use dtype_runtime::types::{BoundsRule, Combiner};
use dtype_runtime::{Buffer, BufferMut, Error, Flags, Type};
use dtype_show::{
    CallingSequence, DescriptionTable, Diagram, EnvelopeTree, Language, SvgStyle, TextStyle, View,
};
use dtype_test_support::counting::max_in_use;

/// The maximum number of description entries. A few bytes can describe millions of entries. Committing them takes time and
/// memory in proportion, as documented, and is not tested here.
const MAX_ENTRIES: u64 = 1 << 10;

/// The maximum number of basic datatypes that are written out.
const MAX_ELEMENTS: u64 = 1 << 10;

/// Unmarshals the bytes as a type.
///
/// # Panics
///
/// If a check fails.
pub fn run(input: &[u8]) {
    let (most, result) = max_in_use(|| Type::unmarshal_prefix(input));
    // The documented limit, with a little more for the error.
    assert!(most <= 256 * input.len() + 4096, "{most} bytes of memory for {}", input.len());
    let whole = Type::unmarshal(input);
    let (ty, used) = match result {
        Ok(found) => found,
        Err(error) => {
            assert_eq!(whole.as_ref(), Err(&error));
            let _ = format!("{error} {error:?}");
            return;
        }
    };
    assert_eq!(whole.is_ok(), used == input.len());
    assert_eq!(ty.marshal(), input[..used]);
    same_again(&ty);
    decoded(&ty);
    bounds(&ty);
    if entries(&ty, &mut HashMap::new()) <= MAX_ENTRIES {
        described(&ty);
        // Pictures take longer than all other checks together, so only one input in eight is drawn.
        if crc32c::crc32c(input).is_multiple_of(8) {
            drawn(&ty);
        }
        written_out(&ty);
        let mpich = ty.with_bounds_rule(BoundsRule::Mpich);
        if let Ok(mpich) = &mpich {
            assert_eq!((mpich.bounds_rule(), mpich.size()), (BoundsRule::Mpich, ty.size()));
            assert_eq!(mpich.signature_hash(), ty.signature_hash());
            bounds(mpich);
            same_again(mpich);
            written_out(mpich);
        }
        if let (Ok(mpich), BoundsRule::Literal) = (mpich, ty.bounds_rule()) {
            assert_eq!(mpich.with_bounds_rule(BoundsRule::Literal), Ok(ty));
        }
    }
}

/// Checks that an unmarshalled type is equal in all respects.
fn same_again(ty: &Type) {
    let again = Type::unmarshal(&ty.marshal()).unwrap();
    let state = RandomState::new();
    assert_eq!((&again, state.hash_one(&again)), (ty, state.hash_one(ty)));
    assert_eq!(
        (again.lb(), again.ub(), again.true_lb(), again.true_ub()),
        (ty.lb(), ty.ub(), ty.true_lb(), ty.true_ub())
    );
    assert_eq!(
        (again.bounds_rule(), again.signature_hash()),
        (ty.bounds_rule(), ty.signature_hash())
    );
}

/// Decodes the call that made the type, as far as the standard's form can express its arguments.
fn decoded(ty: &Type) {
    let envelope = ty.envelope();
    let contents = match ty.contents() {
        Ok(contents) => contents,
        Err(Error::NoContents { .. }) => {
            assert_eq!(envelope.combiner, Combiner::Named);
            assert!(ty.named().is_some() || ty.size() == 0);
            return;
        }
        Err(Error::Overflow { .. } | Error::Contents { .. }) => return,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(envelope.combiner, contents.combiner);
    assert_eq!(
        (envelope.num_integers, envelope.num_addresses),
        (contents.integers.len(), contents.addresses.len())
    );
    assert_eq!(
        (envelope.num_large_counts, envelope.num_datatypes),
        (contents.large_counts.len(), contents.datatypes.len())
    );
    let again = contents.rebuild().unwrap();
    assert_eq!((again.size(), again.elements()), (ty.size(), ty.elements()));
    if ty.bounds_rule() == BoundsRule::Literal {
        assert_eq!(again, *ty);
    }
}

/// Checks the properties that the bounds of every type have.
fn bounds(ty: &Type) {
    assert_eq!(ty.ub().checked_sub(ty.lb()), Some(ty.extent()));
    assert_eq!(ty.true_ub().checked_sub(ty.true_lb()), Some(ty.true_extent()));
    assert!(ty.true_extent() >= 0 && ty.align().is_power_of_two());
    assert_eq!(ty.size() == 0, ty.elements() == 0);
    assert!(ty.size() >= ty.elements() && i64::try_from(ty.size()).is_ok());
    assert_eq!(ty.true_extent() == 0, ty.size() == 0);
    assert_eq!(ty.exceeds_extent(), ty.extent() < ty.true_extent());
}

/// An upper bound for the number of entries in the type's description, with loops not expanded. A shared part, known by its
/// address, counts once.
fn entries(ty: &Type, known: &mut HashMap<*const (), u64>) -> u64 {
    if let Some(number) = known.get(&ty.as_ptr()) {
        return *number;
    }
    let number = match ty.contents() {
        Ok(contents) => {
            let parts = contents.datatypes.iter().map(|part| entries(part, known));
            let parts: Vec<u64> = parts.collect();
            let dimensions = || contents.integers.len() + contents.large_counts.len();
            let copies = match contents.combiner {
                Combiner::Indexed
                | Combiner::Hindexed
                | Combiner::IndexedBlock
                | Combiner::HindexedBlock => dimensions() + contents.addresses.len(),
                // Each dimension has whole blocks and a remainder.
                Combiner::Darray => 1 << (dimensions() / 2).min(40),
                Combiner::Subarray => dimensions(),
                _ => 1,
            };
            parts.iter().fold(0, |all: u64, part| {
                all.saturating_add(part.saturating_add(2).saturating_mul(copies as u64))
            })
        }
        Err(Error::NoContents { .. }) => 2,
        // The numbers do not fit the arrays, so the parts are unknown.
        Err(_) => u64::MAX / 2,
    };
    known.insert(ty.as_ptr(), number);
    number
}

/// Draws pictures, explanations and trees: of any type, in a short time.
fn drawn(ty: &Type) {
    let views = [
        View::default().with_instances(3).with_columns(32).with_rows(8),
        View::default().with_instances(u64::MAX).with_unit(8).with_row(80).with_rows(3),
    ];
    for view in views {
        let diagram = Diagram::of_type(ty, &view);
        let style = TextStyle::default().with_ascii(true).with_colour(true);
        assert!(diagram.text(&style).to_string().is_ascii());
        assert!(diagram.svg(&SvgStyle::default()).ends_with("</svg>\n"));
        // The fields together pack what an instance packs.
        let packed = diagram.fields().iter().map(|field| u128::from(field.bytes)).sum::<u128>();
        assert!(diagram.has_more_fields() || packed == u128::from(ty.size()));
    }
    let _ = Diagram::of_type(ty, &View::default()).to_string();
    assert!(EnvelopeTree::new(ty, 20).to_string().lines().count() <= 21);
    assert!(DescriptionTable::new(&ty.description(), 20).to_string().lines().count() <= 22);
    let committed = ty.commit();
    for instances in [0, 1, 2, 100, u64::MAX] {
        let _ = committed
            .explain(&ExplainStyle::default().with_instances(instances).with_lines(20))
            .to_string();
    }
    for options in [NumpyOptions::memory(), NumpyOptions::packed()] {
        let _ = NumpyDtype::of_type(ty, &options);
    }
}

/// Calls every function that reads the description.
fn described(ty: &Type) {
    let committed = ty.commit();
    let (size, elements) = (ty.size(), ty.elements());
    for description in [ty.description(), committed.optimized_description()] {
        let _ = DescriptionTable::new(&description, 20).to_string();
        for (count, position) in [(1, 0), (1, size / 2), (1, size), (3, size), (u64::MAX, size / 3)]
        {
            let stack = description.stack(count, position);
            let is_too_many = size.checked_mul(count).is_none();
            assert_eq!(stack.is_err(), is_too_many);
        }
        assert!(description.stack(1, size + 1).is_err());
    }
    let _ = format!("{ty:?} {:?}", committed.plan());
    for language in [Language::C, Language::Rust] {
        let text = CallingSequence::new(ty, language);
        assert!(text.variables() > 0 && !text.to_string().is_empty());
    }
    let _ = (ty.is_monotonic(), ty.levels());
    assert_eq!(ty.element_bytes(elements), Ok(size));
    assert_eq!((ty.element_count(size), ty.instance_count(0)), (Some(elements), Some(0)));
    let half = ty.element_bytes(elements / 2).unwrap();
    assert_eq!(ty.element_count(half), Some(elements / 2));
    // For sizes between these, up to four million blocks may be sorted, as documented.
    if !(1 << 12..1 << 50).contains(&elements) {
        assert!(committed.flags().contains(ty.flags()));
    }
    if elements <= MAX_ELEMENTS {
        assert_eq!(ty.signature(), ty.signature());
        let runs: u64 = ty.signature().runs().map(|(_, count)| count).sum();
        assert_eq!(runs, elements);
    }
    // Memory of a hundred bytes: data outside of it are refused.
    let mut memory = [1; 100];
    for origin in [0, 50, -1, i64::MIN, i64::MAX] {
        for count in [0, 1, 2, usize::MAX] {
            let _ = committed.pack(Buffer::new(&memory).origin(origin), count, &mut [0; 200]);
            let _ = committed
                .packer(Buffer::new(&memory).origin(origin), count)
                .map(|mut packer| packer.pack(&mut [0; 9]));
            let range = 0..committed.packed_size(count).unwrap_or(0) as u64;
            assert!(committed.iov(count, range).is_err() || committed.packed_size(count).is_ok());
            if elements <= MAX_ELEMENTS
                && let Ok(size @ ..=200) = committed.packed_size(count)
            {
                let _ = committed.unpack(
                    &[2; 200][..size],
                    BufferMut::new(&mut memory).origin(origin),
                    count,
                );
            }
        }
    }
}

/// Compares with the type map, pair by pair.
fn written_out(ty: &Type) {
    if ty.elements() > MAX_ELEMENTS {
        assert_eq!(ty.type_map().take(100).count(), 100);
        return;
    }
    let mut bytes = Vec::new();
    let (mut is_monotonic, mut before) = (true, i64::MIN);
    for entry in ty.type_map() {
        let at = entry.displacement;
        is_monotonic &= before <= at;
        before = at;
        bytes.extend((0..entry.basic.size() as i64).map(|byte| at + byte));
    }
    assert_eq!(ty.type_map().count() as u64, ty.elements());
    assert_eq!((bytes.len() as u64, is_monotonic), (ty.size(), ty.is_monotonic()));
    assert_eq!(bytes.iter().min().copied().unwrap_or(0), ty.true_lb());
    assert_eq!(bytes.iter().max().map_or(0, |last| last + 1), ty.true_ub());

    let mut sorted = bytes.clone();
    sorted.sort_unstable();
    let overlaps = sorted.windows(2).any(|pair| pair[0] == pair[1]);
    assert_eq!(ty.flags().contains(Flags::OVERLAP), overlaps);
    if ty.true_extent() > 1 << 16 {
        return;
    }
    // The memory is just large enough for one instance at this origin.
    let Some(origin) = ty.true_lb().checked_neg() else { return };
    let place = |at: &i64| (at - ty.true_lb()) as usize;
    let mut memory: Vec<u8> = (0..ty.true_extent()).map(|i| (i * 31 + 7) as u8).collect();
    let wanted: Vec<u8> = bytes.iter().map(|at| memory[place(at)]).collect();
    let committed = ty.commit();
    let mut packed = vec![0; wanted.len()];
    assert_eq!(
        committed.pack(Buffer::new(&memory).origin(origin), 1, &mut packed),
        Ok(wanted.len())
    );
    assert_eq!(packed, wanted);
    memory.fill(0x5A);
    let mut target = memory.clone();
    let result = committed.unpack(&packed, BufferMut::new(&mut target).origin(origin), 1);
    if overlaps {
        assert_eq!(result, Err(Error::Overlap { count: 1 }));
    } else {
        assert_eq!(result, Ok(packed.len()));
        bytes.iter().zip(packed).for_each(|(at, byte)| memory[place(at)] = byte);
    }
    assert_eq!(target, memory);
}
