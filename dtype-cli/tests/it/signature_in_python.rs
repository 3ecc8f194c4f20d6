//! The book's Python functions that compute signature hashes: NumPy's dtypes have the hashes that the command gives them, and
//! those of a head and a list are combined as the frames combine them.

use std::fmt::Write as _;
use std::process::Command;

use dtype_message::Header;
use dtype_test_support::python;
use dtype_text::declaration::{Language, parse};

#[test]
fn the_functions_of_the_book_and_the_command_agree() {
    let chapter = include_str!("../../../docs/src/messages-in-c-and-python.md");
    let blocks = chapter.split("```python\n").skip(1);
    let code: String = blocks.map(|block| block.split("```").next().unwrap()).collect();
    let dtypes = [
        "'?'",
        "'i1'",
        "'u2'",
        "'f2'",
        "'c8'",
        "'c16'",
        "'S5'",
        "'U3'",
        "'V7'",
        "('f8', (3, 2))",
        "[('station', 'u4'), ('temperature', 'f4'), ('scale', 'u1')]",
        "[('a', [('x', 'i2'), ('y', 'i8', (2,))], (3,)), ('b', 'u8'), ('c', 'f8')]",
        "{'names': ['b', 'a'], 'formats': ['i4', 'u1'], 'offsets': [4, 0], 'itemsize': 16}",
        "np.dtype([('a', 'u1'), ('b', 'f8')], align=True)",
    ];
    let mut expected = String::new();
    for dtype in dtypes {
        let ty = parse(dtype, Language::Numpy, None).unwrap().ty;
        let _ = writeln!(expected, "{:#018x}", ty.signature_hash());
    }
    let heads =
        [("'?'", "'u1'"), (dtypes[10], dtypes[11]), ("[('a', 'u4'), ('b', '?')]", dtypes[10])];
    for (head, record) in heads {
        let hash = |dtype| parse(dtype, Language::Numpy, None).unwrap().ty.signature_hash();
        let _ = writeln!(expected, "{:#018x}", Header::combined_hash(hash(head), hash(record)));
    }
    assert!(chapter.contains(expected.lines().nth(10).unwrap()));
    let Some(python) = python::with("numpy") else { return };
    let call = |dtype: &&str| format!("print('0x%016x' % signature_hash({dtype}))\n");
    let mut calls: String = dtypes.iter().map(call).collect();
    for (head, record) in heads {
        let _ = writeln!(calls, "print('0x%016x' % combined_hash({head}, {record}))");
    }
    let output = Command::new(python).args(["-c", &format!("{code}\n{calls}")]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}
