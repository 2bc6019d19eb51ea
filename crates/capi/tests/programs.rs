//! Programs in C and C++ against the library as it is installed: compiled with every warning an error, run, run under
//! AddressSanitizer and valgrind. Without a C compiler, or without one of these tools, the test says what it skips.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn run(command: &mut Command) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{out}{err}",
        output.status
    );
    output
}

/// Whether a tool is there; if not, says what is skipped.
fn has(tool: &str, what: &str) -> bool {
    let found = Command::new(tool)
        .arg("--version")
        .output()
        .is_ok_and(|got| got.status.success());
    if !found {
        eprintln!("SKIPPED: {what}: there is no {tool}");
    }
    found
}

/// The library, laid out by `link.sh` as a package would have it; `None` without a C compiler.
fn installed() -> Option<&'static PathBuf> {
    static INSTALLED: OnceLock<Option<PathBuf>> = OnceLock::new();
    let lay_out = || {
        if !has("cc", "everything in C") {
            return None;
        }
        // Beside this test lies what cargo built of the crate.
        let beside = std::env::current_exe()
            .expect("a path")
            .with_file_name("libtapewise_capi.a");
        let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("installed");
        run(Command::new(here().join("link.sh"))
            .arg(&beside)
            .arg(&prefix));
        Some(prefix)
    };
    INSTALLED.get_or_init(lay_out).as_ref()
}

/// What a program is compiled with, and how it is linked.
struct Build<'a> {
    compiler: &'a str,
    flags: &'a [&'a str],
    is_static: bool,
}

const C11: Build = Build {
    compiler: "cc",
    flags: &["-std=c11", "-D_DEFAULT_SOURCE"],
    is_static: false,
};
const CXX20: Build = Build {
    compiler: "c++",
    flags: &["-std=c++20"],
    is_static: false,
};

impl Build<'_> {
    /// Compiles a source file to a program of that name.
    fn program(&self, source: &str, name: &str) -> PathBuf {
        let prefix = installed().expect("checked before");
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let mut command = Command::new(self.compiler);
        command
            .args(["-Wall", "-Wextra", "-Werror", "-g", "-O1"])
            .args(self.flags);
        command
            .arg("-I")
            .arg(prefix.join("include"))
            .arg(here().join(source))
            .arg("-o")
            .arg(&program);
        if self.is_static {
            command.arg(prefix.join("lib/libtapewise.a")).args([
                "-lgcc_s",
                "-lpthread",
                "-lm",
                "-ldl",
            ]);
        } else {
            let lib = prefix.join("lib");
            command
                .arg("-L")
                .arg(&lib)
                .args(["-ltapewise", "-lpthread"]);
            command.arg(format!("-Wl,-rpath,{}", lib.display()));
        }
        run(&mut command);
        program
    }
}

