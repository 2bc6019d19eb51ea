//! Pricing: which arcs undercut given prices, without looking at all of them.
//!
//! Each column (a place to go to) has a price. A row (a place to come from) asks for the arc whose
//! cost less the price of its column is least. The model tells of classes within which the cost is
//! made of straight pieces (see [`tapewise_model::locate::Rays`]); streaming is one more, with the
//! clock at which it would pass a place instead of the way along the tape. One sweep over the
//! members of each class leaves the least value up to each member, and from there on; then every
//! row needs one look-up for each piece. That is O(classes) for a row and O(n) for the sweeps,
//! where all pairs are O(n²). A model that is not made of straight pieces leaves nothing but all pairs.

use crate::problem::Problem;
use crate::solve::offers::Offers;
use tapewise_model::Pace;
use tapewise_model::locate::{Asked, Look, Slopes};

/// Arcs of a row that are offered where all of them were asked.
const OFFERED: usize = 8;

/// A group that nobody belongs to.
const NO_GROUP: u32 = u32::MAX;

/// A visit as a member of a class.
#[derive(Clone, Copy, Debug)]
struct Member {
    class: u32,
    along: i32,
    column: u32,
    group: u32,
    grouped: bool,
    weight: i64,
}

/// A piece of a class as a row sees it.
#[derive(Clone, Copy, Debug)]
struct Ray {
    /// Which entry of the table answers.
    at: u32,
    /// The group passed over.
    except: u32,
    /// What comes on top of the answer, in fine time.
    base: i64,
}

/// The least value among some members of a class, and the least outside that member's group; in
/// fine time, less the base.
#[derive(Clone, Copy, Debug)]
struct Least {
    value: i64,
    other: i64,
    column: u32,
    group: u32,
    other_column: u32,
}

impl Least {
    const NOBODY: Least = Least {
        value: i64::MAX,
        other: i64::MAX,
        column: 0,
        group: NO_GROUP,
        other_column: 0,
    };

    #[inline(always)]
    fn meet(&mut self, value: i64, member: &Member) {
        if value <= self.value {
            if member.group != self.group {
                (self.other, self.other_column) = (self.value, self.column);
            }
            (self.value, self.column, self.group) = (value, member.column, member.group);
        } else if value < self.other && member.group != self.group {
            (self.other, self.other_column) = (value, member.column);
        }
    }
}

/// A class: a run of members, and where its tables begin.
#[derive(Clone, Copy, Debug)]
struct Class {
    members: (u32, u32),
    slopes: Slopes,
    below: u32,
    above: u32,
    grouped: bool,
}

/// The members of all classes, the pieces every row looks at, and the tables of least values.
#[derive(Debug)]
pub(crate) struct Pricing<'a> {
    problem: &'a Problem,
    members: Vec<Member>,
    classes: Vec<Class>,
    /// The classes of streaming begin here.
    streams: usize,
    table: Vec<Least>,
    rays: Vec<Ray>,
    /// By row: where its pieces begin.
    row_rays: Vec<u32>,
    /// By row: the members that are asked one by one.
    asked: Vec<(u32, u32)>,
    /// By visit: the visits whose first block comes right behind it.
    contiguous: Vec<(u32, u32)>,
}

