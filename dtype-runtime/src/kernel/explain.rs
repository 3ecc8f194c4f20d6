//! Which kernel copies which data, as the kernels themselves report.
//!
//! A kernel calls [`Direction::chosen`] once it has decided, and before it copies. For [`Explain`] that call
//! records the kernel's name and tells it to copy nothing; for all other directions it compiles to nothing. So an
//! explanation is an execution without the copying, and cannot differ from it.

use core::ptr;

pub(crate) use super::chosen::{Kernel, PerBlock};
use super::direction::{Direction, Transfer};
use crate::kernels::selected;
use crate::plan::{Blocks, List, One, Op, Plan, Program};

/// Copies nothing, and records which kernel would copy. `packed` points to the `Option<Kernel>` that receives it:
/// [`advance`](Direction::advance) is 0 and [`counterpart`](Direction::counterpart) returns its argument, so every kernel
/// passes it on unchanged. Nothing uses `memory`.
struct Explain;

impl Direction for Explain {
    /// `packed` must not advance, and zeroing never does. Permutations do not zero.
    const TRANSFER: Transfer = Transfer::Zero;

    /// A mask is an option wherever bytes arrive unchanged, so the explanation must allow it.
    const MAY_MASK: bool = true;

    unsafe fn copy(_memory: *mut u8, _packed: *mut u8, _len: usize) {}

    unsafe fn chosen(kernel: impl FnOnce() -> Kernel, packed: *mut u8) -> bool {
        // SAFETY: `packed` is the pointer that `explained` passed to the kernel, as the struct's documentation says. It points
        // to an `Option<Kernel>` that nothing else refers to during the call.
        unsafe { packed.cast::<Option<Kernel>>().write_unaligned(Some(kernel())) };
        true
    }
}

/// The kernel that reports itself in `execute`; [`Kernel::Walk`] if none does, because there is nothing to copy.
fn explained(execute: impl FnOnce(*mut u8)) -> Kernel {
    let mut kernel = None;
    execute(ptr::from_mut::<Option<Kernel>>(&mut kernel).cast());
    kernel.unwrap_or(Kernel::Walk)
}

/// The kernel that copies blocks at equal distances.
pub(crate) fn blocks(all: Blocks, program: &Program) -> Kernel {
    // SAFETY: `Explain` touches no memory, and no packed byte but the name.
    explained(|name| unsafe {
        super::blocks::<Explain>(&all, program, ptr::null_mut(), name);
    })
}

/// The kernel that copies a list of the program.
pub(crate) fn list(list: &List, program: &Program) -> Kernel {
    // SAFETY: as in `blocks`.
    explained(|name| unsafe {
        super::list::<Explain>(list, program.lists(), ptr::null_mut(), name);
    })
}

/// The kernel that copies `count` repetitions of operations, `stride` bytes apart.
pub(crate) fn repeated(ops: &[Op], program: &Program, count: u64, stride: i64) -> Kernel {
    // SAFETY: as in `blocks`.
    explained(|name| unsafe {
        super::repeated::<Explain>(ops, program, count, stride, ptr::null_mut(), name);
    })
}

/// If an instance is blocks at equal distances and is executed as such: these blocks, and the kernel that copies `count`
/// instances.
pub(crate) fn single(plan: &Plan, count: u64) -> Option<(Blocks, Kernel)> {
    let all = super::single(plan, count).filter(|_| count > 0)?;
    if !super::is_joined(&all, plan, count) && instances(plan, count).is_some() {
        return None;
    }
    // SAFETY: as in `blocks`.
    let kernel = explained(|name| unsafe {
        super::execute::<Explain>(plan, count, ptr::null_mut(), name);
    });
    Some((all, kernel))
}

/// The kernel that copies one instance as a whole, if there is one.
pub(crate) fn one(plan: &Plan) -> Option<Kernel> {
    let all = plan.program().instances().filter(|_| selected().permutes())?;
    let is_small = plan.program().one() == &One::Small;
    (is_small && all.are_records).then_some(Kernel::Permutation { records: 1 })
}

/// The kernel that copies `count` instances as a whole: one by one, by a permutation, or as records. `None` if the operations
/// are executed one by one.
pub(crate) fn instances(plan: &Plan, count: u64) -> Option<Kernel> {
    let program = plan.program();
    if is_few(plan, count) {
        return Some(Kernel::Walk);
    }
    if selected().permutes()
        && let Some(all) = program.instances()
    {
        return Some(Kernel::Permutation { records: all.permutation.records() });
    }
    let records = program.records().filter(|all| count > 2 && all.are_run_by_run())?;
    Some(Kernel::Records { runs: records.runs.len() })
}

/// Whether `count` instances are copied one by one, run by run.
fn is_few(plan: &Plan, count: u64) -> bool {
    !selected().permutes() && plan.program().is_few_runs(count)
}

