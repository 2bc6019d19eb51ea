//! Landing points of a drive, along the tape.

use super::moves::Move;
use crate::fitted::Structure;

/// Landing points of both directions, 0 at the beginning of tape and 1 at its end.
#[derive(Clone, Debug)]
pub(super) struct Points {
    pub structure: Structure,
    /// Those between the beginnings of wraps, as the structure has them: in one list or two.
    pub free: Vec<Vec<f64>>,
    /// Ascending, with the beginning of forward wraps; empty where the drive lands anywhere.
    pub forward: Vec<f64>,
    /// Ascending, with the beginning of reverse wraps.
    pub reverse: Vec<f64>,
    /// How far, either way, one may lie elsewhere.
    pub spread: f64,
    /// Numbers that were chosen.
    pub parameters: usize,
}

impl Points {
    /// The drive lands anywhere.
    pub fn anywhere() -> Points {
        Points {
            structure: Structure::Anywhere,
            free: Vec::new(),
            forward: Vec::new(),
            reverse: Vec::new(),
            spread: 0.0,
            parameters: 0,
        }
    }

    /// From lists in the coordinate of the structure: along the tape for shared places, in reading
    /// order for the others.
    pub fn new(structure: Structure, free: Vec<Vec<f64>>) -> Points {
        let mirrored = |list: &[f64]| list.iter().map(|place| 1.0 - place).collect::<Vec<f64>>();
        let (mut forward, mut reverse) = match (structure, free.as_slice()) {
            (Structure::SharedPlaces, [places]) => (places.clone(), places.clone()),
            (_, [order]) => (order.clone(), mirrored(order)),
            (_, [forward, reverse]) => (forward.clone(), mirrored(reverse)),
            _ => return Points::anywhere(),
        };
        forward.push(0.0);
        reverse.push(1.0);
        for list in [&mut forward, &mut reverse] {
            list.retain(|place| (0.0..=1.0).contains(place));
            list.sort_by(f64::total_cmp);
            list.dedup();
        }
        Points {
            spread: 0.0,
            parameters: free.iter().map(Vec::len).sum(),
            structure,
            free,
            forward,
            reverse,
        }
    }

    /// The landing point for a move, and whether it is the beginning of the wrap.
    pub fn serving(&self, each: &Move) -> (f64, bool) {
        if each.forward {
            let reached = self.forward.partition_point(|&place| place <= each.to);
            let last = self.forward.get(reached.max(1) - 1).copied();
            last.map_or((each.to, false), |place| (place, place == 0.0))
        } else {
            let reached = self.reverse.partition_point(|&place| place < each.to);
            let at = reached.min(self.reverse.len().max(1) - 1);
            let next = self.reverse.get(at).copied();
            next.map_or((each.to, false), |place| (place, place == 1.0))
        }
    }

    /// How many there are of each direction, besides the beginnings of wraps.
    pub fn counts(&self) -> [usize; 2] {
        [&self.forward, &self.reverse].map(|list| list.len().saturating_sub(1))
    }
}
