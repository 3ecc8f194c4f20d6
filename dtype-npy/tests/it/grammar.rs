//! Expressions that NumPy 2 takes, and those that it refuses, beside what is parsed here.
//!
//! Without `python3` and NumPy 2, the test prints a note, and passes.

use std::io::Write;
use std::process::{Command, Stdio};

use dtype_npy::{Dtype, DtypeField, Kind};
use dtype_test_support::python;

/// An expression on each line.
const EXPRESSIONS: &str = r"{'x': ('f4', 0), '': ('u1', 4)}
{'': ('f4', 0)}
{'names': ['', 'a'], 'formats': ['f4', 'u1']}
{'names': ['', 'f0'], 'formats': ['f4', 'u1']}
{'names': [''], 'formats': ['V4']}
{'names': ['', ''], 'formats': ['u1', 'u1']}
{'': ('V4', 0), 'a': ('u1', 4)}
{'': ('u1', 4), 'f1': ('u1', 0)}
[('', 'u1'), ('f0', 'u1')]
[('', 'u1'), ('f1', 'u1')]
{'x': ('f4', 0x10)}
{'names': ['a', 'b'], 'formats': ['u1', 'f8'], 'offsets': [0, 0x1F]}
{'names': ['a'], 'formats': ['u1'], 'offsets': [0o17], 'itemsize': 0b10001}
{'names': ['a'], 'formats': ['u1'], 'offsets': [00]}
{'names': ['a'], 'formats': ['u1'], 'itemsize': 0x10}
[('a', 'u1', 0x10)]
[('a', 'u1', (0x2, 0X3))]
[('a', 'u1', 1_0)]
np.dtype([('a', 'u1'), ('b', 'f8')], align=1)
np.dtype([('a', 'u1'), ('b', 'f8')], align=0)
np.dtype([('a', 'u1'), ('b', 'f8')], 1)
{'names': ['a', 'b'], 'formats': ['u1', 'f8'], 'aligned': True}
{'names': ['a', 'b'], 'formats': ['u1', 'f8'], 'aligned': 1}
'02f4'
'2f4'
'0f4'
'00f4'
'<02f4'
'02<f4'
'002S5'
'(02,)f4'
'(0,)f4'
'f4,02f4'
[('a', '02f4')]
' f4'
'f4 '
' 2f4'
'2 f4'
'(2,) f4'
'(2, )f4'
'(2,3 ) f4'
' <f4'
'< f4'
'f4, f4'
'f4 ,f4'
'f4,f4 '
' f4,f4'
'f4,'
'f4, '
' '
''
','
'f4 f4'
[('a', ' f4')]
'str0'
'bytes0'
'void0'
'object0'
'int0'
'uint0'
'bool8'
'float_'
'complex_'
'unicode_'
'string_'
'longfloat'
'singlecomplex'
'longcomplex'
'cfloat'
'clongfloat'
'record'
'str'
'str_'
'bytes'
'bytes_'
'void'
'unicode'
'object'
'object_'
'int_'
'intp'
'uint'
'long'
'float128'
'f04'
'S010'
'U07'
'3S'
'0S'
(np.record, [('x', 'f4')])
";

/// The size, and the name, offset and size of each field.
fn outline(dtype: &Dtype) -> String {
    let mut all = vec![dtype.itemsize().to_string()];
    if let Kind::Structure { fields } = dtype.kind() {
        for DtypeField { name, offset, dtype, .. } in fields {
            all.push(format!("{name}:{offset}:{}", dtype.itemsize()));
        }
    }
    all.join(" ")
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no Python")]
fn numpy_takes_the_same_expressions() {
    let Some(python) = python::with("numpy") else { return };
    let program = "
import sys, warnings
import numpy as np
warnings.simplefilter('ignore')
if int(np.__version__.split('.')[0]) < 2:
    print('left out: NumPy', np.__version__, file=sys.stderr)
    sys.exit()
for line in sys.stdin:
    try:
        dtype = np.dtype(eval(line))
    except (TypeError, ValueError, SyntaxError):
        print('refused')
        continue
    fields = [f'{n}:{dtype.fields[n][1]}:{dtype.fields[n][0].itemsize}' for n in dtype.names or ()]
    print(' '.join([str(dtype.itemsize), *fields]))
";
    let mut child = Command::new(python)
        .args(["-c", program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let expressions = EXPRESSIONS.as_bytes().to_vec();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&expressions)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    let theirs = String::from_utf8(output.stdout).unwrap();
    if theirs.is_empty() {
        return;
    }
    for (expression, theirs) in EXPRESSIONS.lines().zip(theirs.lines()) {
        let ours = Dtype::parse(expression);
        let ours = ours.as_ref().map_or_else(|_| "refused".to_owned(), outline);
        assert_eq!(ours, theirs, "{expression}");
    }
    assert_eq!(theirs.lines().count(), EXPRESSIONS.lines().count());
}