// Some displacements here need addresses of 64 bits.
#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use std::cell::RefCell;
    use std::vec::Vec;

    use super::*;
    use crate::basic::Basic;
    use crate::kernel::execute;
    use crate::kernels::{Isa, selected};
    use crate::types::Type;

    /// A step of copying.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Step {
        Move { memory: usize, len: usize },
        Permute { records: usize },
        Masked { width: u8 },
    }

    std::thread_local! {
        static STEPS: RefCell<Vec<Step>> = const { RefCell::new(Vec::new()) };
    }

    /// Touches no memory, and records the steps instead.
    struct Trace;

    impl Direction for Trace {
        const TRANSFER: Transfer = Transfer::Pack;

        unsafe fn copy(memory: *mut u8, _packed: *mut u8, len: usize) {
            STEPS.with_borrow_mut(|steps| steps.push(Step::Move { memory: memory.addr(), len }));
        }

        unsafe fn chosen(kernel: impl FnOnce() -> Kernel, _packed: *mut u8) -> bool {
            let step = match kernel() {
                Kernel::Permutation { records } => Step::Permute { records },
                Kernel::List(PerBlock::Masked { width }) => Step::Masked { width },
                _ => return false,
            };
            STEPS.with_borrow_mut(|steps| steps.push(step));
            true
        }
    }

    /// The steps for `count` instances.
    fn traced(plan: &Plan, count: u64) -> Vec<Step> {
        STEPS.take();
        let memory = core::ptr::without_provenance_mut(1 << 40);
        // SAFETY: `Trace` touches no memory.
        unsafe { execute::<Trace>(plan, count, memory, memory) };
        STEPS.take()
    }

    /// The kernel chosen for a whole plan.
    fn chosen(plan: &Plan, count: u64) -> Kernel {
        if let Some((_, kernel)) = single(plan, count) {
            return kernel;
        }
        if let Some(kernel) = instances(plan, count) {
            return kernel;
        }
        repeated(plan.ops(), plan.program(), count, plan.extent())
    }

    fn widths(steps: &[Step]) -> Vec<usize> {
        let mut all: Vec<usize> = steps
            .iter()
            .map(|step| match step {
                Step::Move { len, .. } => *len,
                Step::Permute { .. } | Step::Masked { .. } => 0,
            })
            .collect();
        all.dedup();
        all
    }

    fn column(len: u64, stride: i64, count: u64) -> Type {
        Type::hvector(count, len, stride, &Type::basic(Basic::U8)).unwrap()
    }

    #[test]
    fn blocks_are_copied_by_the_moves_that_are_named() {
        for len in 1..200 {
            let plan = column(len, 1000, 5).commit();
            let steps = traced(plan.plan(), 1);
            match chosen(plan.plan(), 1) {
                Kernel::Strided(PerBlock::Moves { number, width }) => {
                    assert_eq!(widths(&steps), [usize::from(width)], "{len}");
                    assert_eq!(steps.len(), 5 * usize::from(number), "{len}");
                }
                Kernel::Strided(PerBlock::Touching { first, second }) => {
                    assert_eq!(widths(&steps)[..2], [first.into(), second.into()], "{len}");
                    assert_eq!(u64::from(first) + u64::from(second), len);
                    assert_eq!(steps.len(), 5 * 2, "{len}");
                }
                Kernel::Strided(PerBlock::Long) => assert!(len > 64, "{len}"),
                other => panic!("{len}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_matrix_is_a_grid_or_tiles() {
        // Rows of 40 bytes that alternate between two matrices.
        let rows = Type::hvector(2, 1, 5000, &column(8, 100, 3)).unwrap().commit();
        let [Op::Loop { count, stride, items: 1 }, _] = rows.plan().ops() else {
            panic!("{:?}", rows.plan())
        };
        let body = &rows.plan().ops()[1..];
        let kernel = repeated(body, rows.plan().program(), *count, *stride);
        assert_eq!(kernel, Kernel::Grid(PerBlock::Moves { number: 1, width: 8 }));
        let steps = traced(rows.plan(), 1);
        assert!(steps.len() == 6 && widths(&steps) == [8]);

        // Adjacent columns: the second block that is copied belongs to the next column.
        let columns = Type::resized(&column(8, 4096, 100), 0, 8).unwrap().commit();
        assert_eq!(chosen(columns.plan(), 100), Kernel::Tiles);
        let steps = traced(columns.plan(), 100);
        assert_eq!(steps[1], Step::Move { memory: (1 << 40) + 8, len: 8 });
    }

    #[test]
    fn records_are_permuted_or_copied_run_by_run_or_walked() {
        let [u8, u16] = [Basic::U8, Basic::U16].map(Type::basic);
        let record = Type::structure(&[1, 1, 1], &[0, 4, 8], &[u8.clone(), u16, u8]).unwrap();
        let record = Type::resized(&record, 0, 16).unwrap().commit();
        let plan = record.plan();
        let steps = traced(plan, 1000);
        match chosen(plan, 1000) {
            Kernel::Permutation { records } => {
                assert_eq!(selected(), Isa::Avx512);
                assert_eq!(steps, [Step::Permute { records }]);
            }
            Kernel::Records { runs } => {
                assert_ne!(selected(), Isa::Avx512);
                // The second step copies the first run of the second record.
                let [Step::Move { memory: first, .. }, Step::Move { memory: second, .. }, ..] =
                    steps[..]
                else {
                    panic!("{steps:?}")
                };
                assert_eq!((second - first, runs), (16, plan.ops().len()));
            }
            other => panic!("{other:?}"),
        }
        // Too far apart for a permutation, but near enough to be copied run by run.
        let far = Type::resized(&record, 0, 2000).unwrap().commit();
        assert!(matches!(chosen(far.plan(), 1000), Kernel::Records { .. }));
        let steps = traced(far.plan(), 1000);
        let Step::Move { memory, .. } = steps[1] else { panic!("{steps:?}") };
        assert!(memory >= (1 << 40) + 2000);
        // Too few instances.
        assert_eq!(chosen(far.plan(), 2), Kernel::Walk);
    }

    #[test]
    fn one_record_is_permuted() {
        let byte = Type::basic(Basic::U8);
        let record = Type::hindexed(&[1, 2, 1], &[0, 4, 9], &byte).unwrap().commit();
        let calls: Vec<Vec<Step>> = (0..100).map(|_| traced(record.plan(), 1)).collect();
        if selected() == Isa::Avx512 {
            assert_eq!(one(record.plan()), Some(Kernel::Permutation { records: 1 }));
            assert!(calls.iter().all(|steps| *steps == [Step::Permute { records: 1 }]));
        } else {
            assert_eq!(one(record.plan()), None);
            assert_eq!(calls[99].len(), 4, "two moves for the two bytes");
        }
        // Three runs, one of them empty, and two with too many bytes together.
        for lengths in [[1, 0, 1], [30, 30, 5]] {
            let ty = Type::hindexed(&lengths, &[0, 40, 80], &byte).unwrap().commit();
            assert_eq!(one(ty.plan()), None, "{lengths:?}");
            let calls: Vec<Vec<Step>> = (0..100).map(|_| traced(ty.plan(), 1)).collect();
            assert!(calls.iter().all(|steps| *steps == calls[0]));
        }
    }

    #[test]
    fn instances_that_are_blocks_are_permuted() {
        // 13 bytes, and a gap of 3.
        let bytes = Type::contiguous(13, &Type::basic(Basic::U8)).unwrap();
        let record = Type::resized(&bytes, 0, 16).unwrap().commit();
        let plan = record.plan();
        let calls: Vec<Vec<Step>> = (0..100).map(|_| traced(plan, 5)).collect();
        let (_, kernel) = single(plan, 5).unwrap();
        if selected() == Isa::Avx512 {
            assert!(calls.iter().all(|steps| *steps == [Step::Permute { records: 4 }]));
            assert_eq!(kernel, Kernel::Permutation { records: 4 });
        } else {
            assert!(calls.iter().all(|steps| *steps == calls[0]));
        }
        // The explanation is the same before the first copy.
        let new = Type::resized(&bytes, 0, 16).unwrap().commit();
        assert_eq!(single(new.plan(), 5), single(plan, 5));
    }

    #[test]
    fn instances_that_touch_are_permuted_as_they_are() {
        // The last byte of an instance touches the first of the next.
        let (u8, u64) = (Type::basic(Basic::U8), Type::basic(Basic::U64));
        let record = Type::structure(&[1, 1], &[0, 8], &[u8, u64]).unwrap().commit();
        let plan = record.plan();
        if selected() == Isa::Avx512 {
            assert_eq!(traced(plan, 3), [Step::Permute { records: 4 }]);
            assert_eq!(traced(plan, 1000), [Step::Permute { records: 4 }]);
            assert_eq!(instances(plan, 1000), Some(Kernel::Permutation { records: 4 }));
        } else {
            // Nine bytes at once: the end of one instance and the start of the next.
            assert_eq!(instances(plan, 1000), Some(Kernel::Records { runs: 1 }));
            assert_eq!(traced(plan, 1000)[1], Step::Move { memory: (1 << 40) + 8, len: 8 });
            assert_eq!(widths(&traced(plan, 3)), [1, 8, 1, 8, 1, 8]);
        }
    }

    #[test]
    fn instances_of_many_blocks_are_permuted_unless_all_blocks_are_equally_far_apart() {
        // Instances that lie apart, and instances whose last block touches the first block of the next.
        for extent in [100, 88] {
            let ty = Type::resized(&column(4, 12, 8), 0, extent).unwrap().commit();
            let steps = traced(ty.plan(), 1000);
            if selected() == Isa::Avx512 {
                assert_eq!(chosen(ty.plan(), 1000), Kernel::Permutation { records: 1 });
                assert_eq!(steps, [Step::Permute { records: 1 }], "{extent}");
            } else {
                assert!(matches!(chosen(ty.plan(), 1000), Kernel::Grid(_)), "{extent}");
                assert_eq!((widths(&steps), steps.len()), (vec![4], 8000));
            }
        }
        // One column over all instances; a window has six of its blocks.
        let ty = Type::resized(&column(4, 12, 8), 0, 96).unwrap().commit();
        match selected() {
            Isa::Avx512 => assert_eq!(traced(ty.plan(), 1000), [Step::Permute { records: 6 }]),
            _ => assert_eq!(traced(ty.plan(), 1000).len(), 8000),
        }
        // Blocks too far apart for a permutation.
        let ty = Type::resized(&column(4, 40, 8), 0, 700).unwrap().commit();
        assert!(matches!(chosen(ty.plan(), 1000), Kernel::Grid(_)));
        assert_eq!(traced(ty.plan(), 1000).len(), 8000);
    }

    #[test]
    fn instances_that_are_one_run_are_copied_at_once() {
        let dense = Type::contiguous(16, &Type::basic(Basic::U8)).unwrap().commit();
        for count in [1, 2, 1000] {
            assert_eq!(instances(dense.plan(), count), None);
            assert_eq!(single(dense.plan(), count).map(|(_, kernel)| kernel), Some(Kernel::Copy));
        }
    }

    #[test]
    fn lists_are_copied_by_the_moves_that_are_named() {
        let places: Vec<i64> = (0..60).map(|i| i * (i + 3)).collect();
        for len in 1..70 {
            let places: Vec<i64> = places.iter().map(|place| place * 80).collect();
            let ty = Type::hindexed_block(len, &places, &Type::basic(Basic::U8)).unwrap();
            let committed = ty.commit();
            let [Op::List(of)] = committed.plan().ops() else { panic!("{committed:?}") };
            let steps = traced(committed.plan(), 1);
            match list(of, committed.plan().program()) {
                Kernel::List(PerBlock::Moves { number, width }) => {
                    assert_eq!(widths(&steps), [usize::from(width)], "{len}");
                    assert_eq!(steps.len(), 60 * usize::from(number), "{len}");
                }
                Kernel::List(PerBlock::Touching { first, second }) => {
                    assert_eq!(widths(&steps)[..2], [first.into(), second.into()], "{len}");
                    assert_eq!(u64::from(first) + u64::from(second), len);
                    assert_eq!(steps.len(), 60 * 2, "{len}");
                }
                Kernel::List(PerBlock::Long) => assert!(len > 64, "{len}"),
                other => panic!("{len}: {other:?}"),
            }
        }
        // The greatest length is twice the least one, four times, and more.
        let lists = [(2, 3, 2, 2), (4, 12, 4, 4), (1, 30, 0, 32), (2, 60, 0, 64), (20, 60, 0, 0)];
        for (least, lengths, number, width) in lists {
            let lengths: Vec<u64> = (0..60).map(|i| least + i % lengths).collect();
            let places: Vec<i64> = places.iter().map(|place| place * 80).collect();
            let ty = Type::hindexed(&lengths, &places, &Type::basic(Basic::U8)).unwrap();
            let committed = Type::resized(&ty, 0, 1_000_000).unwrap().commit();
            let [Op::List(of)] = committed.plan().ops() else { panic!("{committed:?}") };
            let kernel = list(of, committed.plan().program());
            let steps = traced(committed.plan(), 1);
            let masks = selected() == Isa::Avx512;
            let expected = match (number, width) {
                // One masked move is as fast as two plain ones, and faster than four.
                (4, _) if masks => PerBlock::Masked { width: 32 },
                (2 | 4, _) => PerBlock::Moves { number, width },
                (_, 32 | 64) if masks => PerBlock::Masked { width },
                _ => PerBlock::Varied,
            };
            assert_eq!(kernel, Kernel::List(expected));
            match expected {
                PerBlock::Masked { width } => assert_eq!(steps, [Step::Masked { width }]),
                PerBlock::Moves { number, width } => {
                    assert_eq!(widths(&steps), [width.into()]);
                    assert_eq!(steps.len(), 60 * usize::from(number));
                }
                _ => assert!(steps.len() >= 60),
            }
        }
    }
}
