//! Files packed and unpacked by the command, held against the runtime; and what is left when something goes wrong.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;

use dtype_runtime::{Buffer, BufferMut, Error, Representation};
use dtype_test_support::model;
use dtype_text::notation::{parse, print};
use proptest::prelude::*;

use crate::command::{Folder, done, dtype, failed, fed, noise};

/// Packs and unpacks a file, and compares both with what the runtime does in memory.
fn there_and_back(ty: &str, len: usize, origin: usize, count: usize, given: &[&str]) {
    let folder = Folder::new();
    let memory = noise(len);
    let input = folder.file("memory", &memory);
    let origin_argument = format!("--origin={origin}");
    let (packed, back) = (folder.path("packed"), folder.path("back"));
    for (name, representation) in [
        ("native", Representation::Native),
        ("external32", Representation::External32),
        ("big", Representation::BigEndian),
        ("little", Representation::LittleEndian),
    ] {
        let arguments = [origin_argument.as_str(), "--representation", name];
        done(dtype().args(["pack", ty]).args([&input, &packed]).args(arguments).args(given));
        let committed = parse(ty).unwrap().ty.commit();
        let conversion = committed.conversion(representation).unwrap();
        let mut expected = vec![0; conversion.packed_size(count).unwrap()];
        conversion.pack(Buffer::new(&memory).origin(origin as i64), count, &mut expected).unwrap();
        assert!(fs::read(&packed).unwrap() == expected, "{ty} as {name}");

        let over = folder.file("over", &vec![0xEE; len]);
        let unpack = dtype()
            .args(["unpack", ty])
            .args([&packed, &back])
            .args(arguments)
            .arg("--over")
            .arg(&over)
            .output()
            .unwrap();
        assert!(unpack.status.success(), "{}", String::from_utf8_lossy(&unpack.stderr));
        let mut whole = vec![0xEE; len];
        conversion
            .unpack(&expected, BufferMut::new(&mut whole).origin(origin as i64), count)
            .unwrap();
        assert!(fs::read(&back).unwrap() == whole, "{ty} from {name}");
    }
    assert_eq!(folder.names(), ["back", "memory", "over", "packed"]);
}

#[test]
fn records_in_several_windows() {
    // 20 MB of them, with a piece of one behind.
    there_and_back("struct{f64, u32, u8}", 16 * 1_250_000 + 7, 0, 1_250_000, &[]);
}

#[test]
fn columns_that_interleave() {
    let ty = "resized(vector(300, 1, 200, u16), 0, 2)";
    there_and_back(ty, 2 * 300 * 200, 0, 200, &["--count=200"]);
}

#[test]
fn negative_displacements_and_backward_instances() {
    there_and_back("struct{u8@-3, i16@0, u8@5}", 99, 3, 8, &["--count=8"]);
    there_and_back("resized(struct{u16@0, u8@3}, 0, -4)", 40, 36, 10, &["--count=10"]);
}

#[test]
fn one_large_instance() {
    let ty = "subarray([100, 3000, 8], [50, 2000, 3], [10, 500, 2], C, f32)";
    there_and_back(ty, 4 * 100 * 3000 * 8, 0, 1, &[]);
}

#[test]
fn nothing() {
    there_and_back("struct{}", 10, 0, 1, &[]);
    there_and_back("[u8; 4]", 10, 0, 0, &["--count=0"]);
}

#[test]
fn standard_streams() {
    let folder = Folder::new();
    let input = folder.file("in", b"abcdefghijkl");
    let ty = folder.file("type", b"# the second column\nvector(3, 1, 4, u8)\n");
    let at = format!("@{}", ty.display());
    let packed = done(dtype().args(["pack", &at]).arg(&input).args(["-", "--origin=1"]));
    assert_eq!(packed, b"bfj");
    let mut child = dtype()
        .args(["unpack", &at, "-", "-", "--origin", "1", "--over"])
        .arg(&input)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"BFJ").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"aBcdeFghiJkl");

    let message = failed(dtype().args(["unpack", &at]).arg(&input).args(["-", "--over", "-"]));
    assert!(message.contains("`--over` takes a file"), "{message}");
    let message = failed(dtype().args(["compare", "-", "-"]));
    assert!(
        message.contains("can be given only once") || message.contains("found nothing"),
        "{message}"
    );
}

