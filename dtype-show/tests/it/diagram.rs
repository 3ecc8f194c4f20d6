//! The model of a picture, compared byte by byte with the naive reference, and the time to make it.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use dtype_runtime::types::Order;
use dtype_runtime::{Basic, Type};
use dtype_show::{Diagram, EnvelopeTree, Line, Sign, SvgStyle, TextStyle, View};
use dtype_test_support::extreme;
use dtype_test_support::model::{Map, config, trees_with_lists};
use proptest::prelude::*;

/// How often the first instances name each byte, and where basic datatypes start.
fn bytes_of(map: &Map, instances: u64) -> (BTreeMap<i128, u32>, Vec<i128>) {
    let (mut bytes, mut starts) = (BTreeMap::new(), Vec::new());
    for instance in 0..instances as i64 {
        for (basic, displacement) in &map.data {
            let start = i128::from(displacement + instance * map.extent());
            starts.push(start);
            for byte in start..start + basic.size() as i128 {
                *bytes.entry(byte).or_default() += 1;
            }
        }
    }
    (bytes, starts)
}

/// Compares all cells with the naive map, and checks that drawn and omitted rows cover all data.
fn check(diagram: &Diagram, map: &Map, instances: u64) -> Result<(), TestCaseError> {
    let (bytes, starts) = bytes_of(map, instances);
    let unit = i128::from(diagram.unit());
    prop_assert!(diagram.is_complete());
    let mut at = None;
    let mut seen = 0;
    for line in diagram.lines() {
        let row = match line {
            Line::Heading(_) => continue,
            Line::LeftOut(bytes) => {
                at = at.map(|at: i128| at + *bytes as i128);
                continue;
            }
            Line::Gap { bytes: gap, rows } => {
                prop_assert!(*rows > 2);
                let Some(start) = at else { return Err(TestCaseError::fail("starts with a gap")) };
                at = Some(start + *gap as i128);
                prop_assert_eq!(bytes.range(start..start + *gap as i128).next(), None);
                continue;
            }
            Line::Row(row) => row,
        };
        prop_assert_eq!(at.unwrap_or(row.start), row.start);
        at = Some(row.end);
        prop_assert_eq!(row.cells.len() as i128, (row.end - row.start + unit - 1) / unit);
        for (i, cell) in row.cells.iter().enumerate() {
            let from = row.start + i as i128 * unit;
            let cell_bytes = from..(from + unit).min(row.end);
            let named: Vec<u32> =
                cell_bytes.clone().map(|b| *bytes.get(&b).unwrap_or(&0)).collect();
            let data = named.iter().filter(|count| **count > 0).count();
            seen += named.iter().sum::<u32>() as usize;
            let sign = if named.iter().any(|count| *count > 1) {
                Sign::Overlap
            } else if data == named.len() {
                Sign::Data
            } else if data == 0 {
                Sign::Gap
            } else {
                Sign::Part
            };
            prop_assert_eq!(cell.sign, sign, "cell at {}", from);
            prop_assert_eq!(cell.data_bytes() as usize, data);
            prop_assert_eq!(cell.starts, starts.iter().any(|start| cell_bytes.contains(start)));
            prop_assert_eq!(cell.field.is_some(), data > 0);
            if let Some(field) = cell.field {
                prop_assert!(diagram.fields()[usize::from(field)].basic.is_some());
            }
        }
    }
    // If no row is left out, all data are drawn.
    if diagram.lines().iter().all(|line| !matches!(line, Line::LeftOut(_))) {
        prop_assert_eq!(seen as u32, bytes.values().sum::<u32>());
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn cells_are_what_the_type_map_says(
        tree in trees_with_lists(2),
        instances in 0..4_u64,
        (columns, rows, unit) in (1..80_usize, 1..40_usize, 1..20_u32),
        row in proptest::option::of(1..200_u64),
        is_automatic in any::<bool>(),
    ) {
        let (ty, map) = (tree.build().unwrap(), tree.map());
        // For overlapping types the unit is small, so the picture is large.
        let mut view = View::default()
            .with_instances(instances)
            .with_columns(columns)
            .with_rows(rows)
            .with_unit(unit);
        view.row = row;
        if is_automatic {
            view.unit = None;
        }
        let diagram = Diagram::of_type(&ty, &view);
        check(&diagram, &map, instances)?;
        let packed: u64 = diagram.fields().iter().map(|field| field.bytes).sum();
        prop_assert!(diagram.has_more_fields() || packed == ty.size());
        // Each field starts where one of its basic datatypes does.
        for field in diagram.fields() {
            let found = map.data.iter().any(|(basic, displacement)| {
                Some(*basic) == field.basic && i128::from(*displacement) == field.offset
            });
            prop_assert!(found, "{:?}", field);
        }
        // Every diagram can be printed.
        for ascii in [false, true] {
            let style = TextStyle::default().with_ascii(ascii).with_colour(ascii);
            let text = diagram.text(&style).to_string();
            prop_assert!(!ascii || text.is_ascii(), "{}", text);
        }
        let svg = diagram.svg(&SvgStyle::default());
        prop_assert!(roxmltree::Document::parse(&svg).is_ok(), "{}", svg);
        let _ = (EnvelopeTree::new(&ty, 30).to_string(), diagram.to_string());
    }
}

/// Rows without data at the start become one line. The first row stays, because it says where the picture starts.
#[test]
fn a_picture_starts_with_a_row() {
    let i8 = Type::basic(Basic::I8);
    let view = View::default().with_columns(1).with_unit(1).with_rows(40);
    for (lb, extent, instances, start) in [(0, -16, 2, -32), (-16, 17, 1, -16)] {
        let ty = Type::resized(&i8, lb, extent).unwrap();
        let diagram = Diagram::of_type(&ty, &view.clone().with_instances(instances));
        let [Line::Row(row), rest @ ..] = diagram.lines() else { panic!("{diagram:?}") };
        assert_eq!(row.start, start);
        assert!(rest.iter().any(|line| matches!(line, Line::Gap { .. })), "{diagram:?}");
    }
}

/// Types that are too large to visit in full, or that have too much data at one displacement.
fn large() -> Vec<Type> {
    let [u8, f64] = [Basic::U8, Basic::F64].map(Type::basic);
    let scattered: Vec<i64> = (0..4_000_000_i64).map(|i| i * 7_919 % 9_000_011).collect();
    let matrix = Type::resized(&Type::vector(30_000, 1, 30_000, &f64).unwrap(), 0, 8).unwrap();
    let mut deep = Type::resized(&u8, 0, 0).unwrap();
    for _ in 0..60 {
        deep = Type::resized(&Type::contiguous(2, &deep).unwrap(), 0, 0).unwrap();
    }
    let mut wide = f64.clone();
    for _ in 0..20 {
        let extent = wide.extent();
        wide = Type::structure(&[1, 1], &[0, 2 * extent], &[wide.clone(), wide]).unwrap();
    }
    let members = vec![u8.clone(); 300_000];
    let places: Vec<i64> = (0..300_000).rev().collect();
    vec![
        Type::contiguous(1_000_000_000, &f64).unwrap(),
        Type::vector(1_000_000_000, 1, 3, &f64).unwrap(),
        Type::hvector(1_000_000_000, 1, 0, &f64).unwrap(),
        Type::hvector(1_000_000_000, 1, -1, &f64).unwrap(),
        Type::contiguous(30_000, &matrix).unwrap(),
        Type::subarray(&[1000, 1000, 1000], &[998, 998, 998], &[1, 1, 1], Order::C, &f64).unwrap(),
        Type::indexed_block(1, &scattered, &u8).unwrap(),
        Type::structure(&vec![1; members.len()], &places, &members).unwrap(),
        Type::resized(&f64, i64::MIN / 4, i64::MAX / 2).unwrap(),
        deep,
        wide,
    ]
}

#[test]
fn large_types_are_drawn_at_once() {
    let views = [
        View::default(),
        View::default().with_instances(u64::MAX),
        View::default().with_unit(64).with_columns(1024).with_rows(40),
        View::default().with_instances(0).with_columns(0).with_rows(0).with_unit(0).with_row(0),
    ];
    for ty in large() {
        for view in &views {
            let start = Instant::now();
            let diagram = Diagram::of_type(&ty, view);
            let text = diagram.text(&TextStyle::default()).to_string();
            let svg = diagram.svg(&SvgStyle::default());
            let _ = (EnvelopeTree::new(&ty, 100).to_string(), diagram.to_string());
            let elapsed = start.elapsed();
            // Drawing takes milliseconds without instrumentation, and a walk of all blocks would take hours.
            assert!(elapsed < Duration::from_secs(60), "{elapsed:?} for {ty:?} and {view:?}");
            assert!(text.len() < 1 << 20 && svg.len() < 64 << 20, "{}", svg.len());
        }
    }
}

/// A picture stays small, whatever the number of instances and cells in the view, and names what it leaves out.
#[test]
fn the_largest_pictures_are_small() {
    let u8 = Type::basic(Basic::U8);
    let view = View::default().with_instances(u64::MAX).with_columns(1024).with_rows(1024);
    for (unit, drawn) in [(1, 1 << 16), (64, 1 << 22)] {
        let diagram = Diagram::of_type(&u8, &view.clone().with_unit(unit));
        let cells = diagram.lines().iter().filter_map(|line| match line {
            Line::Row(row) => Some(row.cells.len()),
            _ => None,
        });
        assert_eq!(cells.sum::<usize>(), 1 << 16);
        let [extents @ .., last, true_extent] = diagram.ranges() else { panic!() };
        assert_eq!((extents[9].start, extents.len()), (9, 255));
        assert_eq!((last.start, last.end), ((1 << 48) - 1, 1 << 48));
        assert_eq!(true_extent.label, "true extent 1");
        assert_eq!(diagram.more_extents(), drawn - 256);
        let said = format!("the extents of {} more instances left out", drawn - 256);
        let text = diagram.text(&TextStyle::default()).to_string();
        let svg = diagram.svg(&SvgStyle::default());
        assert!(text.contains(&said) && svg.contains(&said));
        assert!(text.len() < 1 << 20 && svg.len() < 1 << 24, "{} {}", text.len(), svg.len());
    }
    // Here each cell is a box.
    let pairs = Type::structure(&[1, 1], &[0, 1], &[u8.clone(), u8]).unwrap();
    let svg = Diagram::of_type(&pairs, &view).svg(&SvgStyle::default());
    assert!(svg.len() < 1 << 25, "{}", svg.len());
}

/// Bytes that were not visited are not drawn as gaps.
#[test]
fn unvisited_bytes_are_drawn_as_unknown() {
    let places: Vec<i64> = (0..4_000_000_i64).map(|i| i * 7_919 % 9_000_011).collect();
    let ty = Type::indexed_block(1, &places, &Type::basic(Basic::U8)).unwrap();
    let diagram = Diagram::of_type(&ty, &View::default().with_rows(3));
    assert!(!diagram.is_complete());
    let named: std::collections::BTreeSet<i128> = places.iter().map(|p| i128::from(*p)).collect();
    let mut unknown = 0;
    for line in diagram.lines() {
        let Line::Row(row) = line else { continue };
        for (at, cell) in (row.start..).zip(&row.cells) {
            match cell.sign {
                Sign::Data => assert!(named.contains(&at)),
                Sign::Unknown => unknown += 1,
                other => panic!("{other:?} at {at}"),
            }
        }
    }
    assert!(unknown > 0);
    assert!(diagram.text(&TextStyle::default()).to_string().contains("\n? not looked at\n"));
}

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn extreme_types_are_drawn(ty in extreme::types()) {
        let Ok(ty) = ty else { return Ok(()) };
        let _ = Diagram::of_type(&ty, &View::default()).to_string();
    }
}
