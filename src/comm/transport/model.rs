//! A model of the protocol in `shm.rs`, small enough to go through everything that can happen.
//!
//! Ranks are little programs over shared words, buffers and a futex; a search visits every state that any order of their
//! steps can reach. Looked for: a read of a buffer that is being written or holds another step's data, and a state in
//! which nobody can go on. A word that was stored is seen by its own rank at once and by the others at any later time, up
//! to the next fence: that is the reordering of x86, and the one that matters elsewhere too, as words are stored and
//! loaded with release and acquire.
//!
//! Buffers of the model stand for control lines and for staging memory, of which a ring gives each step other parts: it
//! promises no more than two buffers do, that a step's part is left alone in the next step (`shm.rs` tests that).
//!
//! To look whether all have published a step is one move here, though it reads one word after the other: words that have
//! come stay for as long as anybody looks, so what is found is true at one moment: that of the last read.
//!
//! Each test is run again with one line of the protocol changed, and must then find the fault: so the model can.

use std::collections::HashSet;

const MOST: usize = 3;

/// Variations of the protocol: the real one, and ones that lack something.
#[derive(Clone, Copy, PartialEq)]
enum Variant {
    Real,
    /// One buffer a member instead of two.
    OneBuffer,
    /// Who finds the step complete looks for sleepers without a fence.
    NoFence,
    /// Only who finds it complete at first sight looks for them.
    FirstSight,
    /// The sleeper looks at the words, then says that it sleeps.
    SleepUnseen,
    /// The sleeper sleeps whatever the bell has said meanwhile.
    Deaf,
}

/// Where a rank is in its step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum At {
    /// Writes its buffer: two moments, between which others may look.
    Write,
    Writing,
    /// Stores the word.
    Publish,
    /// Looks whether all have published; the first time?
    Look(bool),
    /// They have: a fence, then a look for sleepers.
    Fence,
    Wake,
    /// Changes what the bell says, unless that was done for this step; then the system call that wakes.
    Ring,
    Shout,
    /// Notes what the bell says.
    Hear,
    /// Counts itself as a sleeper. From here on: whether the bell still says what was noted.
    Count(bool),
    /// Looks once more.
    Check(bool),
    /// In the system call: compares the bell with what was noted, sleeps if it is the same.
    Enter(bool),
    Asleep,
    /// No sleeper any more.
    Uncount,
    /// Reads the buffer of m: two moments.
    Read(u8),
    Reading(u8),
    Done,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    at: [At; MOST],
    step: [u8; MOST],
    /// Whose word is stored but not seen by others yet.
    pending: [bool; MOST],
    /// The words of both lines of each member.
    word: [[u8; 2]; MOST],
    /// The step for which the bell was last rung.
    rung: u8,
    /// How many sleep, or are about to.
    sleepers: u8,
    /// The step whose data is in each buffer; 0xff while it is written.
    buffer: [[u8; 2]; MOST],
}

struct Model {
    ranks: usize,
    /// Four use every line and buffer twice.
    steps: u8,
    variant: Variant,
}

impl Model {
    fn buffer_of(&self, step: u8) -> usize {
        if self.variant == Variant::OneBuffer { 0 } else { step as usize & 1 }
    }

    /// Whether rank r sees that all have published its step.
    fn complete(&self, s: &State, r: usize) -> bool {
        (0..self.ranks).all(|m| m == r || s.word[m][s.step[r] as usize & 1] == s.step[r])
    }

    /// The word that rank r stored is seen by all from now on.
    fn drain(&self, s: &mut State, r: usize) {
        if core::mem::take(&mut s.pending[r]) {
            // With no fence it may be that of the step before.
            let step = if s.at[r] == At::Write || s.at[r] == At::Writing { s.step[r] - 1 } else { s.step[r] };
            s.word[r][step as usize & 1] = step;
        }
    }

    fn after_read(&self, s: &mut State, r: usize, m: u8) {
        if (m as usize) + 1 < self.ranks {
            s.at[r] = At::Read(m + 1);
        } else if s.step[r] == self.steps {
            s.at[r] = At::Done;
        } else {
            s.step[r] += 1;
            s.at[r] = At::Write;
        }
    }

