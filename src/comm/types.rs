//! What a collective is called with, and what it answers when it cannot.

pub use crate::kernels::fold::{Element, Fold, Join};

pub use crate::status::{Error, Result, Status};

/// How elements of several ranks become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Op {
    Sum,
    Average,
    Min,
    Max,
    Product,
    Adasum,
}

impl Op {
    pub const ALL: [Op; 6] = [Op::Sum, Op::Average, Op::Min, Op::Max, Op::Product, Op::Adasum];
    pub fn name(self) -> &'static str {
        match self {
            Op::Sum => "sum",
            Op::Average => "average",
            Op::Min => "min",
            Op::Max => "max",
            Op::Product => "product",
            Op::Adasum => "adasum",
        }
    }
    /// Adasum joins by an algorithm of its own.
    pub fn join(self) -> Join {
        match self {
            Op::Min => Join::Min,
            Op::Max => Join::Max,
            Op::Product => Join::Product,
            Op::Sum | Op::Average | Op::Adasum => Join::Sum,
        }
    }
}

/// A reduction as the caller asks for it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reduction {
    pub element: Element,
    pub op: Op,
    pub pre: f64,
    pub post: f64,
    /// The 16-bit type in which f32 data travels, if not its own.
    pub wire: Option<Element>,
}

impl Reduction {
    /// The arithmetic of it over `size` ranks.
    pub fn fold(&self, size: usize) -> Fold {
        Fold {
            element: self.wire.unwrap_or(self.element),
            join: self.op.join(),
            pre: self.pre,
            post: self.post,
            parts: if self.op == Op::Average { size as u32 } else { 1 },
            past: 0,
        }
    }
}

/// The collectives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    Barrier,
    Allreduce,
    Allgather,
    Broadcast,
    Alltoall,
    Reducescatter,
    /// A change of the process sets.
    Sets,
    /// A round of the negotiation of named tensors.
    Round,
    /// A call whose arguments this rank found to be wrong: the others must not wait for it.
    Refused,
    /// What each rank meant, told when they disagree.
    Dispute,
}

impl Kind {
    pub const ALL: [Kind; 10] = [
        Kind::Barrier,
        Kind::Allreduce,
        Kind::Allgather,
        Kind::Broadcast,
        Kind::Alltoall,
        Kind::Reducescatter,
        Kind::Sets,
        Kind::Round,
        Kind::Refused,
        Kind::Dispute,
    ];
    pub fn name(self) -> &'static str {
        match self {
            Kind::Barrier => "barrier",
            Kind::Allreduce => "allreduce",
            Kind::Allgather => "allgather",
            Kind::Broadcast => "broadcast",
            Kind::Alltoall => "alltoall",
            Kind::Reducescatter => "reducescatter",
            Kind::Sets => "change of process sets",
            Kind::Round => "negotiation",
            Kind::Refused => "something with a bad argument",
            Kind::Dispute => "explanation",
        }
    }
}

/// What a rank says about its call, so that all can see whether they agree. Plain bytes: it travels.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct Header {
    kind: u8,
    op: u8,
    element: u8,
    /// 0: the element's own type travels; else 1 + the 16-bit type.
    wire: u8,
    _pad: u32,
    /// Elements of this rank.
    pub count: u64,
    /// Broadcast: the root. Gathers: elements that the output can take. Lists: a hash of the sizes.
    pub aux: u64,
    pub pre: f64,
    pub post: f64,
}

impl Header {
    pub const BYTES: usize = size_of::<Header>();