/// `script` runs a command in a terminal.
#[cfg(target_os = "linux")]
#[test]
fn bytes_are_not_written_to_a_terminal() {
    let folder = Folder::new();
    let (input, output) = (folder.file("in", b"\x1b[31m"), folder.path("out"));
    for action in ["pack", "unpack"] {
        for (out, expected) in [(Path::new("-"), "give a file or a pipe"), (&output, "")] {
            let dtype = env!("CARGO_BIN_EXE_dtype");
            let command =
                format!("'{dtype}' {action} u8 '{}' '{}'", input.display(), out.display());
            let mut script = std::process::Command::new("script");
            let script = script
                .args(["-qec", &command, "/dev/null"])
                .stdin(Stdio::null())
                .env("NO_COLOR", "1");
            let Ok(output) = script.output() else { return };
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(text.contains(expected) && !text.contains('\x1b'), "{text:?}");
            assert_eq!(output.status.success(), expected.is_empty());
        }
    }
    assert_eq!(fs::read(&output).unwrap(), b"\x1b[31m");
}

/// A file is named where its content is meant, or the arguments are in another order.
#[test]
fn a_type_that_is_the_name_of_a_file() {
    let folder = Folder::new();
    let ty = folder.file("record.dtype", b"struct{a: u8}");
    let message = failed(dtype().arg("info").arg(&ty));
    let help = format!("a file has this name; `@{}` reads the type from it", ty.display());
    assert!(message.contains(&help), "{message}");
    assert!(!failed(dtype().args(["info", "missing.dtype"])).contains("a file has this name"));
    let wrong = format!("@{}", folder.file("wrong", b"u7").display());
    assert!(failed(dtype().args(["info", &wrong])).contains("did you mean `u8`?"));
}

#[test]
fn gaps_are_zero_and_the_last_padding_is_there() {
    let folder = Folder::new();
    let (packed, back) = (folder.file("packed", b"12345"), folder.path("back"));
    done(dtype().args(["unpack", "resized(u8, 0, 3)"]).args([&packed, &back]));
    assert_eq!(fs::read(&back).unwrap(), b"1\x00\x002\x00\x003\x00\x004\x00\x005\x00\x00");
}

#[test]
fn a_file_can_be_packed_onto_itself() {
    let folder = Folder::new();
    let path = folder.file("both", &noise(1600));
    done(dtype().args(["pack", "struct{f64, u32, u8}"]).args([&path, &path]));
    assert_eq!(fs::read(&path).unwrap().len(), 1300);
}

