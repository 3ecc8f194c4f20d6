//! The book's Python function that computes a signature hash: NumPy's dtypes have the hashes that the command gives them.

use std::fmt::Write as _;
use std::process::Command;

use dtype_cli::declaration::{Language, parse};

#[path = "../../../dtype-npy/tests/python/mod.rs"]
mod python;

#[test]
fn the_function_of_the_book_and_the_command_agree() {
    let chapter = include_str!("../../../docs/src/messages-in-c-and-python.md");
    let code = chapter.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
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
    assert!(chapter.contains(expected.lines().nth(10).unwrap()));
    let Some(python) = python::with_numpy() else { return };
    let call = |dtype: &&str| format!("print('0x%016x' % signature_hash({dtype}))\n");
    let calls: String = dtypes.iter().map(call).collect();
    let output = Command::new(python).args(["-c", &format!("{code}\n{calls}")]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}
