fn main() {
    let seeds: Vec<u64> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let (from, to, count) = (seeds[0], seeds[1], seeds[2]);
    let mut all = tapewise_world::Counts::default();
    let began = std::time::Instant::now();
    for seed in from..to {
        let events: Vec<_> = (0..count).map(|number| tapewise_world::Event::draw(seed, number)).collect();
        let (counts, result) = tapewise_world::live(seed, &events);
        all.add(&counts);
        if let Err(broken) = result {
            println!("seed {seed}: event {}: {}", broken.at, broken.why);
            if std::env::var_os("SHRINK").is_some() {
                let (events, broken) = tapewise_world::shrink(seed, &events, broken);
                for event in events { println!("    {event:?}"); }
                println!("    {}: {}", broken.at, broken.why);
            }
        }
    }
    println!("{all:#?} {:?}", began.elapsed());
}
