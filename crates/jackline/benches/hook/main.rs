//! `jackline hook claude`, from the start of the process to its end, beside an empty program, `/bin/true` and a hook of
//! one regular expression in Python.
//!
//! `cargo bench -p jackline --bench hook [-- --quick]`. Everything is measured in turn, round after round, in one run:
//! only numbers of one run can be compared. The sessions that are asked have up to 100,000 earlier events.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints, and ends when its own steps fail")]

mod programs;
mod spawn;
mod table;
mod world;

use std::process::Command;

use programs::Program;
use spawn::Prepared;
use table::{Asked, Row, Table};
use world::{Guards, KINDS, World};

/// Earlier events of the session that is asked with all guards on; what more of them cost is told by the others.
const GUARDED_LENGTH: u64 = 1_000;
/// Rounds that are not counted: they create sessions and fill caches.
const WARM_ROUNDS: usize = 5;
/// Where the chance begins that says who follows whom: every run has the same orders.
const SHUFFLED_BY: u64 = 0x6a61_636b_6c69_6e65;
/// Starts of each program whose memory is looked at.
const MEMORY_STARTS: usize = 5;

fn main() {
    if spawn::was_memory_probe() {
        return;
    }
    let quick = std::env::args().any(|argument| argument == "--quick");
    let lengths: &[u64] = if quick { &[0, 1_000, 10_000] } else { &[0, 1_000, 10_000, 100_000] };
    let rounds = if quick { 60 } else { 400 };
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory on the disk");
    let scratch = tempfile::tempdir().expect("a directory outside of the repository");
    let mut rows = rows(&programs::others(scratch.path()), &programs::builds(), lengths);
    let worlds = [World::new(place.path(), Guards::Usual), World::new(place.path(), Guards::All)];
    println!("seeding sessions through the runtime");
    for world in &worlds {
        of(world, lengths).iter().for_each(|length| world.seed(*length));
        world.settle();
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let mut chance = SHUFFLED_BY;
    for round in 0..WARM_ROUNDS + rounds {
        shuffle(&mut order, &mut chance);
        for number in &order {
            measure(&worlds, rows.get_mut(*number).expect("a row"), round);
        }
    }
    for (world, length) in worlds.iter().flat_map(|world| of(world, lengths).iter().map(move |length| (world, *length)))
    {
        let here = |asked: Asked| asked.guards == world.guards && asked.length == length;
        let measured = rows.iter().filter(|row| row.asked.is_some_and(here)).count();
        let want = 2 * (measured * (WARM_ROUNDS + rounds) + usize::try_from(length).expect("small"));
        let kept = world.records(length);
        assert!(kept >= want, "every event was judged and kept, after {length}: {kept} records of {want}");
    }
    rows.iter_mut().for_each(|row| weigh(&worlds, row, WARM_ROUNDS + rounds));
    Table { rows, lengths }.print();
}

/// Puts them into another order, so that nobody always follows the same neighbour, whose program the processor's caches hold.
fn shuffle(order: &mut [usize], chance: &mut u64) {
    for left in (1..order.len()).rev() {
        // Knuth's generator for 64 bits; its low bits repeat soon.
        *chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let other = (*chance >> 33) as usize % (left + 1);
        order.swap(left, other);
    }
}

/// The histories that a workspace's sessions have.
const fn of<'a>(world: &World, lengths: &'a [u64]) -> &'a [u64] {
    match world.guards {
        Guards::Usual => lengths,
        Guards::All => &[GUARDED_LENGTH],
    }
}

/// Everything that is measured: builds of ours with each history and each kind, and other programs as often as one of ours
/// with one history. Who is started more rarely finds less of itself in the processor's caches.
fn rows(others: &[Program], builds: &[Program], lengths: &[u64]) -> Vec<Row> {
    let as_often = others.iter().flat_map(|program| KINDS.map(|_| Row::new(program.clone(), None)));
    let mut rows: Vec<Row> = as_often.collect();
    for build in builds {
        for length in lengths {
            rows.extend(asked(build, Guards::Usual, *length));
        }
        rows.extend(asked(build, Guards::All, GUARDED_LENGTH));
    }
    rows
}

fn asked(build: &Program, guards: Guards, length: u64) -> impl Iterator<Item = Row> {
    KINDS.iter().map(move |kind| Row::new(build.clone(), Some(Asked { guards, length, kind: *kind })))
}

fn measure(worlds: &[World; 2], row: &mut Row, round: usize) {
    let (command, message) = question(worlds, row, round);
    let ended = Prepared::new(command, &message).run();
    row.check(&ended);
    if round >= WARM_ROUNDS {
        row.microseconds.push(ended.seconds * 1e6);
    }
}

/// Looks at the most memory that one of a few starts had.
fn weigh(worlds: &[World; 2], row: &mut Row, round: usize) {
    for round in round..round + MEMORY_STARTS {
        let (command, message) = question(worlds, row, round);
        row.bytes = row.bytes.max(spawn::memory(&command, &message));
    }
}

fn question([usual, all]: &[World; 2], row: &Row, round: usize) -> (Command, String) {
    let [first, ..] = KINDS;
    let Asked { guards, length, kind } = row.asked.unwrap_or(Asked { guards: Guards::Usual, length: 0, kind: first });
    let world = if guards == Guards::Usual { usual } else { all };
    (world.command(&row.program), world.message(row.program.name, length, kind, round))
}
