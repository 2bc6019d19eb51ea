//! Whose turn it is at a volume of which several owners want something.

use super::busy::ReadFor;
use super::owners::Division;
use tapewise_sim::mounts::{Owner, OwnerId, Shares, Standing};

/// What stands before a recall of a volume; the least goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    /// Those of one group are read together. Of owners who stand alike those for whom the drive has just read the volume
    /// come after the others: who asks for very much does not keep a volume that others wait for.
    pub group: (Standing, bool),
    /// The last round of the drive for this owner; zero if there was none.
    last_round: u32,
}

/// Whose turn it is.
pub(super) struct Turns<'a> {
    division: &'a Division<'a>,
    shares: &'a Shares,
    /// By the number of the owner: at volumes that the drive would have to fetch, and at the one that is in it.
    elsewhere: Vec<Turn>,
    here: Vec<Turn>,
}

impl<'a> Turns<'a> {
    /// Among owners with these shares; `read_for` is of the drive that is free.
    pub fn of(
        division: &'a Division<'a>,
        shares: &'a Shares,
        read_for: Option<&ReadFor>,
    ) -> Turns<'a> {
        let nobody = ReadFor::default();
        let read_for = read_for.unwrap_or(&nobody);
        let turns_at = |read_for: &ReadFor| -> Vec<Turn> {
            let owners = (0..).map(OwnerId).zip(&division.owners);
            owners
                .map(|(id, owner)| Turn {
                    group: (shares.standing(id), read_for.is_last(owner)),
                    last_round: read_for.last_round(owner),
                })
                .collect()
        };
        Turns {
            division,
            shares,
            elsewhere: turns_at(&nobody),
            here: turns_at(read_for),
        }
    }

    fn at(&self, is_here: bool) -> &[Turn] {
        if is_here { &self.here } else { &self.elsewhere }
    }

    /// Of each owner who wants something of a volume, in order.
    pub fn of_volume(&self, place: usize, is_here: bool) -> impl Iterator<Item = Turn> {
        let (turns, owners) = (self.at(is_here), &self.division.of_volumes[place]);
        owners.iter().map(|&OwnerId(owner)| turns[owner as usize])
    }

    /// Of what an owner wants.
    pub fn of_owner(&self, owner: &Owner, is_here: bool) -> Turn {
        let OwnerId(owner) = self.division.id(owner);
        self.at(is_here)[owner as usize]
    }

    /// The group that is read first of a volume, and whoever of it goes first by shares.
    pub fn first(&self, place: usize, is_here: bool) -> Option<((Standing, bool), OwnerId)> {
        let groups = || self.of_volume(place, is_here).map(|turn| turn.group);
        let group = groups().min()?;
        let owners = self.division.of_volumes[place].iter().zip(groups());
        let foremost = owners.filter_map(|(owner, of)| (of == group).then_some(*owner));
        Some((group, self.shares.neediest(foremost)?))
    }
}
