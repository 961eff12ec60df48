//! How the ranks of one machine find each other: a socket for a moment, over which the first hands the shared memory to
//! the others.
//!
//! The address is an abstract one (no file, gone with its last user) made of a random token that launcher or MPI gave to
//! all ranks. Both ends check that the other belongs to the same user. That a rank has mapped the memory is the proof
//! that it is on this machine; names of hosts are not asked.
//!
//! ```text
//! rank k → first: Hello        first → rank k: Welcome + descriptor
//! rank k → first: ready        first → rank k: go
//! ```
//! Whatever goes wrong, the first rank tells all others the text that it gives itself. Every wait has an end.
//!
//! Of a rank that ends before it comes here only its parent knows. `corten-run` puts up a sign ([`Ended`]): another abstract
//! address, which exists from then on. To look is to connect to it, so nobody has to serve or to answer.

use super::super::sys::{self, PollFd};
use super::super::types::{Error, Result, Status};
use super::segment::{MAX_LOCAL, Plan, Segment};
use crate::runtime::env;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::time::{Duration, Instant};

const MAGIC: u64 = 0x6e65_7472_6f63_0001;

/// What a rank says when it comes.
#[repr(C)]
#[derive(Clone, Copy)]
struct Hello {
    magic: u64,
    /// How often this process has called init: ranks that are at different calls do not belong together.
    turn: u32,
    me: u32,
    size: u32,
    rank: u32,
    address_space: u64,
    affinity: [u64; 16],
}

/// The answer to Hello, and later to "ready".
#[repr(C)]
#[derive(Clone, Copy)]
struct Answer {
    /// 0: go on. Otherwise a text of so many bytes follows, and this is the end.
    failed: u32,
    status: u32,
    plan: Plan,
}

fn bytes_of<T: Copy>(value: &T) -> &[u8] {
    // SAFETY: the two messages are made of integers without gaps.
    unsafe { core::slice::from_raw_parts((&raw const *value).cast(), size_of::<T>()) }
}
fn from_bytes<T: Copy>(bytes: &[u8]) -> T {
    assert_eq!(bytes.len(), size_of::<T>());
    // SAFETY: as above; the length is checked.
    unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }
}

/// Time that ranks have to come together.
pub fn timeout() -> Duration {
    Duration::from_secs(env::INIT_TIMEOUT.number().unwrap_or(60).min(env::LONGEST))
}

/// How often a rank that waits looks for signs.
const LOOK: Duration = Duration::from_millis(50);

/// The sign that a rank of a job has ended, the first that did. It stands while this is held.
pub struct Ended(#[allow(dead_code)] UnixDatagram);

impl Ended {
    fn address(token: &str, rank: u32) -> std::io::Result<SocketAddr> {
        SocketAddr::from_abstract_name(format!("corten-{token}-ended-{rank}"))
    }
    /// Puts it up.
    pub fn announce(token: &str, rank: u32) -> std::io::Result<Ended> {
        UnixDatagram::bind_addr(&Ended::address(token, rank)?).map(Ended)
    }
    /// Whether it stands.
    fn stands(token: &str, rank: u32) -> bool {
        let look = || UnixDatagram::unbound()?.connect_addr(&Ended::address(token, rank)?);
        look().is_ok()
    }
}

/// Whether one of these ranks is known to have ended before it came.
fn look_for_signs(token: &str, mut ranks: impl Iterator<Item = u32>) -> Result {
    match ranks.find(|rank| Ended::stands(token, *rank)) {
        None => Ok(()),
        Some(rank) => Err(Error::new(Status::Peer, format!("rank {rank} ended before corten_init"))),
    }
}

/// Where this rank is among the ranks of its machine.
pub struct Place<'a> {
    pub token: &'a str,
    pub turn: u32,
    /// Number on this machine, and how many there are.
    pub me: usize,
    pub size: usize,
    /// Global ranks, in the order of the machine's numbers.
    pub ranks: &'a [u32],
}