#[cfg(unix)]
#[test]
fn permissions_and_links_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new();
    let (input, target, link) =
        (folder.file("in", b"abcd"), folder.file("target", b""), folder.path("link"));
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&target, &link).unwrap();
    done(dtype().args(["pack", "u8"]).args([&input, &link]));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&target).unwrap(), b"abcd");
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    // The target of a link is made if it does not exist.
    let (next, last) = (folder.path("next"), folder.path("last"));
    symlink("last", &next).unwrap();
    fs::remove_file(&link).unwrap();
    symlink("next", &link).unwrap();
    done(dtype().args(["pack", "u8"]).args([&input, &link]));
    assert!([&link, &next].iter().all(|path| fs::symlink_metadata(path).unwrap().is_symlink()));
    assert_eq!(fs::read(&last).unwrap(), b"abcd");
    fs::remove_file(&link).unwrap();
    symlink("link", &link).unwrap();
    assert!(failed(dtype().args(["pack", "u8"]).args([&input, &link])).contains("cannot write"));
    // What is no file is written to and not replaced.
    done(dtype().args(["pack", "u8"]).args([&input, Path::new("/dev/null")]));
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn a_failure_leaves_what_was_there() {
    let folder = Folder::new();
    let long = i64::from(i32::MAX) + 1;
    let numbers: Vec<u8> = [1, 2, long].iter().flat_map(|n| n.to_ne_bytes()).collect();
    let (input, out) = (folder.file("in", &numbers), folder.file("out", b"before"));
    let both = [&input, &out];
    for (arguments, message) in [
        (
            &["pack", "MPI_LONG", "--representation=external32"][..],
            "packed byte 8: the integer 2147483648",
        ),
        (
            &["pack", "f64", "--count=4"],
            "the layout touches bytes 0 to 32, outside the memory of 24 bytes",
        ),
        (&["pack", "struct{u8@-4, u8}"], "`--origin 4` makes room"),
        (&["pack", "[f64; 4]"], "bytes 0 to 32, outside the memory of 24 bytes"),
        (
            &["pack", "[u8; 0x7fffffffffffffff]", "--count=3"],
            "bytes 0 to 27670116110564327421, outside",
        ),
        (&["unpack", "[f64; 2]"], "24 bytes is not a multiple of the packed record size (16)"),
        (&["unpack", "f64", "--count=2"], "found 24 packed bytes, expected 16"),
        (&["unpack", "struct{f64@0, f64@4, f64@8}"], "instances overlap in memory"),
        (&["unpack", "resized(f64, 0, 4)"], "instances overlap in memory"),
        (&["pack", "f46"], "did you mean `f64`"),
    ] {
        let message_found = failed(dtype().args(arguments).args(both));
        assert!(message_found.contains(message), "{arguments:?}: {message_found}");
        assert_eq!(fs::read(&out).unwrap(), b"before");
        assert_eq!(folder.names(), ["in", "out"], "{arguments:?}");
    }
    let nowhere = folder.path("none/out");
    let message = failed(dtype().args(["pack", "u8"]).args([&input, &nowhere]));
    assert!(message.contains("cannot write") && !message.contains(".dtype-"), "{message}");
    let none = folder.path("none");
    assert!(failed(dtype().args(["pack", "u8"]).args([&none, &out])).contains("cannot read"));
    assert_eq!(folder.names(), ["in", "out"]);
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = Folder::new();
    let input = folder.file("in", &noise(4 << 20));
    let many = "struct{".to_owned() + &"u8, ".repeat(4000) + "}";
    let arguments: [&[&str]; 6] = [
        &["show", &many, "--as=json"],
        &["show", &many, "--as=svg"],
        &["show", &many, "--as=rust"],
        &["pack", "u8", input.to_str().unwrap(), "-"],
        &["completions", "bash"],
        &["notation"],
    ];
    for arguments in arguments {
        let mut child = dtype()
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut message = String::new();
        child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
        assert_eq!(
            (child.wait().unwrap().code(), message.as_str()),
            (Some(0), ""),
            "{arguments:?}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let folder = Folder::new();
    let input = folder.file("in", b"abcd");
    let input = input.to_str().unwrap();
    let commands: [&[&str]; 14] = [
        &["info", "u8"],
        &["show", "u8"],
        &["compare", "u8", "u16"],
        &["notation"],
        &["man"],
        &["completions", "bash"],
        &["--help"],
        &["show", "-h"],
        &["--version"],
        &["help"],
        &["help", "pack"],
        &["dump", "u8", input],
        &["pack", "u8", input, "-"],
        &["unpack", "u8", input, "-"],
    ];
    for arguments in commands {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let child = dtype().args(arguments).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains("cannot write to standard output"), "{arguments:?}: {message}");
    }
    let full = failed(dtype().args(["pack", "u8", input, "/dev/full"]));
    assert!(full.contains("cannot write /dev/full"), "{full}");
}

/// Starts to unpack a pipe into the file `out`, and returns once a temporary file is there.
#[cfg(unix)]
fn unpacking(command: &mut std::process::Command, folder: &Folder) -> std::process::Child {
    let mut child = command.current_dir(folder.path("")).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(&noise(1 << 20)).unwrap();
    while !folder.names().iter().any(|name| name.starts_with(".dtype-")) {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    child
}

#[cfg(unix)]
fn kill(child: &std::process::Child, signal: &str) {
    let id = child.id().to_string();
    assert!(
        std::process::Command::new("kill").args(["-s", signal, &id]).status().unwrap().success()
    );
}

/// Waits for the end of a program whose input stays open, so that nothing but a signal ends it.
#[cfg(unix)]
fn end(child: &mut std::process::Child) -> std::process::ExitStatus {
    let _input = child.stdin.take();
    child.wait().unwrap()
}

/// Whether the tests, and so the programs that they start, ignore a signal, as under `nohup`.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() >> (signal - 1) & 1 == 1)
}

/// What a signal ends leaves nothing behind, and its status is that of the signal.
#[cfg(unix)]
#[test]
fn a_signal_leaves_what_was_there() {
    use std::os::unix::process::ExitStatusExt;
    for (name, number) in [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("ABRT", 6),
        ("USR1", 10),
        ("ALRM", 14),
        ("TERM", 15),
        ("XCPU", 24),
        ("SYS", 31),
    ] {
        if is_ignored(number) {
            continue;
        }
        let folder = Folder::new();
        let out = folder.file("out", b"before");
        let mut child = unpacking(dtype().args(["unpack", "u8", "-", "out"]), &folder);
        kill(&child, name);
        assert_eq!(end(&mut child).signal(), Some(number), "{name}");
        assert_eq!(
            (folder.names(), fs::read(&out).unwrap()),
            (vec!["out".into()], b"before".into())
        );
    }
    if cfg!(target_os = "linux") {
        for number in [16, 29, 30, 34, 64] {
            let folder = Folder::new();
            let mut child = unpacking(dtype().args(["unpack", "u8", "-", "out"]), &folder);
            kill(&child, &number.to_string());
            assert_eq!(end(&mut child).code(), Some(128 + number), "{number}");
            assert!(folder.names().is_empty(), "{number}");
        }
    }
}

/// As under `nohup`.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_is_ignored_ends_nothing() {
    let folder = Folder::new();
    let script = format!("trap '' HUP INT; exec '{}' unpack u8 - out", env!("CARGO_BIN_EXE_dtype"));
    let mut child = unpacking(std::process::Command::new("sh").args(["-c", &script]), &folder);
    kill(&child, "HUP");
    kill(&child, "INT");
    assert!(child.try_wait().unwrap().is_none());
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(folder.names(), ["out"]);
    assert_eq!(fs::read(folder.path("out")).unwrap(), noise(1 << 20));
}

