//! The header in the tree is the one that the crate's source gives. `TAPEWISE_WRITE_HEADER=1 cargo test -p
//! tapewise-capi --test header` writes it.

use std::path::Path;

#[test]
fn the_header_is_up_to_date() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(here.join("cbindgen.toml")).expect("a configuration");
    let sources = ["values", "fault", "calls"];
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in sources {
        builder = builder.with_src(here.join("src").join(source).with_extension("rs"));
    }
    let mut made = Vec::new();
    builder.generate().expect("a header").write(&mut made);
    let made = String::from_utf8(made).expect("text");
    let path = here.join("include/tapewise.h");
    if std::env::var_os("TAPEWISE_WRITE_HEADER").is_some() {
        std::fs::write(&path, &made).expect("written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == made,
        "{} is old: write it with TAPEWISE_WRITE_HEADER=1",
        path.display()
    );
}

#[test]
fn every_function_has_a_version() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let calls = std::fs::read_to_string(here.join("src/calls.rs")).expect("the calls");
    let map = std::fs::read_to_string(here.join("include/tapewise.map")).expect("the map");
    let functions: Vec<&str> = calls
        .split("extern \"C\" fn ")
        .skip(1)
        .filter_map(|rest| rest.split('(').next())
        .collect();
    assert_eq!(functions.len(), 15);
    for function in functions {
        assert!(
            map.contains(&format!("    {function};\n")),
            "tapewise.map lacks {function}"
        );
    }
}