fn says(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_header_is_c99_c11_and_cpp20() {
    if installed().is_none() {
        return;
    }
    let include = here().join("include");
    for (compiler, language, standard, header) in [
        ("cc", "c", "c99", "tapewise.h"),
        ("cc", "c", "c11", "tapewise.h"),
        ("c++", "c++", "c++20", "tapewise.h"),
        ("c++", "c++", "c++20", "tapewise.hpp"),
    ] {
        run(Command::new(compiler)
            .args([
                "-Wall",
                "-Wextra",
                "-Wpedantic",
                "-Werror",
                "-fsyntax-only",
                "-x",
                language,
            ])
            .arg(format!("-std={standard}"))
            .arg("-include")
            .arg(include.join(header))
            .arg("/dev/null"));
    }
}

#[test]
fn the_library_has_its_name_and_only_its_own_symbols() {
    let Some(prefix) = installed() else { return };
    if !has("readelf", "the name of the library and its symbols") {
        return;
    }
    let library = prefix.join("lib/libtapewise.so");
    let dynamic = says(&run(Command::new("readelf")
        .args(["-d", "-W"])
        .arg(&library)));
    assert!(
        dynamic.contains("Library soname: [libtapewise.so.0]"),
        "{dynamic}"
    );
    let symbols = says(&run(Command::new("readelf")
        .args(["--dyn-syms", "-W"])
        .arg(&library)));
    let defined = symbols
        .lines()
        .filter(|line| line.contains("GLOBAL") && !line.contains(" UND "));
    let names: Vec<&str> = defined
        .filter_map(|line| line.split_whitespace().last())
        .collect();
    let ours = names.iter().filter(|name| name.ends_with("@@TAPEWISE_0"));
    assert_eq!(ours.count(), 15, "{names:?}");
    let others = names.iter().filter(|name| !name.contains("TAPEWISE_0"));
    assert_eq!(others.count(), 0, "{names:?}");
}

#[test]
fn all_that_the_header_promises_holds() {
    if installed().is_none() {
        return;
    }
    let program = C11.program("tests/c/surface.c", "surface");
    assert_eq!(
        says(&run(&mut Command::new(program))),
        "surface: all holds\n"
    );
    let statically = Build {
        is_static: true,
        ..C11
    };
    let program = statically.program("tests/c/surface.c", "surface-static");
    assert_eq!(
        says(&run(&mut Command::new(program))),
        "surface: all holds\n"
    );
}

#[test]
fn a_fork_and_four_threads_find_the_same_order() {
    if installed().is_none() {
        return;
    }
    let program = C11.program("tests/c/threads.c", "threads");
    assert_eq!(
        says(&run(&mut Command::new(program))),
        "threads: all holds\n"
    );
}

#[test]
fn hostile_numbers_are_no_defect() {
    if installed().is_none() {
        return;
    }
    let program = C11.program("tests/c/hostile.c", "hostile");
    for seed in ["1", "2", "3"] {
        run(Command::new(&program).args(["300", seed]));
    }
}

#[test]
fn no_memory_is_lost_or_read_wrongly() {
    if installed().is_none() {
        return;
    }
    let address = Build {
        flags: &["-std=c11", "-fsanitize=address,undefined"],
        ..C11
    };
    let program = address.program("tests/c/surface.c", "surface-address");
    run(&mut Command::new(program));
    if has("valgrind", "leaks, by valgrind") {
        let program = C11.program("tests/c/hostile.c", "hostile-valgrind");
        // Optimised code may round a number that is not there and then not use it, which valgrind takes for an error.
        run(Command::new("valgrind")
            .args([
                "--quiet",
                "--undef-value-errors=no",
                "--leak-check=full",
                "--errors-for-leak-kinds=definite",
                "--error-exitcode=9",
            ])
            .arg(program)
            .args(["10", "5"]));
    }
}

#[test]
fn the_examples_run() {
    let Some(prefix) = installed() else { return };
    let first = C11.program("examples/order.c", "example-c");
    let out = says(&run(&mut Command::new(first)));
    assert_eq!(out.lines().count(), 9, "{out}");
    let second = CXX20.program("examples/order.cpp", "example-cpp");
    let out = says(&run(&mut Command::new(second)));
    assert_eq!(out.lines().count(), 2, "{out}");
    if !has("pkg-config", "compiling with what pkg-config says") {
        return;
    }
    let asked = run(Command::new("pkg-config")
        .args(["--cflags", "--libs", "tapewise"])
        .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")));
    let flags = says(&asked);
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("example-pkg-config");
    run(Command::new("cc")
        .arg(here().join("examples/order.c"))
        .arg("-o")
        .arg(&program)
        .args(flags.split_whitespace()));
    run(Command::new(program).env("LD_LIBRARY_PATH", prefix.join("lib")));
}

#[test]
fn cmake_finds_it() {
    let Some(prefix) = installed() else { return };
    if !has("cmake", "a build with CMake") {
        return;
    }
    let build = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cmake");
    run(Command::new("cmake")
        .arg("-S")
        .arg(here().join("examples"))
        .arg("-B")
        .arg(&build)
        .arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display())));
    run(Command::new("cmake").arg("--build").arg(&build));
    run(&mut Command::new(build.join("order")));
    run(&mut Command::new(build.join("order-cpp")));
}