/// `strace` shows that the bytes, and then the name, are on the disk before the command ends.
#[cfg(target_os = "linux")]
#[test]
fn what_is_renamed_is_durable() {
    let folder = Folder::new();
    let input = folder.file("in", b"abcd");
    let mut strace = std::process::Command::new("strace");
    let calls = "trace=/^(fsync|fdatasync|rename|renameat|renameat2|openat)$";
    let strace = strace.args(["-f", "-y", "-e", calls, env!("CARGO_BIN_EXE_dtype"), "pack", "u8"]);
    let Ok(output) = strace.arg(&input).arg(folder.path("out")).output() else { return };
    let calls = String::from_utf8(output.stderr).unwrap();
    let at = |call: &str| calls.find(call).unwrap_or_else(|| panic!("{call}: {calls}"));
    let place = folder.path("").display().to_string();
    let (bytes, name) = (at("fsync("), at("rename"));
    assert!(bytes < name && calls[bytes..name].contains(&format!("<{place}.dtype-")), "{calls}");
    let after = &calls[name..];
    let folder = format!("<{}>)", place.trim_end_matches('/'));
    assert!(after.find("fsync(").is_some_and(|at| after[at..].contains(&folder)), "{calls}");
}

/// One by one, they would take hours.
#[test]
fn a_type_of_a_billion_elements_is_shown_at_once() {
    for form in [
        "diagram",
        "svg",
        "description",
        "optimized",
        "plan",
        "c",
        "rust",
        "tree",
        "notation",
        "json",
    ] {
        let ty = "vector(1_000_000, 1000, 2000, struct{f64, u8})";
        assert!(!done(dtype().args(["show", ty, "--as", form])).is_empty());
    }
}

