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
}

impl Kind {
    pub const ALL: [Kind; 9] = [
        Kind::Barrier,
        Kind::Allreduce,
        Kind::Allgather,
        Kind::Broadcast,
        Kind::Alltoall,
        Kind::Reducescatter,
        Kind::Sets,
        Kind::Round,
        Kind::Refused,
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
    fn element(&self) -> &'static str {
        Element::ALL.get(usize::from(self.element)).map_or("an unknown type", |e| e.name())
    }
    fn op(&self) -> &'static str {
        Op::ALL.get(usize::from(self.op)).map_or("an unknown operation", |o| o.name())
    }
    fn wire(&self) -> &'static str {
        match self.wire {
            0 => "its own type",
            w => Element::ALL.get(usize::from(w) - 1).map_or("an unknown type", |e| e.name()),
        }
    }
    /// In what the two calls differ, if they may not: this one of rank `a`, the other of rank `b`.
    fn differs(&self, o: &Header, a: u32, b: u32) -> Option<String> {
        let kind = self.kind();
        if self.kind != o.kind {
            return Some(format!("rank {a} calls {}, rank {b} calls {}", kind.name(), o.kind().name()));
        }
        let say = |what: &str, x: String, y: String| {
            (x != y).then(|| format!("{}: rank {a} has {what} {x}, rank {b} has {what} {y}", kind.name()))
        };
        let same_count = matches!(kind, Kind::Allreduce | Kind::Broadcast | Kind::Reducescatter);
        let reduces = matches!(kind, Kind::Allreduce | Kind::Reducescatter);
        let mut found = say("type", self.element().into(), o.element().into());
        if reduces {
            found = found
                .or_else(|| say("operation", self.op().into(), o.op().into()))
                .or_else(|| say("wire type", self.wire().into(), o.wire().into()))
                .or_else(|| say("prescale factor", self.pre.to_string(), o.pre.to_string()))
                .or_else(|| say("postscale factor", self.post.to_string(), o.post.to_string()));
        }
        if same_count {
            found = found.or_else(|| say("count", self.count.to_string(), o.count.to_string()));
        }
        if kind == Kind::Broadcast {
            found = found.or_else(|| say("root", self.aux.to_string(), o.aux.to_string()));
        }
        if (reduces || kind == Kind::Sets) && self.aux != o.aux {
            let what = if kind == Kind::Sets { "arguments" } else { "sizes of the parts" };
            found = found.or_else(|| Some(format!("{}: rank {a} and rank {b} differ in the {what}", kind.name())));
        }
        found
    }
}

/// Whether all ranks mean the same. Every rank compares the same headers in the same order and so finds the same error.
pub fn agree(headers: &[Header], ranks: &[u32]) -> Result {
    for (h, rank) in headers.iter().zip(ranks).skip(1) {
        if let Some(text) = headers[0].differs(h, ranks[0], *rank) {
            return Err(Error::new(Status::Mismatch, text));
        }
    }
    if matches!(headers[0].kind(), Kind::Allgather) {
        let total: u64 = headers.iter().map(|h| h.count).sum();
        if let Some(i) = headers.iter().position(|h| h.aux < total) {
            let text = format!(
                "allgather: the ranks give {total} elements, rank {} has room for {}",
                ranks[i], headers[i].aux
            );
            return Err(Error::new(Status::Mismatch, text));
        }
    }
    Ok(())
}