    pub fn new(kind: Kind, element: Element, count: usize, aux: u64) -> Header {
        let (kind, element) = (kind as u8, element as u8);
        Header { kind, element, count: count as u64, aux, pre: 1.0, post: 1.0, ..Header::default() }
    }
    pub fn reduction(kind: Kind, r: &Reduction, count: usize, aux: u64) -> Header {
        let wire = r.wire.map_or(0, |w| 1 + w as u8);
        Header { op: r.op as u8, wire, pre: r.pre, post: r.post, ..Header::new(kind, r.element, count, aux) }
    }
    pub fn kind(&self) -> Kind {
        Kind::ALL.get(usize::from(self.kind)).copied().unwrap_or(Kind::Barrier)
    }
    /// The reduction that this is the header of an allreduce of.
    pub fn as_reduction(&self) -> Option<Reduction> {
        if self.kind() != Kind::Allreduce {
            return None;
        }
        let wire = match self.wire {
            0 => None,
            w => Some(*Element::ALL.get(usize::from(w) - 1)?),
        };
        let (element, op) = (*Element::ALL.get(usize::from(self.element))?, *Op::ALL.get(usize::from(self.op))?);
        Some(Reduction { element, op, pre: self.pre, post: self.post, wire })
    }
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: integers and floats without gaps.
        unsafe { core::slice::from_raw_parts((&raw const *self).cast(), Header::BYTES) }
    }
    /// The first [`Header::BYTES`] bytes.
    pub fn from_bytes(bytes: &[u8]) -> Header {
        assert!(bytes.len() >= Header::BYTES);
        // SAFETY: any bytes are a header; their number was checked.
        unsafe { bytes.as_ptr().cast::<Header>().read_unaligned() }
    }
    /// Whether it is an allreduce of several tensors, of whose sizes it has a hash.
    fn is_group(&self) -> bool {
        self.kind() == Kind::Allreduce && self.aux != 0
    }
    /// What the caller called.
    fn name(&self) -> &'static str {
        if self.is_group() { "grouped_allreduce" } else { self.kind().name() }
    }
    fn element(&self) -> &'static str {
        Element::ALL.get(usize::from(self.element)).map_or("an unknown type", |e| e.name())
    }
    fn op(&self) -> &'static str {
        Op::ALL.get(usize::from(self.op)).map_or("an unknown operation", |o| o.name())
    }
    fn wire(&self) -> &'static str {
        match self.wire {
            0 => "none",
            w => Element::ALL.get(usize::from(w) - 1).map_or("an unknown type", |e| e.name()),
        }
    }
    /// In what the two calls differ, if they may not: this one of rank `a`, the other of rank `b`.
    fn differs(&self, o: &Header, a: u32, b: u32, details: (&Detail, &Detail)) -> Option<String> {
        let kind = self.kind();
        if self.kind != o.kind {
            return Some(format!("rank {a} calls {}, rank {b} calls {}", self.name(), o.name()));
        }
        // If one of them is a group, the other is one of one tensor.
        let name = if self.is_group() { self.name() } else { o.name() };
        let say = |what: &str, x: String, y: String| {
            (x != y).then(|| format!("{name}: rank {a} has {what} {x}, rank {b} has {what} {y}"))
        };
        let same_count = matches!(kind, Kind::Allreduce | Kind::Broadcast | Kind::Reducescatter);
        let reduces = matches!(kind, Kind::Allreduce | Kind::Reducescatter);
        let parts = || match details.0.differs(details.1) {
            Some(Difference::Length(x, y)) => {
                let tensors = if x == 1 { "tensor" } else { "tensors" };
                Some(format!("{name}: rank {a} has {x} {tensors}, rank {b} has {y}"))
            }
            Some(Difference::At(i, x, y)) => say(&format!("counts[{i}]"), x.to_string(), y.to_string()),
            None => Some(format!("{name}: rank {a} and rank {b} differ in counts")),
        };
        let mut found = say("type", self.element().into(), o.element().into());
        if reduces {
            found = found
                .or_else(|| say("operation", self.op().into(), o.op().into()))
                .or_else(|| say("wire type", self.wire().into(), o.wire().into()))
                .or_else(|| say("prescale factor", self.pre.to_string(), o.pre.to_string()))
                .or_else(|| say("postscale factor", self.post.to_string(), o.post.to_string()));
        }
        // Of a group, the sum of the counts is nothing that the caller gave.
        if kind == Kind::Allreduce && self.aux != o.aux {
            found = found.or_else(parts);
        }
        if same_count {
            found = found.or_else(|| say("count", self.count.to_string(), o.count.to_string()));
        }
        if kind == Kind::Broadcast {
            found = found.or_else(|| say("root", self.aux.to_string(), o.aux.to_string()));
        }
        if kind == Kind::Reducescatter && self.aux != o.aux {
            found = found.or_else(parts);
        }
        if kind == Kind::Sets && self.aux != o.aux {
            let (x, y) = (details.0.as_change(), details.1.as_change());
            let at = match details.0.differs(details.1) {
                // The first number is what is to be done, the same on both; behind it only additions have a list.
                Some(Difference::At(i @ 1.., _, _)) if details.0.numbers()[0] == Detail::ADD => {
                    format!(", from ranks[{}] on", i - 1)
                }
                _ => String::new(),
            };
            found = found.or_else(|| Some(format!("{name}: rank {a} {x}, rank {b} {y}{at}")));
        }
        found
    }
}

