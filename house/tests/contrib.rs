//! The adapters in `contrib/`, compiled with every warning an error and run.

use std::path::{Path, PathBuf};
use std::process::Command;
use tapewise_house::root;

// The adapters are linked with its static library, which lies beside this test.
use tapewise_capi as _;

fn run(command: &mut Command) -> String {
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
    out
}

fn has(tool: &str) -> bool {
    let found = Command::new(tool)
        .arg("--version")
        .output()
        .is_ok_and(|got| got.status.success());
    if !found {
        eprintln!("SKIPPED: there is no {tool}");
    }
    found
}

fn static_library() -> PathBuf {
    std::env::current_exe()
        .expect("a path")
        .with_file_name("libtapewise_capi.a")
}

#[test]
fn the_adapter_for_cta_orders_and_fails_as_its_host_expects() {
    if !has("c++") {
        return;
    }
    let cta = root().join("contrib/cta");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cta-adapter");
    run(Command::new("c++")
        .args(["-std=c++20", "-Wall", "-Wextra", "-Werror", "-O1", "-I"])
        .arg(root().join("crates/capi/include"))
        .arg("-I")
        .arg(cta.join("tests/standins"))
        .arg("-I")
        .arg(cta.join("tests/standins-rao"))
        .arg("-I")
        .arg(&cta)
        .arg(cta.join("tests/adapter_test.cpp"))
        .arg(cta.join("TapewiseRAOAlgorithm.cpp"))
        .arg(static_library())
        .args(["-lgcc_s", "-lpthread", "-lm", "-ldl", "-o"])
        .arg(&program));
    assert_eq!(run(&mut Command::new(program)), "adapter: all holds\n");
}

#[test]
fn cta_itself_orders_with_the_adapter() {
    let Some(sources) = std::env::var_os("CTA_SOURCES") else {
        eprintln!("SKIPPED: CTA_SOURCES names no sources of CTA (`make cta CTA=DIRECTORY`)");
        return;
    };
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("in-cta");
    let table = run(Command::new(root().join("contrib/cta/tests/in-cta.sh"))
        .arg(sources)
        .arg(static_library())
        .arg(work));
    println!("{table}");
}