/// Comes together with the other ranks of this machine.
pub fn meet(place: &Place) -> Result<Segment> {
    if place.size > MAX_LOCAL {
        let text = format!("{} ranks on one machine, the most is {MAX_LOCAL}", place.size);
        return Err(Error::new(Status::Argument, text));
    }
    let hello = Hello {
        magic: MAGIC,
        turn: place.turn,
        me: place.me as u32,
        size: place.size as u32,
        rank: place.ranks[place.me],
        address_space: sys::limit_of(sys::Limit::AddressSpace),
        affinity: sys::affinity(),
    };
    if place.size == 1 {
        let plan = plan_of(&[hello]);
        return Segment::join(sys::shared_memory(plan.total())?, plan, 0, hello.rank);
    }
    let name = format!("corten-{}", place.token);
    let address =
        SocketAddr::from_abstract_name(name.as_bytes()).map_err(|e| Error::new(Status::System, e.to_string()))?;
    let deadline = Instant::now() + timeout();
    if place.me == 0 { lead(place, &address, hello, deadline) } else { follow(place, &address, hello, deadline) }
}

fn plan_of(hellos: &[Hello]) -> Plan {
    let mut processors = [0u64; 16];
    for hello in hellos {
        for (all, some) in processors.iter_mut().zip(hello.affinity) {
            *all |= some;
        }
    }
    let processors: u32 = processors.iter().map(|word| word.count_ones()).sum();
    let space = hellos.iter().map(|hello| hello.address_space).min().unwrap_or(u64::MAX);
    // No processors means that the system did not say.
    Plan::new(hellos.len(), processors > 0 && hellos.len() > processors as usize, space)
}

fn list(ranks: impl Iterator<Item = u32>) -> String {
    let ranks: Vec<String> = ranks.map(|r| r.to_string()).collect();
    format!("{} {}", if ranks.len() == 1 { "rank" } else { "ranks" }, ranks.join(", "))
}

fn io(what: &str, e: &std::io::Error) -> Error {
    Error::new(Status::System, format!("{what}: {e}"))
}

/// The first rank's side.
fn lead(place: &Place, address: &SocketAddr, hello: Hello, deadline: Instant) -> Result<Segment> {
    let mut others: Vec<Option<UnixStream>> = (0..place.size).map(|_| None).collect();
    let outcome = gather(place, address, hello, deadline, &mut others);
    if let Err(error) = &outcome {
        let answer =
            Answer { failed: error.text.len() as u32, status: error.status as u32, plan: Plan::new(1, false, 1 << 30) };
        for other in others.iter_mut().flatten() {
            let _ = other.write_all(bytes_of(&answer)).and_then(|()| other.write_all(error.text.as_bytes()));
        }
    }
    outcome
}

