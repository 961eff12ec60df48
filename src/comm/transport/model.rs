//! A model of the protocol in `shm.rs`, small enough to go through everything that can happen.
//!
//! Ranks are little programs over shared words, buffers and a futex; a search visits every state that any order of their
//! steps can reach. Looked for: a read of a buffer that is being written or holds another step's data, and a state in
//! which nobody can go on. The processor's own reordering is not modelled: the published word is stored and loaded with
//! release and acquire (or stronger), which makes the states below the ones that matter.
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
    /// The publisher looks for sleepers before it stores the word.
    WakeBeforeStore,
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
    /// Looks for sleepers; goes on to the words if there are some.
    Wake,
    /// Looks whether all have published, in order to ring.
    Complete,
    Ring,
    /// Looks whether all have published, in order to go on.
    Look,
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
    /// What was found before the store, in a variant.
    found: [bool; MOST],
    /// The words of both lines of each member.
    word: [[u8; 2]; MOST],
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

    /// Whether all have published the step of rank r.
    fn complete(&self, s: &State, r: usize) -> bool {
        (0..self.ranks).all(|m| s.word[m][s.step[r] as usize & 1] == s.step[r])
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
        let line = step as usize & 1;
        match s.at[r] {
            At::Write => {
                s.buffer[r][self.buffer_of(step)] = 0xff;
                s.at[r] = At::Writing;
            }
            At::Writing => {
                s.buffer[r][self.buffer_of(step)] = step;
                s.found[r] = self.variant == Variant::WakeBeforeStore && s.sleepers > 0;
                s.at[r] = At::Publish;
            }
            At::Publish => {
                s.word[r][line] = step;
                s.at[r] = At::Wake;
            }
            At::Wake => {
                let found = if self.variant == Variant::WakeBeforeStore { s.found[r] } else { s.sleepers > 0 };
                s.found[r] = false;
                s.at[r] = if found { At::Complete } else { At::Look };
            }
            At::Complete => s.at[r] = if self.complete(&s, r) { At::Ring } else { At::Look },
            At::Ring => {
                for at in &mut s.at {
                    *at = match *at {
                        At::Count(_) => At::Count(false),
                        At::Check(_) => At::Check(false),
                        At::Enter(_) => At::Enter(false),
                        At::Asleep => At::Uncount,
                        other => other,
                    };
                }
                s.at[r] = At::Look;
            }
            At::Look => {
                s.at[r] = match (self.complete(&s, r), self.variant) {
                    (true, _) => At::Read(0),
                    // Says so only when the publisher may have looked already.
                    (false, Variant::SleepUnseen) => At::Enter(true),
                    (false, _) => At::Hear,
                };
            }
            At::Hear => s.at[r] = At::Count(true),
            At::Count(same) => {
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
                s.at[r] = At::Look;
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
            found: [false; MOST],
            word: [[0; 2]; MOST],
            sleepers: 0,
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
    let two = Model { ranks: 2, steps: 6, variant: Variant::Real }.search().unwrap();
    assert!(two > 500, "{two} states");
    let three = Model { ranks: 3, steps: 5, variant: Variant::Real }.search().unwrap();
    assert!(three > 10_000, "{three} states");
}

#[test]
fn the_model_finds_faults() {
    for (variant, what) in [
        (Variant::OneBuffer, "reads"),
        (Variant::WakeBeforeStore, "nobody can go on"),
        (Variant::SleepUnseen, "nobody can go on"),
        (Variant::Deaf, "nobody can go on"),
    ] {
        let found = Model { ranks: 2, steps: 6, variant }.search().unwrap_err();
        assert!(found.contains(what), "{found}");
    }
}