/// What a header has only a hash of, or no place for. It is told when the ranks are seen to disagree.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Detail {
    #[default]
    Nothing,
    /// Counts of a list; of a change of sets, what it is ([`Detail::ADD`], [`Detail::REMOVE`]) and the numbers it concerns.
    Numbers(Vec<u64>),
    /// Why a call was refused.
    Reason(String),
}

enum Difference {
    Length(usize, usize),
    At(usize, u64, u64),
}

impl Detail {
    pub const ADD: u64 = 1;
    pub const REMOVE: u64 = 2;

    pub fn counts(counts: impl Iterator<Item = usize>) -> Detail {
        Detail::Numbers(counts.map(|n| n as u64).collect())
    }
    fn numbers(&self) -> &[u64] {
        match self {
            Detail::Numbers(list) => list,
            _ => &[],
        }
    }
    /// Where two lists differ first; `None` if that is nowhere to be seen.
    fn differs(&self, other: &Detail) -> Option<Difference> {
        let (x, y) = (self.numbers(), other.numbers());
        if x.len() != y.len() {
            return Some(Difference::Length(x.len(), y.len()));
        }
        let i = x.iter().zip(y).position(|(x, y)| x != y)?;
        Some(Difference::At(i, x[i], y[i]))
    }
    /// As a change of process sets.
    fn as_change(&self) -> String {
        const SHOWN: usize = 16;
        let (what, list) = self.numbers().split_first().unwrap_or((&0, &[]));
        match (*what, list) {
            (Detail::ADD, list) if list.len() <= SHOWN => format!("adds ranks {list:?}"),
            (Detail::ADD, list) => format!("adds {} ranks, {:?} and so on", list.len(), &list[..SHOWN]),
            (Detail::REMOVE, [id]) => format!("removes set {id}"),
            _ => "does something else".into(),
        }
    }
}

/// What a rank meant, in full.
#[derive(Clone, Debug)]
pub struct Statement {
    pub header: Header,
    pub detail: Detail,
}

impl From<Header> for Statement {
    fn from(header: Header) -> Statement {
        Statement { header, detail: Detail::Nothing }
    }
}

impl Statement {
    /// That this rank takes no part, and why.
    pub fn refusal(reason: &str) -> Statement {
        let header = Header::new(Kind::Refused, Element::U8, 0, 0);
        Statement { header, detail: Detail::Reason(reason.into()) }
    }
    /// As at most so many bytes: what does not fit of the detail is left out.
    pub fn to_bytes(&self, most: usize) -> Vec<u8> {
        let mut bytes = self.header.as_bytes().to_vec();
        let room = most.saturating_sub(bytes.len() + 9);
        match &self.detail {
            Detail::Nothing => {}
            Detail::Numbers(list) => {
                bytes.push(1);
                bytes.extend_from_slice(&(list.len() as u64).to_ne_bytes());
                bytes.extend(list.iter().take(room / 8).flat_map(|n| n.to_ne_bytes()));
            }
            Detail::Reason(text) => {
                bytes.push(2);
                bytes.extend(text.bytes().take(room));
            }
        }
        bytes
    }
    /// Numbers that were left out count as 0 on all ranks, for they have the same room.
    pub fn from_bytes(bytes: &[u8]) -> Option<Statement> {
        let (head, rest) = bytes.split_at_checked(Header::BYTES)?;
        let detail = match rest.split_first() {
            None => Detail::Nothing,
            Some((1, rest)) => {
                let mut numbers = rest.chunks_exact(8).map(|b| u64::from_ne_bytes(b.try_into().unwrap_or([0; 8])));
                let len = numbers.next().unwrap_or(0) as usize;
                let mut list: Vec<u64> = numbers.collect();
                list.resize(len, 0);
                Detail::Numbers(list)
            }
            Some((_, text)) => Detail::Reason(String::from_utf8_lossy(text).into_owned()),
        };
        Some(Statement { header: Header::from_bytes(head), detail })
    }
}

/// Whether all ranks mean the same. Every rank compares the same headers in the same order and so finds the same error.
pub fn agree(headers: &[Header], ranks: &[u32]) -> Result {
    agree_of(headers, |_| &Detail::Nothing, ranks)
}

/// The same of statements, with all that they say.
pub fn agree_in_full(statements: &[Statement], ranks: &[u32]) -> Result {
    let headers: Vec<Header> = statements.iter().map(|s| s.header).collect();
    agree_of(&headers, |i| &statements[i].detail, ranks)
}

