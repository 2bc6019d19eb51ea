//! What a site is like: its library, how often that fails, and the settings of its archive.

use tapewise_archive::placement::GroupBy;
use tapewise_archive::settings::ArchiveSettings;
use tapewise_emulator::Faults;
use tapewise_model::Random;

/// The stream of a seed.
const CONFIGURATION: u64 = 1;

/// What a site of this seed is like.
pub struct Configuration {
    /// Drives of its library.
    pub drives: u16,
    /// Cartridges in it.
    pub cartridges: u16,
    /// A byte of the host stands for so many on its tapes.
    pub scale: u64,
    /// How often its devices fail.
    pub faults: Faults,
    /// The settings of its archive.
    pub settings: ArchiveSettings,
}

impl Configuration {
    /// The site of a seed.
    pub fn of(seed: u64) -> Configuration {
        let mut random = Random::new(seed, CONFIGURATION);
        let mut one = |of: &[u64]| of[random.below(of.len() as u64) as usize];
        let block_bytes = one(&[8192, 8192, 16384]) as u32;
        let segment_bytes = one(&[32 << 10, 128 << 10, 1 << 20]).max(u64::from(block_bytes));
        // By the seed itself: a further lot would change the worlds of all seeds.
        let group_by = match seed % 4 {
            0 => GroupBy::ALL[(seed / 4) as usize % GroupBy::ALL.len()],
            _ => GroupBy::None,
        };
        // As above; 3 of 8 of the worlds whose groups grow.
        let open_volumes = match group_by {
            GroupBy::Directory | GroupBy::Dataset => {
                [1, 1, 3, 1, 2, 1, 4, 1][(seed / 20) as usize % 8]
            }
            _ => 1,
        };
        let settings = ArchiveSettings {
            drives: Vec::new(),
            changers: vec!["robot".to_owned()],
            profile: "lto8".to_owned(),
            copies: one(&[1, 2, 2]) as u32,
            cache_high_bytes: one(&[120_000, 400_000]),
            cache_low_bytes: 60_000,
            block_bytes,
            segment_bytes,
            part_bytes: one(&[20_000, 1 << 30, 1 << 30]).max(u64::from(block_bytes)),
            group_by,
            open_volumes,
            volume_bytes: Some(one(&[200_000, 800_000, 1 << 40])),
            zstd_level: Some(one(&[0, 0, 1]) as i32).filter(|level| *level > 0),
            batch_window_s: None,
            catalogue: None,
            mounts: Default::default(),
            policy_file: None,
            tiers: Vec::new(),
        };
        let drives = one(&[1, 2, 2, 3]) as u16;
        // Cartridges of 12 and of 4 megabytes: of less a wrap would hold no block.
        let scale = one(&[1_000_000, 1_000_000, 3_000_000]);
        // Rare, and in some worlds only.
        let weather = |rate: f64, is: u64| if is == 0 { rate } else { 0.0 };
        let faults = Faults {
            seed,
            bad_write: weather(0.002, one(&[0, 1, 2, 3])),
            reset: weather(0.0005, one(&[0, 1, 2, 3])),
            not_ready: weather(0.001, one(&[0, 1, 2, 3])),
            not_ready_s: 20.0,
            power_loss: weather(0.001, one(&[0, 1, 2, 3])),
            robot_error: weather(0.01, one(&[0, 1, 2, 3])),
            attention: weather(0.001, one(&[0, 1, 2, 3])),
            ..Faults::none()
        };
        Configuration {
            drives,
            cartridges: 6 + one(&[0, 4]) as u16,
            scale,
            faults,
            settings: ArchiveSettings {
                drives: (0..drives).map(|number| format!("drive{number}")).collect(),
                ..settings
            },
        }
    }
}
