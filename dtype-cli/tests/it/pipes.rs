//! Standard input and output: the same results as with files, in memory that does not grow with their length.

use std::fs;
use std::process::Output;

use crate::command::{Folder, done, dtype, failed, fed, noise};

/// Packs and unpacks through pipes and through files, which must give the same.
fn as_with_files(ty: &str, len: usize, arguments: &[&str], over: bool) {
    let folder = Folder::new();
    let memory = noise(len);
    let input = folder.file("memory", &memory);
    let (packed, back) = (folder.path("packed"), folder.path("back"));
    done(dtype().args(["pack", ty]).args([&input, &packed]).args(arguments));
    let expected = fs::read(&packed).unwrap();
    let piped = fed(dtype().args(["pack", ty, "-", "-"]).args(arguments), &memory);
    assert!(piped.status.success() && piped.stdout == expected, "{ty}");

    let over_file = folder.file("over", &vec![0xEE; len / 2 + 5]);
    let over = || if over { vec!["--over", over_file.to_str().unwrap()] } else { vec![] };
    done(dtype().args(["unpack", ty]).args([&packed, &back]).args(arguments).args(over()));
    let expected = fs::read(&back).unwrap();
    for output in ["-", "second"] {
        let second = folder.path("second");
        let output = if output == "-" { output } else { second.to_str().unwrap() };
        let packed = fs::read(&packed).unwrap();
        let unpack =
            fed(dtype().args(["unpack", ty, "-", output]).args(arguments).args(over()), &packed);
        let Output { status, stdout, stderr } = unpack;
        assert!(status.success(), "{ty}: {}", String::from_utf8_lossy(&stderr));
        let found = if output == "-" { stdout } else { fs::read(&second).unwrap() };
        assert!(found == expected, "{ty} to {output}");
    }
    // From a file to standard output.
    let found =
        done(dtype().args(["unpack", ty]).arg(&packed).arg("-").args(arguments).args(over()));
    assert!(found == expected, "{ty}");
}

#[test]
fn pipes_give_what_files_give() {
    // Several windows, with a piece of an instance at the end.
    as_with_files("struct{f64, u32, u8}", 16 * 600_000 + 7, &[], true);
    // Data that start after the origin and end after the extent.
    as_with_files("resized(struct{u8@4, u32@8}, 0, 8)", 8 * 1_100_000 + 6, &[], false);
    for over in [false, true] {
        // Without the padding at the end.
        as_with_files("struct{f64, u32, u8}", 16 * 100 - 3, &[], over);
        as_with_files("struct{f64, u32, u8}", 16 * 100, &["--count=7", "--origin=5"], over);
        as_with_files("resized(struct{u8@4, u32@8}, 0, 8)", 8 * 100 + 6, &[], over);
        as_with_files("resized([u8; 3], -1, 1_000_000)", 9_000_000, &["--origin=9"], over);
        as_with_files("struct{u8@-2, u16@2}", 6001, &["--origin=2"], over);
        // Interleaved, backward and empty instances.
        as_with_files("resized(vector(30, 1, 20, u16), 0, 2)", 1200, &["--count=20"], over);
        as_with_files("resized(u8, 0, -4)", 40, &["--origin=36", "--count=5"], over);
        as_with_files("struct{}", 40, &[], over);
        as_with_files("u8", 0, &["--count=0"], over);
        as_with_files("struct{f64, u8}", 0, &[], over);
    }
}

