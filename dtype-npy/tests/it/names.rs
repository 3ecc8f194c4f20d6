//! Fields whose names have quotation marks, control characters and more, in NumPy.

use std::io::Write;
use std::process::{Command, Stdio};

use dtype_npy::{Header, NumpyOptions, numpy_dtype};
use dtype_test_support::odd_names::{Step, steps};
use dtype_test_support::python;

#[test]
fn notations_have_the_names() {
    let numpy = numpy_dtype::<Step>(&NumpyOptions::packed()).unwrap().to_string();
    let names = r#"'total blocks', 'time', 'größe \'in\' "m\\s"', '<&>: x', 'a\tb"#;
    assert!(numpy.contains(names), "{numpy}");
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no Python")]
fn numpy_has_the_names() {
    let mut file = Vec::new();
    dtype_npy::write(&mut file, &steps()).unwrap();
    assert_eq!(Header::read(&file[..]).unwrap().version, (3, 0));
    assert_eq!(dtype_npy::read::<Step>(&file[..]).unwrap(), steps());
    let Some(python) = python::with("numpy") else { return };
    let program = "
import io, sys, numpy as np
array = np.load(io.BytesIO(sys.stdin.buffer.read()))
assert array.dtype.names == ('total blocks', 'time', '''größe 'in' \"m\\\\s\"''', '<&>: x', 'a\\tb\\n\\x9b2J', 'is.on [0]'), array.dtype
assert array.dtype['is.on [0]'].base.names == ('on/off', '温度'), array.dtype
assert array['total blocks'].tolist() == [7, -8]
np.save(sys.stdout.buffer, array)
";
    let mut child = Command::new(python)
        .args(["-c", program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&file).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(dtype_npy::read::<Step>(&output.stdout[..]).unwrap(), steps());
}
