//! Numbers of drives, cartridges, requests, libraries and robots, and lists that take no other.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A number of one kind, as a place in a list.
pub(super) trait Id: Copy {
    /// The place in the list.
    fn index(self) -> usize;
}

/// A library, by its place in the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HallId(pub u16);

/// A drive, over all libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DriveId(pub u32);

/// A cartridge, over all libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CartridgeId(pub u32);

/// A request, by its number in order of arrival; a scenario has a few million at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RequestId(pub u32);

/// A robot within its library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RobotId(pub u16);

impl Id for HallId {
    #[inline(always)]
    fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl Id for DriveId {
    #[inline(always)]
    fn index(self) -> usize {
        self.0 as usize
    }
}

impl Id for CartridgeId {
    #[inline(always)]
    fn index(self) -> usize {
        self.0 as usize
    }
}

impl Id for RequestId {
    #[inline(always)]
    fn index(self) -> usize {
        self.0 as usize
    }
}

impl Id for RobotId {
    #[inline(always)]
    fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A list whose places are numbers of one kind.
#[derive(Clone, Debug)]
pub(super) struct Table<I, T> {
    items: Vec<T>,
    of: PhantomData<I>,
}

impl<I, T> Table<I, T> {
    pub(super) fn new() -> Table<I, T> {
        Table::from(Vec::new())
    }

    pub(super) fn push(&mut self, item: T) {
        self.items.push(item);
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    pub(super) fn into_items(self) -> Vec<T> {
        self.items
    }

    /// The items, without their numbers.
    pub(super) fn items(&self) -> &[T] {
        &self.items
    }
}

impl<I, T> From<Vec<T>> for Table<I, T> {
    fn from(items: Vec<T>) -> Table<I, T> {
        Table {
            items,
            of: PhantomData,
        }
    }
}

impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for Table<I, T> {
    #[inline(always)]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}