fn agree_of<'a>(headers: &[Header], detail: impl Fn(usize) -> &'a Detail, ranks: &[u32]) -> Result {
    let Some(first) = headers.first() else { return Ok(()) };
    let bad = |text: String| Err(Error::new(Status::Mismatch, text));
    // A rank that has refused its call is the reason, whatever the others differ in.
    let refused = |h: &Header| h.kind() == Kind::Refused;
    if let Some(i) = headers.iter().position(refused)
        && let Some(other) = headers.iter().find(|h| !refused(h))
    {
        let reason = match detail(i) {
            Detail::Reason(text) => format!(": {text}"),
            _ => String::new(),
        };
        return bad(format!("{}: rank {} has a bad argument{reason}", other.name(), ranks[i]));
    }
    for (i, h) in headers.iter().enumerate().skip(1) {
        if let Some(text) = first.differs(h, ranks[0], ranks[i], (detail(0), detail(i))) {
            return bad(text);
        }
    }
    if first.kind() == Kind::Allgather {
        let total: u64 = headers.iter().map(|h| h.count).sum();
        if let Some(i) = headers.iter().position(|h| h.aux < total) {
            let room = headers[i].aux;
            return bad(format!("allgather: the ranks give {total} elements, rank {} has room for {room}", ranks[i]));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(a: &Statement, b: &Statement) -> String {
        let most = 200;
        let both = [a, b].map(|s| Statement::from_bytes(&s.to_bytes(most)).unwrap());
        agree_in_full(&both, &[3, 7]).unwrap_err().text
    }

    #[test]
    fn both_values_are_told() {
        let r = Reduction { element: Element::F32, op: Op::Sum, pre: 1.0, post: 1.0, wire: None };
        let group = |counts: &[usize], hash: u64| Statement {
            header: Header::reduction(Kind::Allreduce, &r, counts.iter().sum(), hash),
            detail: Detail::counts(counts.iter().copied()),
        };
        let text = text_of(&group(&[5, 6, 7], 1), &group(&[5, 7, 6], 2));
        assert_eq!(text, "grouped_allreduce: rank 3 has counts[1] 6, rank 7 has counts[1] 7");
        let text = text_of(&group(&[5, 6], 1), &group(&[5, 5, 1], 2));
        assert_eq!(text, "grouped_allreduce: rank 3 has 2 tensors, rank 7 has 3");
        let text = text_of(&group(&[5], 0), &group(&[5, 5, 1], 2));
        assert_eq!(text, "grouped_allreduce: rank 3 has 1 tensor, rank 7 has 3");
        assert_eq!(text_of(&group(&[5], 0), &group(&[6], 0)), "allreduce: rank 3 has count 5, rank 7 has count 6");
        // More than there is room for: what differs is not among what was told.
        let long = |last: usize| (0..1000).chain([last]).collect::<Vec<usize>>();
        let text = text_of(&group(&long(1), 1), &group(&long(2), 2));
        assert_eq!(text, "grouped_allreduce: rank 3 and rank 7 differ in counts");
        let change = |numbers: Vec<u64>, hash: u64| Statement {
            header: Header::new(Kind::Sets, Element::U8, 0, hash),
            detail: Detail::Numbers(numbers),
        };
        let text = text_of(&change(vec![Detail::ADD, 0, 1], 1), &change(vec![Detail::ADD, 0, 2], 2));
        assert_eq!(
            text,
            "change of process sets: rank 3 adds ranks [0, 1], rank 7 adds ranks [0, 2], from ranks[1] on"
        );
        let text = text_of(&change(vec![Detail::ADD, 0], 1), &change(vec![Detail::REMOVE, 4], 2));
        assert_eq!(text, "change of process sets: rank 3 adds ranks [0], rank 7 removes set 4");
        let text = text_of(&change(vec![Detail::REMOVE, 3], 1), &change(vec![Detail::REMOVE, 4], 2));
        assert_eq!(text, "change of process sets: rank 3 removes set 3, rank 7 removes set 4");
    }

    #[test]
    fn a_refusal_is_the_reason() {
        let call = Header::new(Kind::Barrier, Element::U8, 0, 0).into();
        let refused = Statement::refusal("type is 77");
        assert_eq!(text_of(&call, &refused), "barrier: rank 7 has a bad argument: type is 77");
        assert_eq!(text_of(&refused, &call), "barrier: rank 3 has a bad argument: type is 77");
        assert!(agree_in_full(&[refused.clone(), refused], &[0, 1]).is_ok());
    }
}
