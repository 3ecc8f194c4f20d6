//! The code of kernels, for layouts whose numbers are easy to follow by hand.

use dtype_gpu::forms::sources;
use dtype_gpu::source::{Dialect, Direction};
use dtype_runtime::{Basic, Error, Type};

/// The generated part of the kernel with this name: what the text has beyond the file that it stands in.
#[track_caller]
fn assert_has(ty: &Type, direction: Direction, name: &str, lines: &str) {
    let all = sources(&ty.commit(), direction);
    let Some(source) = all.iter().find(|source| source.name == name) else {
        panic!(
            "no kernel {name} among {:?}",
            all.iter().map(|source| source.name).collect::<Vec<_>>()
        );
    };
    assert!(source.body.contains(lines), "{}", source.body);
}

#[test]
fn loops_are_divisions_by_constants() -> Result<(), Error> {
    // Rows of 16 bytes, 3 of them 100 bytes apart, 2 of these 1000 bytes apart.
    let rows = Type::hvector(3, 16, 100, &Type::basic(Basic::U8))?;
    let planes = Type::resized(&Type::hvector(2, 1, 1000, &rows)?, 0, 4000)?;
    let expected = "\
        i = rest / 24;
        place += (u64)i * (u64)0xfa0;
        rest -= i * 24;
        i = rest / 12;
        place += (u64)i * (u64)0x3e8;
        rest -= i * 12;
        i = rest / 4;
        place += (u64)i * (u64)0x64;
        rest -= i * 4;
        place += (u64)rest * 4;
";
    assert_has(&planes, Direction::Pack, "nest", expected);
    assert_has(&planes, Direction::Pack, "nest", "#define WORD u32\n");
    assert_has(&planes, Direction::Pack, "nest", "FROM(memory_word, packed_word) (memory_word)\n");
    assert_has(
        &planes,
        Direction::Unpack,
        "nest",
        "FROM(memory_word, packed_word) (packed_word)\n",
    );
    Ok(())
}

#[test]
fn threads_move_several_short_words_of_dense_data() -> Result<(), Error> {
    // Mostly data; mostly gaps; mostly gaps, but long blocks.
    let cases = [
        (75, 500, 4, "        FILL(memory + place, rest, 75);\n"),
        (5, 500, 1, ""),
        (33, 500, 4, "        FILL(memory + place, rest, 33);\n"),
    ];
    for (block, stride, each, fill) in cases {
        let rows = Type::resized(&Type::contiguous(block, &Type::basic(Basic::F32))?, 0, stride)?;
        let words = format!("#define EACH {each}\n");
        assert_has(&rows, Direction::Pack, "nest", &words);
        assert_has(&rows, Direction::Unpack, "nest", &words);
        let end = format!("        place += (u64)rest * 4;\n{fill}        places[k]");
        assert_has(&rows, Direction::Unpack, "nest", &end);
    }
    Ok(())
}

#[test]
fn structures_are_comparisons() -> Result<(), Error> {
    // Beside a list, commit makes the rows a list as well.
    let double = Type::basic(Basic::F64);
    let rows = Type::hvector(20, 3, 800, &double)?;
    let list =
        Type::indexed_block(1, &(0..40).map(|i| i * (i + 3) / 2).collect::<Vec<_>>(), &double)?;
    let both = Type::structure(&[1, 1], &[8, 20_000], &[rows, list])?;
    let expected = "\
        i = rest / 100;
        place += (u64)i * (u64)0x67b8;
        rest -= i * 100;
        if (rest < 60) {
            place += (u64)0x8;
            i = rest / 3;
            place += (u64)offsets[0 + i] * 16;
            rest -= i * 3;
            place += (u64)rest * 8;
        } else {
            rest -= 60;
            place += (u64)0x4e20;
            i = rest / 1;
            place += (u64)offsets[20 + i] * 8;
            rest -= i * 1;
            place += (u64)rest * 8;
        }
";
    assert_has(&both, Direction::Pack, "nest", expected);
    Ok(())
}

#[test]
fn records_are_permutations_by_constants() -> Result<(), Error> {
    // A byte and eight of sixteen: four records are nine words.
    let record = Type::hindexed(&[1, 8], &[0, 8], &Type::basic(Basic::U8))?;
    let record = Type::resized(&record, 0, 16)?;
    let expected = "\
        p[0] = PERMUTE(q0.x, q0.z, 0x6540);
        p[1] = PERMUTE(q0.z, q0.w, 0x6543);
        p[2] = PERMUTE(PERMUTE(q0.w, q1.x, 0x43), PERMUTE(q1.z, q1.z, 0x1000), 0x7610);
";
    assert_has(&record, Direction::Pack, "gather", expected);
    assert_has(
        &record,
        Direction::Pack,
        "gather",
        "#define RECORDS 512\n#define JOINED 4\n#define READ 16\n#define MISALIGNED 0\n",
    );
    let inverse = "packed_place[] = {0, -1, -1, -1, -1, -1, -1, -1, 1, 2, 3, 4, 5, 6, 7, 8};";
    assert_has(&record, Direction::Unpack, "scatter", inverse);

    // Three words of four.
    let record = Type::resized(&Type::contiguous(3, &Type::basic(Basic::F32))?, 0, 16)?;
    let expected = "\
        u128 q0 = ((LOCAL const u128 *)w)[0];
        p[0] = q0.x;
        p[1] = q0.y;
        p[2] = q0.z;
";
    assert_has(&record, Direction::Pack, "gather", expected);
    let inverse = "#define WORD u32\nCONSTANT short packed_place[] = {0, 4, 8, -1};";
    assert_has(&record, Direction::Unpack, "scatter", inverse);
    Ok(())
}

#[test]
fn a_column_of_each_matrix_is_not_a_transpose() -> Result<(), Error> {
    let column = Type::vector(64, 1, 32, &Type::basic(Basic::F32))?;
    let columns = Type::resized(&column, 0, 4)?;
    let tiles = "#define SIDE 64\n#define ROWS 64\n#define ROW_TILES 1\n#define STRIDE (u64)0x80\n";
    assert_has(&columns, Direction::Pack, "transpose", tiles);
    let names: Vec<_> =
        sources(&column.commit(), Direction::Pack).iter().map(|source| source.name).collect();
    assert_eq!(names, ["nest"]);
    Ok(())
}

#[test]
fn the_preludes_differ_and_the_kernels_do_not() -> Result<(), Error> {
    let column = Type::vector(300, 1, 4, &Type::basic(Basic::U8))?.commit();
    let [kernel] = &sources(&column, Direction::Pack)[..] else { panic!("one kernel") };
    let [opencl, cuda] = [Dialect::OpenClC, Dialect::CudaCpp].map(|dialect| kernel.text(dialect));
    assert!(opencl.ends_with(&kernel.body) && cuda.ends_with(&kernel.body));
    assert!(opencl.contains("__kernel") && cuda.contains("__global__ void"));
    Ok(())
}
