//! The check, compared with a comparison of each element of the layout.

use dtype_runtime::types::Order;
use dtype_runtime::{Basic, Type};

use super::Record;
use crate::error::Error;

/// The obvious check.
fn fits(record: &Type, layout: &Type, origin: i64) -> bool {
    layout.type_map().all(|entry| {
        let at = (origin + entry.displacement).rem_euclid(record.extent());
        record.type_map().any(|value| value.displacement == at && value.basic == entry.basic)
    })
}

#[test]
fn it_is_the_comparison_of_every_element() {
    let [u8, i32, f64] = [Basic::U8, Basic::I32, Basic::F64].map(Type::basic);
    let record = Type::structure(&[1, 1], &[0, 8], &[f64.clone(), i32.clone()]).unwrap();
    let records = [
        f64.clone(),
        record.clone(),
        Type::structure(&[2, 1, 1], &[0, 8, 16], &[i32.clone(), f64.clone(), u8.clone()]).unwrap(),
        Type::contiguous(6, &f64).unwrap(),
    ];
    let mut layouts = records.to_vec();
    for base in [&i32, &f64, &record] {
        for (count, length, stride) in [(5, 1, 1), (5, 2, 3), (4, 1, -2), (3, 3, 4), (0, 1, 1)] {
            layouts.push(Type::vector(count, length, stride, base).unwrap());
            layouts.push(Type::hvector(count, length, 8 * stride, base).unwrap());
        }
        layouts.push(Type::subarray(&[4, 6], &[2, 3], &[1, 2], Order::C, base).unwrap());
        layouts.push(Type::hindexed(&[1, 2], &[24, 48], base).unwrap());
        let inner = Type::hvector(3, 1, 20, base).unwrap();
        layouts.push(Type::hvector(3, 1, 64, &inner).unwrap());
    }
    let (mut good, mut bad) = (0, 0);
    for record in &records {
        for layout in &layouts {
            for origin in [0, 4, 8, 16, 24, -16] {
                let expected = fits(record, layout, origin);
                let found = Record::new(record).check(layout, origin);
                assert_eq!(found.is_ok(), expected, "{record:?} {layout:?} {origin}: {found:?}");
                *if expected { &mut good } else { &mut bad } += 1;
            }
        }
    }
    assert!(good > 100 && bad > 100, "{good} {bad}");
}

#[test]
fn the_error_names_both() {
    let record = Type::of::<(f64, u32)>();
    let layout = Type::vector(3, 1, 16, &Type::basic(Basic::F32)).unwrap();
    let error = Record::new(&record).check(&layout, 0).unwrap_err();
    let Error::RemoteLayout { displacement: 0, layout, memory } = error else { panic!("{error}") };
    assert_eq!((layout, memory), (Basic::F32.name(), Basic::F64.name()));
    let gap = Record::new(&record).check(&Type::basic(Basic::U32), 12).unwrap_err();
    assert!(gap.to_string().ends_with("the registered memory holds no value"), "{gap}");
}