    /// One move of rank r; `None` if it cannot move, `Err` if something is wrong.
    fn advance(&self, old: &State, r: usize) -> Option<Result<State, String>> {
        let mut s = old.clone();
        let step = s.step[r];
        match s.at[r] {
            At::Write => {
                s.buffer[r][self.buffer_of(step)] = 0xff;
                s.at[r] = At::Writing;
            }
            At::Writing => {
                s.buffer[r][self.buffer_of(step)] = step;
                self.drain(&mut s, r);
                s.at[r] = At::Publish;
            }
            At::Publish => {
                s.pending[r] = true;
                s.at[r] = At::Look(true);
            }
            At::Look(first) => {
                s.at[r] = match (self.complete(&s, r), self.variant) {
                    (true, Variant::FirstSight) if !first => At::Read(0),
                    (true, Variant::NoFence) => At::Wake,
                    (true, _) => At::Fence,
                    // Says so only when the publisher may have looked already.
                    (false, Variant::SleepUnseen) => At::Enter(true),
                    (false, _) => At::Hear,
                };
            }
            At::Fence => {
                self.drain(&mut s, r);
                s.at[r] = At::Wake;
            }
            At::Wake => s.at[r] = if s.sleepers > 0 && s.rung != step { At::Ring } else { At::Read(0) },
            At::Ring => {
                s.at[r] = if s.rung == step { At::Read(0) } else { At::Shout };
                s.rung = step;
                for at in &mut s.at {
                    *at = match *at {
                        At::Count(_) => At::Count(false),
                        At::Check(_) => At::Check(false),
                        At::Enter(_) => At::Enter(false),
                        other => other,
                    };
                }
            }
            At::Shout => {
                for at in &mut s.at {
                    if *at == At::Asleep {
                        *at = At::Uncount;
                    }
                }
                s.at[r] = At::Read(0);
            }
            At::Hear => s.at[r] = At::Count(true),
            At::Count(same) => {
                // A fence too.
                self.drain(&mut s, r);
                s.sleepers += 1;
                s.at[r] = At::Check(same);
            }
            At::Check(same) => s.at[r] = if self.complete(&s, r) { At::Uncount } else { At::Enter(same) },
            At::Enter(same) => {
                if self.variant == Variant::SleepUnseen {
                    s.sleepers += 1;
                }
                s.at[r] = if same || self.variant == Variant::Deaf { At::Asleep } else { At::Uncount };
            }
            At::Uncount => {
                s.sleepers -= 1;
                s.at[r] = At::Look(false);
            }
            At::Read(m) | At::Reading(m) => {
                let data = s.buffer[m as usize][self.buffer_of(step)];
                if data != step {
                    return Some(Err(format!("rank {r} reads {data} of rank {m} in step {step}")));
                }
                match s.at[r] {
                    At::Read(_) => s.at[r] = At::Reading(m),
                    _ => self.after_read(&mut s, r, m),
                }
            }
            At::Asleep | At::Done => return None,
        }
        Some(Ok(s))
    }

    /// Visits all states; their number, or what is wrong.
    fn search(&self) -> Result<usize, String> {
        let start = State {
            at: [At::Write; MOST],
            step: [1; MOST],
            pending: [false; MOST],
            word: [[0; 2]; MOST],
            rung: 0,
            sleepers: 0,
            buffer: [[0; 2]; MOST],
        };
        let mut seen = HashSet::new();
        let mut todo = vec![start.clone()];
        seen.insert(start);
        while let Some(s) = todo.pop() {
            let mut stuck = true;
            for r in 0..self.ranks {
                let mut seen_by_others = s.clone();
                self.drain(&mut seen_by_others, r);
                let drained = s.pending[r].then_some(Ok(seen_by_others));
                for next in self.advance(&s, r).into_iter().chain(drained) {
                    stuck = false;
                    let next = next?;
                    if seen.insert(next.clone()) {
                        todo.push(next);
                    }
                }
            }
            if stuck && (0..self.ranks).any(|r| s.at[r] != At::Done) {
                return Err(format!(
                    "nobody can go on: {:?} in steps {:?}",
                    &s.at[..self.ranks],
                    &s.step[..self.ranks]
                ));
            }
        }
        Ok(seen.len())
    }
}

#[test]
fn every_order_of_steps_is_safe() {
    let two = Model { ranks: 2, steps: 6, variant: Variant::Real }.search().unwrap();
    assert!(two > 500, "{two} states");
    let three = Model { ranks: 3, steps: 5, variant: Variant::Real }.search().unwrap();
    assert!(three > 10_000, "{three} states");
}

#[test]
fn the_model_finds_faults() {
    for (variant, what) in [
        (Variant::OneBuffer, "reads"),
        (Variant::NoFence, "nobody can go on"),
        (Variant::FirstSight, "nobody can go on"),
        (Variant::SleepUnseen, "nobody can go on"),
        (Variant::Deaf, "nobody can go on"),
    ] {
        let found = Model { ranks: 3, steps: 4, variant }.search().unwrap_err();
        assert!(found.contains(what), "{found}");
    }
}