impl<'a> Pricing<'a> {
    /// Sorts the visits of a batch into classes. Prices are set by [`Pricing::set_prices`].
    pub(crate) fn new(problem: &'a Problem) -> Pricing<'a> {
        let mut pricing = Pricing {
            problem,
            members: Vec::new(),
            classes: Vec::new(),
            streams: 0,
            table: Vec::new(),
            rays: Vec::new(),
            row_rays: vec![0],
            asked: Vec::new(),
            contiguous: Vec::new(),
        };
        pricing.sort_into_classes();
        pricing.find_contiguous();
        for row in 0..=problem.len() {
            pricing.cast_rays(row);
            pricing.row_rays.push(pricing.rays.len() as u32);
            pricing.asked.push(pricing.asked_of(row));
        }
        pricing
    }

    fn sort_into_classes(&mut self) {
        let problem = self.problem;
        let rays = problem.tape().model.rays();
        for (column, start) in problem.starts().iter().enumerate() {
            let arrival = problem.arrival_cost(column);
            rays.destinations(start, |place| {
                self.members.push(Member {
                    class: place.class as u32,
                    along: place.along,
                    column: column as u32,
                    group: place.group.unwrap_or(column as u32),
                    grouped: place.group.is_some(),
                    weight: (place.weight + arrival).0,
                })
            });
        }
        let last = self.members.iter().map(|member| member.class).max();
        self.streams = last.map_or(0, |class| class as usize + 1);
        for (visit, entry) in problem.entries().iter().enumerate() {
            let class = self.streams + usize::from(entry.partition);
            self.members.push(Member {
                class: class as u32,
                along: visit as i32,
                column: visit as u32,
                group: visit as u32,
                grouped: false,
                weight: (entry.clock + problem.arrival_cost(visit)).0,
            });
        }
        self.members
            .sort_unstable_by_key(|m| (m.class, m.along, m.column));
        self.lay_out_tables();
    }

    fn lay_out_tables(&mut self) {
        let rays = self.problem.tape().model.rays();
        let classes = self
            .members
            .last()
            .map_or(0, |last| last.class as usize + 1);
        let (mut begin, mut table) = (0, 0);
        for class in 0..classes {
            let mine = self.members[begin..].iter();
            let count = mine.take_while(|m| m.class as usize == class).count();
            let slopes = if class < self.streams {
                rays.slopes(class)
            } else {
                Slopes {
                    below: None,
                    above: Some(0),
                }
            };
            let (below, above) = (table, table + slopes.below.map_or(0, |_| count));
            table = above + slopes.above.map_or(0, |_| count);
            let members = &self.members[begin..begin + count];
            self.classes.push(Class {
                members: (begin as u32, (begin + count) as u32),
                slopes,
                below: below as u32,
                above: above as u32,
                grouped: members.first().is_some_and(|member| member.grouped),
            });
            begin += count;
        }
        self.table = vec![Least::NOBODY; table];
    }

    fn find_contiguous(&mut self) {
        let problem = self.problem;
        let entries = problem.entries();
        self.contiguous = (0..problem.len())
            .map(|visit| {
                let exit = &problem.exits()[visit];
                let first = problem.following(visit);
                let like = |entry: &&crate::stream::Gate| {
                    (entry.partition, entry.block) == (exit.partition, exit.block)
                };
                let count = entries[first..].iter().take_while(like).count();
                (first as u32, (first + count) as u32)
            })
            .collect();
    }

    /// Finds the table entries that answer for a row; what lies beyond the last member of a class
    /// is no ray.
    fn cast_rays(&mut self, row: usize) {
        let problem = self.problem;
        let from = problem.ends().get(row).unwrap_or(problem.head());
        let (classes, members, rays) = (&self.classes, &self.members, &mut self.rays);
        let mut cast = |class: &Class, look: Look| {
            let (begin, end) = class.members;
            let mine = &members[begin as usize..end as usize];
            let below = count_up_to(mine, look.pivot);
            let nobody = if class.grouped { NO_GROUP } else { row as u32 };
            let except = look.except.unwrap_or(nobody);
            if let Some(base) = look.below.filter(|_| below > 0) {
                let at = class.below + below - 1;
                rays.push(Ray { at, except, base });
            }
            if let Some(base) = look.above.filter(|_| below < end - begin) {
                let at = class.above + below;
                rays.push(Ray { at, except, base });
            }
        };
        let model = &problem.tape().model;
        let locating = &classes[..self.streams.min(classes.len())];
        model.rays().looks(from, |look| {
            if let Some(class) = locating.get(look.class) {
                cast(class, look);
            }
        });
        let Some(exit) = problem.exits().get(row).filter(|_| problem.reads_through()) else {
            return;
        };
        let class = self.streams + usize::from(exit.partition);
        let Some(stream) = classes.get(class) else {
            return;
        };
        let ahead = Look {
            class,
            pivot: self.contiguous[row].1 as i32 - 1,
            below: None,
            above: Some(-exit.clock.0 << Pace::FRACTION_BITS),
            except: None,
        };
        cast(stream, ahead);
    }

    /// The members that a row asks one by one: from which to before which.
    fn asked_of(&self, row: usize) -> (u32, u32) {
        let problem = self.problem;
        let from = problem.ends().get(row).unwrap_or(problem.head());
        let asked = problem.tape().model.rays().asked(from);
        let Some(Asked { class, along }) = asked.filter(|asked| asked.class < self.streams) else {
            return (0, 0);
        };
        let (begin, end) = self.classes[class].members;
        let mine = &self.members[begin as usize..end as usize];
        let before = mine.partition_point(|member| member.along < *along.start());
        (
            begin + before as u32,
            begin + count_up_to(mine, *along.end()),
        )
    }

    fn sweep(&mut self, prices: &[i64]) {
        for class in &self.classes {
            let (begin, end) = class.members;
            let members = &self.members[begin as usize..end as usize];
            let value = |member: &Member, slope: i64| {
                let fixed = member.weight - prices[member.column as usize];
                slope * i64::from(member.along) + (fixed << Pace::FRACTION_BITS)
            };
            if let Some(slope) = class.slopes.below {
                let table = &mut self.table[class.below as usize..][..members.len()];
                let mut least = Least::NOBODY;
                for (member, entry) in members.iter().zip(table) {
                    least.meet(value(member, slope), member);
                    *entry = least;
                }
            }
            if let Some(slope) = class.slopes.above {
                let table = &mut self.table[class.above as usize..][..members.len()];
                let mut least = Least::NOBODY;
                for (member, entry) in members.iter().zip(table).rev() {
                    least.meet(value(member, slope), member);
                    *entry = least;
                }
            }
        }
    }

    /// The offers of visits; the last column, where the tour closes, is not among them.
    #[inline(always)]
    fn visit_offers(&self, row: usize, prices: &[i64], mut give: impl FnMut(u32, i64)) {
        if !self.problem.tape().model.rays().are_known() {
            return self.offer_least_of_all(row, prices, give);
        }
        let (begin, end) = (self.row_rays[row], self.row_rays[row + 1]);
        for ray in &self.rays[begin as usize..end as usize] {
            let least = &self.table[ray.at as usize];
            let (value, column) = if least.group == ray.except {
                (least.other, least.other_column)
            } else {
                (least.value, least.column)
            };
            if value == i64::MAX {
                continue;
            }
            if column as usize == row {
                self.offer_without(row, ray, prices, &mut give);
            } else {
                give(column, (ray.base + value) >> Pace::FRACTION_BITS);
            }
        }
        let (first, last) = self.asked[row];
        for member in &self.members[first as usize..last as usize] {
            let column = member.column as usize;
            if column != row {
                give(member.column, self.cost(row, column) - prices[column]);
            }
        }
        if let Some(&(first, last)) = self.contiguous.get(row) {
            for column in (first..last).filter(|&column| column as usize != row) {
                let cost = self.problem.arc(row, column as usize).0;
                give(column, cost - prices[column as usize]);
            }
        }
    }

    /// The least of all arcs of a row, by looking at every one.
    #[cold]
    fn offer_least_of_all(&self, row: usize, prices: &[i64], mut give: impl FnMut(u32, i64)) {
        let visits = (0..self.problem.len()).filter(|&column| column != row);
        let mut arcs: Vec<(i64, u32)> = visits
            .map(|column| (self.cost(row, column) - prices[column], column as u32))
            .collect();
        if arcs.len() > OFFERED {
            arcs.select_nth_unstable(OFFERED);
            arcs.truncate(OFFERED);
        }
        arcs.into_iter()
            .for_each(|(reduced, column)| give(column, reduced));
    }

    /// The seldom case that a row's own column answers: a visit that ends on another wrap than it
    /// begins on. Then every member is asked.
    #[cold]
    fn offer_without(
        &self,
        row: usize,
        ray: &Ray,
        prices: &[i64],
        give: &mut impl FnMut(u32, i64),
    ) {
        let at = ray.at;
        let class = self.classes.partition_point(|class| class.below <= at) - 1;
        let class = &self.classes[class];
        let (begin, end) = (class.members.0 as usize, class.members.1 as usize);
        let upper = at >= class.above && class.slopes.above.is_some();
        let (range, slope) = if upper {
            (begin + (at - class.above) as usize..end, class.slopes.above)
        } else {
            (
                begin..begin + (at - class.below) as usize + 1,
                class.slopes.below,
            )
        };
        let members = self.members[range].iter();
        let others = members.filter(|m| m.group != ray.except && m.column as usize != row);
        let valued = others.map(|member| {
            let fixed = member.weight - prices[member.column as usize];
            let slope = slope.unwrap_or(0) * i64::from(member.along);
            (slope + (fixed << Pace::FRACTION_BITS), member.column)
        });
        if let Some((value, column)) = valued.min() {
            give(column, (ray.base + value) >> Pace::FRACTION_BITS);
        }
    }
}

/// How many members of a class, in their order along the tape, lie up to a pivot. Most sources see
/// all of a class on one side.
fn count_up_to(members: &[Member], pivot: i32) -> u32 {
    let count = match (members.first(), members.last()) {
        (Some(first), _) if first.along > pivot => 0,
        (_, Some(last)) if last.along <= pivot => members.len(),
        _ => members.partition_point(|member| member.along <= pivot),
    };
    count as u32
}

impl Offers for Pricing<'_> {
    fn cities(&self) -> usize {
        self.problem.len() + 1
    }

    #[inline(always)]
    fn cost(&self, row: usize, column: usize) -> i64 {
        let end = self.problem.len();
        match (row == end, column == end) {
            (true, _) => self.problem.first_arc(column).0,
            (_, true) => self.problem.end_cost(row).0,
            _ => self.problem.arc(row, column).0,
        }
    }

    fn set_prices(&mut self, prices: &[i64]) {
        self.sweep(prices);
    }

    fn offers(&self, row: usize, prices: &[i64], mut give: impl FnMut(u32, i64)) {
        let end = self.problem.len();
        if row < end {
            give(end as u32, self.problem.end_cost(row).0 - prices[end]);
        }
        self.visit_offers(row, prices, give);
    }
}
