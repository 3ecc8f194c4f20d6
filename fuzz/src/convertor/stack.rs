//! The convertor's stack at a position.

use dtype_runtime::convertor::{StackFrame, StackType};
use dtype_runtime::types::Entry;

use super::layout::Layout;

/// Checks that the stack at a position equals the description's. Inside data, it has a data frame that shows the next byte. It
/// is empty if there is nothing to convert.
pub(super) fn check_stack(layout: &Layout, position: usize, stack: &[StackFrame]) {
    let Layout { committed, map, count, places, .. } = layout;
    let description = committed.description();
    assert_eq!(stack, description.stack(*count as u64, position as u64).unwrap());
    let [instances, inner @ ..] = stack else {
        assert!(places.is_empty());
        return;
    };
    assert!(!places.is_empty());
    let (size, is_done) = (map.size(), position == places.len());
    let turn = if is_done { count - 1 } else { position / size };
    assert_eq!((instances.index, instances.kind), (-1, StackType::Loop));
    assert_eq!(instances.count, (count - position.div_ceil(size)) as u64);
    assert_eq!(instances.disp, turn as i64 * map.extent());
    assert!(stack.is_sorted_by(|outer, inner| outer.index < inner.index));
    assert!(!is_done || stack.iter().all(|frame| frame.count == 0));
    let mut has_data = false;
    for frame in inner {
        assert!(!has_data, "nothing is inside of data");
        match (frame.kind, description.entries()[frame.index as usize]) {
            (StackType::Loop, Entry::Loop(head)) => assert!(frame.count <= head.loops),
            (StackType::Basic(basic), Entry::Elem(elem)) => {
                has_data = true;
                assert_eq!(basic, elem.basic);
                assert_eq!(Some(&(elem.disp + frame.disp)), places.get(position));
                assert!((1..=elem.count).contains(&frame.count));
                let begun = frame.count < elem.count || layout.is_inside(position);
                assert!(begun || frame.index == 0, "data that are not begun are the first entry");
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(has_data || !layout.is_inside(position));
}
