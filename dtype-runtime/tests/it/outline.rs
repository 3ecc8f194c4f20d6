//! The parts of a datatype, one level at a time.

use dtype_runtime::outline::{Names, Outline, Parts, Repetition, structure_of_pair};
use dtype_runtime::types::{Order, Pair};
use dtype_runtime::{Basic, Error, Type};

fn f32s(count: u64) -> Result<Type, Error> {
    Type::contiguous(count, &Type::basic(Basic::F32))
}

/// The blocks of a grid, the instances in each, and their type's size.
fn grid(parts: &Parts<'_>) -> (Repetition, Repetition, u64) {
    match *parts {
        Parts::Grid { blocks, block, of } => (blocks, block, of.size()),
        _ => panic!("{parts:?}"),
    }
}

fn every(count: u64, stride: i64) -> Repetition {
    Repetition { count, stride }
}

#[test]
fn blocks_at_equal_distances() -> Result<(), Error> {
    let row = f32s(3)?;
    assert_eq!(grid(&Outline::Type(&row).parts()), (every(1, 0), every(3, 4), 4));
    // In extents of the type, and in bytes.
    let all = Type::vector(5, 2, -7, &row)?;
    assert_eq!(grid(&Outline::Type(&all).parts()), (every(5, -84), every(2, 12), 12));
    let all = Type::hvector(5, 2, 100, &row)?;
    assert_eq!(grid(&Outline::Type(&all).parts()), (every(5, 100), every(2, 12), 12));
    Ok(())
}

#[test]
fn blocks_of_a_list_are_found_by_number() -> Result<(), Error> {
    let row = f32s(3)?;
    let indexed = Type::indexed(&[2, 0, 1], &[5, -1, 9], &row)?;
    let Parts::List(list) = Outline::Type(&indexed).parts() else { panic!("no list") };
    assert!(!list.is_empty());
    assert_eq!((list.len(), list.old.size()), (3, 12));
    assert_eq!(list.blocks().collect::<Vec<_>>(), [(2, 60), (0, -12), (1, 108)]);
    assert_eq!(list.blocks().next_back(), Some((1, 108)));
    assert_eq!([list.get(1), list.get(3), list.get(usize::MAX)], [Some((0, -12)), None, None]);
    // All blocks have one length, and their displacements are in bytes.
    let same = Type::hindexed_block(4, &[0, 1000], &row)?;
    let Parts::List(list) = Outline::Type(&same).parts() else { panic!("no list") };
    assert_eq!(list.blocks().collect::<Vec<_>>(), [(4, 0), (4, 1000)]);
    assert_eq!(list.get(2), None);
    Ok(())
}

#[test]
fn members_have_numbers_and_those_of_pairs_names() -> Result<(), Error> {
    let members = [Type::basic(Basic::U8), f32s(3)?];
    let structure = Type::structure(&[2, 1], &[16, 0], &members)?;
    let Parts::Members(found, names) = Outline::Type(&structure).parts() else { panic!("none") };
    let places: Vec<_> =
        found.iter().map(|m| (m.blocklength, m.displacement, m.ty.size())).collect();
    assert_eq!(places, [(2, 16, 1), (1, 0, 12)]);
    assert_eq!(names, Names::Numbers);
    assert_eq!((names.name(1).as_ref(), names.identifier(1).as_str()), ("1", "f1"));

    let pair = Type::pair(Pair::DoubleInt);
    let Parts::Members(found, names) = Outline::Type(&pair).parts() else { panic!("no members") };
    assert_eq!(found.iter().map(|m| m.displacement).collect::<Vec<_>>(), [0, 8]);
    assert_eq!([0, 1, 2].map(|i| names.name(i).into_owned()), ["value", "index", "2"]);
    assert_eq!(names.identifier(0), "value");
    // A pair with a name is no structure, and one without a name stands for its structure.
    assert!(structure_of_pair(&pair).is_none());
    let unnamed = Type::value_index(&Type::basic(Basic::U64), &Type::basic(Basic::U8))?;
    assert_eq!(structure_of_pair(&unnamed).map(Type::size), Some(9));
    assert!(structure_of_pair(&structure).is_none());
    Ok(())
}

#[test]
fn the_rest_is_bounds_markers_and_arrays() -> Result<(), Error> {
    let row = f32s(3)?;
    for same in [Type::dup(&row)?, Type::resized(&row, -8, 100)?] {
        let Parts::Same(of) = Outline::Type(&same).parts() else { panic!("not the same") };
        assert_eq!((of.size(), of.extent()), (12, 12));
    }
    assert!(matches!(Outline::Type(&Type::lb_marker()).parts(), Parts::Nothing));
    assert!(matches!(Outline::Type(&Type::basic(Basic::I16)).parts(), Parts::Leaf(Basic::I16)));

    // The part's own displacements, in an array of 6 × 7 × 8 elements.
    let part = Type::subarray(&[6, 7, 8], &[2, 3, 4], &[1, 1, 1], Order::C, &row)?;
    let outline = Outline::Type(&part);
    let Parts::Array { built, old } = outline.parts() else { panic!("no array") };
    assert_eq!((built.size(), old.size()), (2 * 3 * 4 * 12, 12));
    let first = 12 * (8 * (7 + 1) + 1);
    assert_eq!(outline.span(), (first, 12 * (8 * (7 * 2 + 3) + 4) + 12));
    // The rows of planes and of lines, and then those of the built type, which are the same.
    assert_eq!(outline.strides()[..2], [12 * 8 * 7, 12 * 8]);
    let other = Type::subarray(&[6, 7, 8], &[2, 3, 4], &[1, 1, 1], Order::Fortran, &row)?;
    assert_eq!(Outline::Type(&other).strides()[..2], [12 * 6 * 7, 12 * 6]);
    Ok(())
}

#[cfg(feature = "derive")]
#[test]
fn a_rust_type_has_its_fields_and_their_names() {
    use dtype_runtime::Datatype;

    #[derive(Datatype)]
    #[repr(C)]
    struct Sample {
        id: u8,
        #[dtype(skip)]
        cached: u32,
        places: [f64; 3],
    }

    let outline = Outline::Map(Sample::TYPE_MAP);
    assert_eq!((outline.size(), outline.extent(), outline.span()), (25, 32, (0, 32)));
    let Parts::Fields(fields) = outline.parts() else { panic!("no fields") };
    assert_eq!(
        fields.iter().map(dtype_runtime::typemap::Field::name).collect::<Vec<_>>(),
        ["id", "cached", "places"]
    );
    assert!(fields[1].map().is_none());
    let places = Outline::Map(fields[2].map().unwrap());
    assert_eq!(grid(&places.parts()), (every(1, 0), every(3, 8), 8));
    assert_eq!(places.leaf_name(Basic::F64), "f64");
    let id = Outline::Map(fields[0].map().unwrap());
    assert!(matches!(id.parts(), Parts::Leaf(Basic::U8)));
    let _ = Sample { id: 0, cached: 0, places: [0.0; 3] }.cached;
}