proptest! {
    #![proptest_config(model::config(30))]

    #[test]
    fn random_types(tree in model::trees(), count in 0..4_usize, before in 0..9_usize, big in any::<bool>()) {
        let Ok(ty) = tree.build() else { return Ok(()) };
        let committed = ty.commit();
        let reach = ty.extent() * (count as i64 - 1).max(0);
        let origin = before + usize::try_from(-(ty.true_lb() + reach.min(0)).min(0)).unwrap();
        let end = origin as i64 + ty.true_ub().max(ty.ub()) + reach.max(0);
        let text = print(&ty);
        let mut memory = noise(usize::try_from(end.max(0)).unwrap() + 3);
        // The command refuses bytes that are no values.
        if text.contains("bool") || text.contains("char") {
            memory.fill(0);
        }
        let conversion = committed
            .conversion(if big { Representation::BigEndian } else { Representation::Native })
            .unwrap();
        let mut expected = vec![0; conversion.packed_size(count).unwrap()];
        conversion.pack(Buffer::new(&memory).origin(origin as i64), count, &mut expected).unwrap();

        let folder = Folder::new();
        let (input, packed) = (folder.file("memory", &memory), folder.path("packed"));
        let (over, back) = (folder.file("over", &vec![7; memory.len()]), folder.path("back"));
        let arguments = [
            format!("--count={count}"),
            format!("--origin={origin}"),
            format!("--representation={}", if big { "big" } else { "native" }),
        ];
        done(dtype().args(["pack", &text]).args([&input, &packed]).args(&arguments));
        prop_assert_eq!(fs::read(&packed).unwrap(), &expected[..], "{}", text);

        let mut whole = vec![7; memory.len()];
        let mut unpack = dtype();
        unpack.args(["unpack", &text]).args([&packed, &back]).args(&arguments).arg("--over").arg(&over);
        match conversion.unpack(&expected, BufferMut::new(&mut whole).origin(origin as i64), count) {
            Ok(_) => {
                done(&mut unpack);
                prop_assert_eq!(fs::read(&back).unwrap(), whole, "{}", text);
            }
            Err(error @ Error::Overlap { .. }) => {
                prop_assert!(failed(&mut unpack).contains(&error.to_string()), "{}", text);
                prop_assert!(!back.exists());
            }
            Err(error) => prop_assert!(false, "{error} of {text}"),
        }
    }
}

/// A header in Latin-1, whose comments may have any byte.
#[test]
fn text_that_is_not_utf_8() {
    let folder = Folder::new();
    let header = folder.file("p.h", b"/* M\xfcller */\nstruct P { char c; int x; };\n");
    let at = |path: &Path| format!("@{}", path.display());
    let shown = done(dtype().args(["show", &at(&header), "--as", "notation"]));
    assert!(String::from_utf8(shown).unwrap().contains("int"));
    let name = folder.file("q.h", b"struct P { int \xfc; };\n");
    assert!(failed(dtype().arg("show").arg(at(&name))).contains("expected the name of a field"));
    for (name, bytes) in
        [("p.rs", &b"// M\xfcller\nstruct P;"[..]), ("r.h", b"s\0t\0r\0u\0c\0t\0\xff")]
    {
        let path = folder.file(name, bytes);
        assert!(failed(dtype().arg("show").arg(at(&path))).contains("is not UTF-8 text"));
    }
}

#[test]
fn memory_is_not_packed_again_for_hours() {
    let folder = Folder::new();
    let (file, out) = (folder.file("in", b"abcd"), folder.path("out"));
    for ty in ["hvector(1000000000000, 1, 0, u8)", "[hvector(1000000000000, 1, 0, u8); 4]"] {
        let text = failed(dtype().args(["pack", ty]).arg(&file).arg(&out));
        assert!(text.contains("packed bytes; beyond 1073741824, each byte"), "{text}");
    }
    let many = ["--count", "1000000000000"];
    failed(dtype().args(["pack", "resized(u8, 0, 0)"]).arg(&file).arg(&out).args(many));
    let from_pipe = fed(dtype().args(["pack", "hvector(1000000000000, 1, 0, u8)", "-", "-"]), b"a");
    assert_eq!(from_pipe.status.code(), Some(2));
    // A few repetitions are what a type is for.
    done(dtype().args(["pack", "hvector(1000, 1, 0, u8)"]).arg(&file).arg(&out));
    assert_eq!(std::fs::metadata(out).unwrap().len(), 4000);
}
