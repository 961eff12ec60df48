//! A model of the protocol in `shm.rs`, small enough to go through everything that can happen.
//!
//! Ranks are little programs over shared words, buffers and a futex; a search visits every state that any order of their
//! steps can reach. Looked for: a read of a buffer that is being written or holds another step's data, and a state in
//! which nobody can go on. The processor's own reordering is not modelled: the published word is stored and loaded with
//! release and acquire (or stronger), which makes the states below the ones that matter.
//!
//! Each test is run again with one line of the protocol changed, and must then find the fault: so the model can.

use std::collections::HashSet;

const STEPS: u8 = 5;
const MOST: usize = 3;

/// Variations of the protocol: the real one, and ones that lack something.
#[derive(Clone, Copy, PartialEq)]
enum Variant {
    Real,
    /// One buffer a member instead of two.
    OneBuffer,
    /// The publisher looks for sleepers before it stores the word.
    WakeBeforeStore,
    /// The sleeper looks at the word, then says that it sleeps.
    SleepUnseen,
}

/// Where a rank is in its step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum At {
    /// Writes its buffer: two moments, between which others may look.
    Write,
    Writing,
    /// Stores the word.
    Publish,
    /// Looks for sleepers and wakes them.
    Wake,
    /// Waits for member m.
    Look(u8),
    /// Counts itself as a sleeper on m.
    Count(u8),
    /// In the system call: compares the word with what was seen, sleeps if it is the same.
    Enter(u8, u8),
    Asleep(u8),
    /// No sleeper any more.
    Uncount(u8),
    /// Reads the buffer of m: two moments.
    Read(u8),
    Reading(u8),
    Done,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    at: [At; MOST],
    step: [u8; MOST],
    /// What was found before the store, in a variant.
    found: [bool; MOST],
    /// The words of both lines of each member.
    word: [[u8; 2]; MOST],
    sleepers: [u8; MOST],
    /// The step whose data is in each buffer; 0xff while it is written.
    buffer: [[u8; 2]; MOST],
}

struct Model {
    ranks: usize,
    variant: Variant,
}

impl Model {
    fn buffer_of(&self, step: u8) -> usize {
        if self.variant == Variant::OneBuffer { 0 } else { step as usize & 1 }
    }

    /// After member m has been waited for: the next member, or the reads.
    fn next(&self, m: u8) -> At {
        if (m as usize) + 1 < self.ranks { At::Look(m + 1) } else { At::Read(0) }
    }

    fn after_read(&self, s: &mut State, r: usize, m: u8) {
        if (m as usize) + 1 < self.ranks {
            s.at[r] = At::Read(m + 1);
        } else if s.step[r] == STEPS {
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
        let line = step as usize & 1;
        match s.at[r] {
            At::Write => {
                s.buffer[r][self.buffer_of(step)] = 0xff;
                s.at[r] = At::Writing;
            }
            At::Writing => {
                s.buffer[r][self.buffer_of(step)] = step;
                s.found[r] = s.sleepers[r] > 0;
                s.at[r] = At::Publish;
            }
            At::Publish => {
                s.word[r][line] = step;
                s.at[r] = At::Wake;
            }
            At::Wake => {
                let wake = if self.variant == Variant::WakeBeforeStore { s.found[r] } else { s.sleepers[r] > 0 };
                if wake {
                    for other in 0..self.ranks {
                        // Sleepers on another line of the same member sleep on another word.
                        if s.at[other] == At::Asleep(r as u8) && s.step[other] as usize & 1 == line {
                            s.at[other] = At::Uncount(r as u8);
                        }
                    }
                }
                s.at[r] = At::Look(0);
            }
            At::Look(m) => {
                let here = s.word[m as usize][line] == step;
                s.at[r] = match (here, self.variant) {
                    (true, _) => self.next(m),
                    (false, Variant::SleepUnseen) => At::Enter(m, s.word[m as usize][line]),
                    (false, _) => At::Count(m),
                };
            }
            At::Count(m) => {
                s.sleepers[m as usize] += 1;
                let seen = s.word[m as usize][line];
                s.at[r] = if seen == step { At::Uncount(m) } else { At::Enter(m, seen) };
            }
            At::Enter(m, seen) => {
                let same = s.word[m as usize][line] == seen;
                if self.variant == Variant::SleepUnseen {
                    // Says so only now, when the publisher may have looked already.
                    s.sleepers[m as usize] += 1;
                    s.at[r] = At::Asleep(m);
                } else {
                    s.at[r] = if same { At::Asleep(m) } else { At::Uncount(m) };
                }
            }
            At::Uncount(m) => {
                s.sleepers[m as usize] -= 1;
                s.at[r] = At::Look(m);
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
            At::Asleep(_) | At::Done => return None,
        }
        Some(Ok(s))
    }

    /// Visits all states; their number, or what is wrong.
    fn search(&self) -> Result<usize, String> {
        let start = State {
            at: [At::Write; MOST],
            step: [1; MOST],
            found: [false; MOST],
            word: [[0; 2]; MOST],
            sleepers: [0; MOST],
            buffer: [[0; 2]; MOST],
        };
        let mut seen = HashSet::new();
        let mut todo = vec![start.clone()];
        seen.insert(start);
        while let Some(s) = todo.pop() {
            let mut stuck = true;
            for r in 0..self.ranks {
                if let Some(next) = self.advance(&s, r) {
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
    let two = Model { ranks: 2, variant: Variant::Real }.search().unwrap();
    assert!(two > 500, "{two} states");
    let three = Model { ranks: 3, variant: Variant::Real }.search().unwrap();
    assert!(three > 10_000, "{three} states");
}

#[test]
fn the_model_finds_faults() {
    for (variant, what) in [
        (Variant::OneBuffer, "reads"),
        (Variant::WakeBeforeStore, "nobody can go on"),
        (Variant::SleepUnseen, "nobody can go on"),
    ] {
        let found = Model { ranks: 2, variant }.search().unwrap_err();
        assert!(found.contains(what), "{found}");
    }
}