fn gather(
    place: &Place,
    address: &SocketAddr,
    hello: Hello,
    deadline: Instant,
    others: &mut [Option<UnixStream>],
) -> Result<Segment> {
    let listener = loop {
        match UnixListener::bind_addr(address) {
            Ok(listener) => break listener,
            // A former job's process that has the address may be about to end.
            Err(e) if e.kind() == std::io::ErrorKind::AddrInUse && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(e) => return Err(io("cannot listen for the other ranks of this machine", &e)),
        }
    };
    listener.set_nonblocking(true).map_err(|e| io("listening", &e))?;
    let mut hellos = vec![hello; place.size];
    let mut strangers: Vec<(UnixStream, Vec<u8>)> = Vec::new();
    let mut look = Instant::now();
    while others.iter().skip(1).any(Option::is_none) {
        let now = Instant::now();
        let missing = (1..place.size).filter(|&k| others[k].is_none()).map(|k| place.ranks[k]);
        if now >= look {
            look = now + LOOK;
            look_for_signs(place.token, missing.clone())?;
        }
        if now >= deadline {
            let seconds = timeout().as_secs();
            let text = format!("{} did not call corten_init within {seconds} s (CORTEN_INIT_TIMEOUT)", list(missing));
            return Err(Error::new(Status::Timeout, text));
        }
        let mut fds = vec![PollFd::readable(listener.as_raw_fd())];
        fds.extend(strangers.iter().map(|(s, _)| PollFd::readable(s.as_raw_fd())));
        fds.extend(others.iter().flatten().map(|s| PollFd::readable(s.as_raw_fd())));
        sys::wait_for(&mut fds, (deadline - now).min(LOOK));
        while let Ok((stream, _)) = listener.accept() {
            if sys::peer_uid(&stream) == Some(sys::uid()) && stream.set_nonblocking(true).is_ok() {
                strangers.push((stream, Vec::new()));
            }
        }
        let mut waiting = Vec::new();
        for (mut stream, mut got) in strangers.drain(..) {
            let mut buffer = [0u8; size_of::<Hello>()];
            match stream.read(&mut buffer[got.len()..]) {
                Ok(0) => continue,
                Ok(n) => got.extend_from_slice(&buffer[..n]),
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => continue,
            }
            if got.len() < size_of::<Hello>() {
                waiting.push((stream, got));
                continue;
            }
            let hello: Hello = from_bytes(&got);
            let k = hello.me as usize;
            if hello.magic != MAGIC || k == 0 || k >= place.size {
                continue;
            }
            if (hello.turn, hello.size) != (place.turn, place.size as u32) {
                let text = format!(
                    "rank {} comes to its init number {} of {} ranks, rank {} to its number {} of {} ranks",
                    place.ranks[0], place.turn, place.size, hello.rank, hello.turn, hello.size
                );
                others[k] = Some(stream);
                return Err(Error::new(Status::Mismatch, text));
            }
            if others[k].is_some() {
                let text = format!("rank {} came twice: two programs have its number", hello.rank);
                return Err(Error::new(Status::Mismatch, text));
            }
            hellos[k] = hello;
            others[k] = Some(stream);
        }
        strangers = waiting;
        // A rank that came and is gone again will not come back.
        for (k, other) in others.iter_mut().enumerate() {
            if let Some(stream) = other
                && matches!(stream.read(&mut [0]), Ok(0))
            {
                return Err(ended(place, k));
            }
        }
    }
    drop(listener);
    let plan = plan_of(&hellos);
    let fd = sys::shared_memory(plan.total())?;
    let answer = Answer { failed: 0, status: 0, plan };
    for (k, stream) in others.iter().enumerate() {
        if let Some(stream) = stream {
            sys::send_descriptor(stream, bytes_of(&answer), fd.as_raw_fd()).map_err(|_| ended(place, k))?;
        }
    }
    let segment = Segment::join(fd, plan, 0, hello.rank)?;
    for (k, stream) in others.iter_mut().enumerate() {
        if let Some(stream) = stream {
            let word = receive(stream, 1, deadline, place.ranks[k])?;
            if word != [1] {
                let mut text = vec![0; 200];
                let n = stream.read(&mut text).unwrap_or(0);
                let text = format!("rank {}: {}", place.ranks[k], String::from_utf8_lossy(&text[..n]));
                return Err(Error::new(Status::System, text));
            }
        }
    }
    for (k, stream) in others.iter_mut().enumerate() {
        if let Some(stream) = stream {
            stream.write_all(bytes_of(&answer)).map_err(|_| ended(place, k))?;
        }
    }
    Ok(segment)
}

fn ended(place: &Place, k: usize) -> Error {
    Error::new(Status::Peer, format!("rank {} ended during corten_init", place.ranks[k]))
}

/// Exactly so many bytes.
fn receive(stream: &mut UnixStream, bytes: usize, deadline: Instant, rank: u32) -> Result<Vec<u8>> {
    let late = || {
        let seconds = timeout().as_secs();
        let text = format!("rank {rank} does not answer in corten_init within {seconds} s (CORTEN_INIT_TIMEOUT)");
        Error::new(Status::Timeout, text)
    };
    let mut got = vec![0; bytes];
    let mut have = 0;
    while have < bytes {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(late());
        }
        sys::wait_for(&mut [PollFd::readable(stream.as_raw_fd())], left.min(Duration::from_secs(1)));
        match stream.read(&mut got[have..]) {
            Ok(0) => return Err(Error::new(Status::Peer, format!("rank {rank} ended during corten_init"))),
            Ok(n) => have += n,
            Err(e) if matches!(e.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::Interrupted) => {}
            Err(e) => return Err(io(&format!("talking to rank {rank} in corten_init"), &e)),
        }
    }
    Ok(got)
}

