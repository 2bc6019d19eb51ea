//! Who of many has the most, while what each has changes: a tree of duels.

use std::cmp::Ordering;
use tapewise_model::Micros;

/// What a player has who takes no part, or no longer.
pub(crate) const OUT: Micros = Micros(i64::MIN);

/// What each player has, and who has the most; of equals the lower number. A change costs as many
/// duels as the tree is high, and nothing is allocated.
pub(crate) struct Tournament {
    stakes: Vec<Micros>,
    /// Winner of each duel: the root at 1, the children of `i` at `2 i` and `2 i + 1`, and the
    /// players themselves behind the duels.
    winners: Vec<u32>,
}

impl Tournament {
    /// That many players, all out.
    pub(crate) fn new(players: usize) -> Tournament {
        let mut winners = vec![0; 2 * players];
        for (player, slot) in winners[players..].iter_mut().enumerate() {
            *slot = player as u32;
        }
        Tournament {
            stakes: vec![OUT; players],
            winners,
        }
    }

    /// Says what a player has, before [`Tournament::play`].
    pub(crate) fn enter(&mut self, player: usize, stake: Micros) {
        self.stakes[player] = stake;
    }

    /// Plays all duels.
    pub(crate) fn play(&mut self) {
        for node in (1..self.stakes.len()).rev() {
            self.winners[node] = self.duel(node);
        }
    }

    /// Says what a player has now, and plays the duels that it can change.
    pub(crate) fn set(&mut self, player: usize, stake: Micros) {
        self.stakes[player] = stake;
        let mut node = (player + self.stakes.len()) / 2;
        while node > 0 {
            let winner = self.duel(node);
            let before = std::mem::replace(&mut self.winners[node], winner);
            if winner == before && winner != player as u32 {
                return;
            }
            node /= 2;
        }
    }

    /// The player who has the most, unless all are out.
    pub(crate) fn winner(&self) -> Option<u32> {
        let winner = *self.winners.get(1)?;
        (self.stakes[winner as usize] != OUT).then_some(winner)
    }

    fn duel(&self, node: usize) -> u32 {
        let (one, other) = (self.winners[2 * node], self.winners[2 * node + 1]);
        match self.stakes[one as usize].cmp(&self.stakes[other as usize]) {
            Ordering::Greater => one,
            Ordering::Less => other,
            Ordering::Equal => one.min(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewise_model::Random;

    /// Against a look at all players, for every number of them up to 40 and ties in plenty.
    #[test]
    fn winner_is_the_first_of_those_who_have_the_most() {
        for players in 1..=40 {
            let mut random = Random::new(players as u64, 0);
            let mut stakes = vec![OUT; players];
            let mut tournament = Tournament::new(players);
            for (player, stake) in stakes.iter_mut().enumerate().step_by(2) {
                *stake = Micros(random.below(5) as i64);
                tournament.enter(player, *stake);
            }
            tournament.play();
            for _ in 0..200 {
                let most = stakes.iter().max().filter(|&&most| most != OUT);
                let first = most.and_then(|most| stakes.iter().position(|stake| stake == most));
                assert_eq!(tournament.winner(), first.map(|first| first as u32));
                let player = random.below(players as u64) as usize;
                stakes[player] = match random.below(6) {
                    5 => OUT,
                    stake => Micros(stake as i64),
                };
                tournament.set(player, stakes[player]);
            }
        }
    }
}