#[test]
fn mistakes_in_pipes() {
    for (arguments, len, message) in [
        (&["pack", "f64", "--count=1"][..], 0, "bytes 0 to 8, outside the memory of 0 bytes"),
        (&["pack", "f64"], 7, "bytes 0 to 8, outside the memory of 7 bytes"),
        (&["pack", "f64", "--count=4"], 24, "bytes 0 to 32, outside the memory of 24 bytes"),
        (&["pack", "f64", "--origin=4"], 0, "bytes 4 to 12, outside the memory of 0 bytes"),
        (&["pack", "struct{u8@-4, u8}"], 24, "the data start at byte -4, before the memory"),
        (&["unpack", "[f64; 2]"], 24, "24 bytes is not a multiple of the packed record size (16)"),
        (&["unpack", "f64", "--count=2"], 24, "found 17 packed bytes, expected 16"),
        (&["unpack", "f64", "--count=4"], 24, "found 24 packed bytes, expected 32"),
        (&["unpack", "struct{f64@0, f64@4, f64@8}"], 48, "instances overlap in memory"),
        (&["unpack", "struct{u8@-4, u8}"], 24, "`--origin 4` makes room"),
    ] {
        let folder = Folder::new();
        let out = folder.file("out", b"before");
        let output = fed(dtype().args(arguments).arg("-").arg(&out), &noise(len));
        let found = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(found.contains(message), "{arguments:?}: {found}");
        assert_eq!(
            (folder.names(), fs::read(&out).unwrap()),
            (vec!["out".into()], b"before".into())
        );
    }
    let output = fed(dtype().args(["pack", "f64", "-", "-"]), &noise(8 * 5 + 3));
    let note = String::from_utf8(output.stderr).unwrap();
    assert_eq!(note, "note: ignored 3 trailing bytes (less than one instance)\n");
    assert_eq!(output.stdout, noise(40));
    assert!(failed(dtype().args(["pack", "-", "-", "-"])).contains("found nothing"));
    let output = fed(dtype().args(["pack", "struct{}", "-", "-"]), &noise(8));
    let note = String::from_utf8(output.stderr).unwrap();
    assert_eq!(note, "note: ignored 8 bytes (the type has no data)\n");
    let output = fed(dtype().args(["show", "-"]), &vec![b' '; (4 << 20) + 1]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.starts_with("error: standard input is too long"), "{message}");
    let wraps = ["pack", "u8", "-", "-", "--origin", "9223372036854775808"];
    assert!(failed(dtype().args(wraps)).contains("is not in 0..=9223372036854775807"));
}

/// A shell hands a command such paths for `>(…)`.
#[cfg(target_os = "linux")]
#[test]
fn paths_of_pipes() {
    use std::process::Stdio;
    let folder = Folder::new();
    let input = folder.file("in", &noise(4 << 20));
    assert!(done(dtype().args(["pack", "u8"]).arg(&input).arg("/dev/stdout")) == noise(4 << 20));
    assert!(done(dtype().args(["unpack", "u8"]).arg(&input).arg("/dev/fd/1")) == noise(4 << 20));
    // A reader that goes ends it.
    let mut child = dtype()
        .args(["pack", "u8"])
        .arg(&input)
        .arg("/dev/stdout")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    assert_eq!((status.code(), &*stderr), (Some(0), &b""[..]));
}

/// Feeds up to 200 MB, and reads how much memory the command has used before its input ends.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_input() {
    use std::io::{Read, Write};
    use std::process::Stdio;

    let commands: [&[&str]; 7] = [
        &["pack", "struct{f64, u32, u8}", "-", "-"],
        &["unpack", "struct{f64, u32, u8}", "-", "-"],
        &["pack", "struct{f64, u32, u8}", "-", "-", "--representation=big"],
        &["dump", "[u64; 65536]", "-", "--records", "300.."],
        &["dump", "[u64; 65536]", "-", "--packed", "--as", "json", "--records", "300.."],
        &["frame", "-"],
        &["frame", "-", "[u64; 65536]", "--as", "json"],
    ];
    for arguments in commands {
        let pipes = (Stdio::piped(), Stdio::piped());
        let mut child = dtype().args(arguments).stdin(pipes.0).stdout(pipes.1).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let reader = std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 20];
            while stdout.read(&mut buffer).unwrap() > 0 {}
        });
        let mut stdin = child.stdin.take().unwrap();
        let piece = noise(1 << 20);
        if arguments[0] == "frame" {
            // A frame of 2³⁰ bytes.
            let header =
                dtype_message::Header::of::<[u64; 65536]>(2048, dtype_message::Framing::new());
            stdin.write_all(&header.unwrap().to_bytes()).unwrap();
        }
        // As JSON, every byte becomes three.
        let pieces = if arguments.contains(&"json") { 70 } else { 200 };
        for _ in 0..pieces {
            stdin.write_all(&piece).unwrap();
        }
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        // Most of it is the window of 8 MiB, on both sides, and the command itself.
        assert!(peak < 64 << 10, "{arguments:?}: {peak} kB");
        drop(stdin);
        let _ = child.wait().unwrap();
        reader.join().unwrap();
    }
}