/// The side of all other ranks.
fn follow(place: &Place, address: &SocketAddr, hello: Hello, deadline: Instant) -> Result<Segment> {
    let first = place.ranks[0];
    let mut pause = Duration::from_micros(200);
    let mut look = Instant::now();
    let mut stream = loop {
        match UnixStream::connect_addr(address) {
            Ok(stream) => break stream,
            Err(e)
                if e.kind() == std::io::ErrorKind::ConnectionRefused || e.kind() == std::io::ErrorKind::WouldBlock =>
            {
                if Instant::now() >= deadline {
                    let seconds = timeout().as_secs();
                    let text =
                        format!("rank {first} did not call corten_init within {seconds} s (CORTEN_INIT_TIMEOUT)");
                    return Err(Error::new(Status::Timeout, text));
                }
                // Without us nobody gets through, so whoever has ended did so before; the first may have told it and gone.
                if Instant::now() >= look {
                    look = Instant::now() + LOOK;
                    look_for_signs(place.token, place.ranks.iter().copied())?;
                }
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(10));
            }
            Err(e) => return Err(io(&format!("cannot reach rank {first} on this machine"), &e)),
        }
    };
    if sys::peer_uid(&stream) != Some(sys::uid()) {
        return Err(Error::new(Status::System, "the rendezvous socket belongs to another user"));
    }
    stream.set_nonblocking(true).map_err(|e| io("connecting", &e))?;
    stream.write_all(bytes_of(&hello)).map_err(|e| io(&format!("talking to rank {first}"), &e))?;
    // The first rank waits for all others before it answers: a bit longer than the others wait for it.
    let deadline = deadline + Duration::from_secs(5);
    let (answer, fd) = receive_answer(&mut stream, deadline, first)?;
    let fd = fd.ok_or_else(|| Error::new(Status::System, "no descriptor came with the answer of the first rank"))?;
    match Segment::join(fd, answer.plan, place.me, hello.rank) {
        Ok(segment) => {
            let _ = stream.write_all(&[1]);
            receive_answer(&mut stream, deadline, first)?;
            Ok(segment)
        }
        Err(error) => {
            let _ = stream.write_all(&[0]).and_then(|()| stream.write_all(error.text.as_bytes()));
            Err(error)
        }
    }
}

fn receive_answer(stream: &mut UnixStream, deadline: Instant, first: u32) -> Result<(Answer, Option<OwnedFd>)> {
    let mut bytes = [0u8; size_of::<Answer>()];
    let (mut have, mut fd) = (0, None);
    while have < bytes.len() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let text = format!("rank {first} does not answer in corten_init (CORTEN_INIT_TIMEOUT)");
            return Err(Error::new(Status::Timeout, text));
        }
        sys::wait_for(&mut [PollFd::readable(stream.as_raw_fd())], left.min(Duration::from_secs(1)));
        match sys::receive_descriptor(stream, &mut bytes[have..]) {
            Ok((0, _)) => return Err(Error::new(Status::Peer, format!("rank {first} ended during corten_init"))),
            Ok((n, carried)) => {
                have += n;
                fd = fd.or(carried);
            }
            Err(e) if matches!(e.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::Interrupted) => {}
            Err(e) => return Err(io(&format!("talking to rank {first} in corten_init"), &e)),
        }
    }
    let answer: Answer = from_bytes(&bytes);
    if answer.failed != 0 {
        let text = receive(stream, answer.failed as usize, deadline, first)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let known = [Status::Argument, Status::State, Status::Mismatch, Status::Peer, Status::Timeout];
        let status = known.into_iter().find(|s| *s as u32 == answer.status).unwrap_or(Status::System);
        return Err(Error::new(status, text));
    }
    Ok((answer, fd))
}
