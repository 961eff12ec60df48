//! Convolution by its definition, without memory of its own: what is left when there is none to be had.

use super::Epilogue;
use super::problem::Problem;
use crate::kernels::conv::Activation;

/// The source element that a tap of a result meets, if there is one.
fn source(o: usize, k: usize, p: &Problem, d: usize) -> Option<usize> {
    (o * p.stride[d] + k * p.dilation[d]).checked_sub(p.pad[d]).filter(|&i| i < p.input[d])
}

/// Calls `f` for all places of a box.
fn each(size: [usize; 3], mut f: impl FnMut([usize; 3])) {
    for z in 0..size[0] {
        for y in 0..size[1] {
            for x in 0..size[2] {
                f([z, y, x]);
            }
        }
    }
}

fn at(s: [isize; 3], i: [usize; 3]) -> isize {
    (0..3).map(|d| i[d] as isize * s[d]).sum()
}

unsafe fn finish(sum: f32, to: *mut f32, channel: usize, e: &Epilogue) {
    // SAFETY: a result of the problem, and its channel's bias.
    unsafe {
        let mut y = sum;
        if e.beta != 0.0 {
            y += e.beta * *to;
        }
        if !e.bias.is_null() {
            y += *e.bias.add(channel);
        }
        *to = match e.activation {
            Activation::Relu if y < 0.0 => 0.0,
            Activation::Leaky(slope) if y < 0.0 => slope * y,
            _ => y,
        };
    }
}

/// # Safety
/// Tensors of the problem; `y` overlaps neither of the others.
pub unsafe fn forward(p: &Problem, x: *const f32, w: *const f32, y: *mut f32, e: &Epilogue) {
    let (xs, ys, ws) = (p.input_strides(), p.output_strides(), p.filter_strides());
    for n in 0..p.batch {
        for o in 0..p.oc {
            each(p.output, |q| {
                let mut sum = 0.0;
                for i in 0..p.icg() {
                    let channel = o / p.ocg() * p.icg() + i;
                    each(p.kernel, |k| {
                        let [Some(a), Some(b), Some(c)] = [0, 1, 2].map(|d| source(q[d], k[d], p, d)) else { return };
                        // SAFETY: inside the tensors.
                        unsafe {
                            let x = x.offset(n as isize * xs.n + channel as isize * xs.c + at(xs.s, [a, b, c]));
                            let w = w.offset(o as isize * ws.o + i as isize * ws.i + at(ws.s, k));
                            sum += *x * *w;
                        }
                    });
                }
                // SAFETY: inside the tensor.
                unsafe {
                    let to = y.offset(n as isize * ys.n + o as isize * ys.c + at(ys.s, q));
                    finish(sum, to, o, e);
                }
            });
        }
    }
}

/// # Safety
/// Tensors of the problem; `dx` overlaps neither of the others.
pub unsafe fn backward_data(p: &Problem, dy: *const f32, w: *const f32, dx: *mut f32, e: &Epilogue) {
    let (xs, ys, ws) = (p.input_strides(), p.output_strides(), p.filter_strides());
    for n in 0..p.batch {
        for channel in 0..p.ic {
            let (group, i) = (channel / p.icg(), channel % p.icg());
            each(p.input, |q| {
                let mut sum = 0.0;
                for o in group * p.ocg()..(group + 1) * p.ocg() {
                    each(p.kernel, |k| {
                        // The result whose tap k meets this element.
                        let result = |d: usize| {
                            let at = (q[d] + p.pad[d]).checked_sub(k[d] * p.dilation[d])?;
                            (at % p.stride[d] == 0 && at / p.stride[d] < p.output[d]).then(|| at / p.stride[d])
                        };
                        let [Some(a), Some(b), Some(c)] = [0, 1, 2].map(result) else { return };
                        // SAFETY: inside the tensors.
                        unsafe {
                            let dy = dy.offset(n as isize * ys.n + o as isize * ys.c + at(ys.s, [a, b, c]));
                            let w = w.offset(o as isize * ws.o + i as isize * ws.i + at(ws.s, k));
                            sum += *dy * *w;
                        }
                    });
                }
                // SAFETY: inside the tensor.
                unsafe {
                    let to = dx.offset(n as isize * xs.n + channel as isize * xs.c + at(xs.s, q));
                    finish(sum, to, channel, e);
                }
            });
        }
    }
}

/// # Safety
/// Tensors of the problem; `dw` overlaps neither of the others.
pub unsafe fn backward_weights(p: &Problem, x: *const f32, dy: *const f32, dw: *mut f32, beta: f32) {
    let (xs, ys, ws) = (p.input_strides(), p.output_strides(), p.filter_strides());
    for o in 0..p.oc {
        for i in 0..p.icg() {
            let channel = o / p.ocg() * p.icg() + i;
            each(p.kernel, |k| {
                let mut sum = 0.0;
                for n in 0..p.batch {
                    // The sum of one image first: the error does not grow with the batch.
                    let mut image = 0.0;
                    each(p.output, |q| {
                        let [Some(a), Some(b), Some(c)] = [0, 1, 2].map(|d| source(q[d], k[d], p, d)) else { return };
                        // SAFETY: inside the tensors.
                        unsafe {
                            let x = x.offset(n as isize * xs.n + channel as isize * xs.c + at(xs.s, [a, b, c]));
                            let dy = dy.offset(n as isize * ys.n + o as isize * ys.c + at(ys.s, q));
                            image += *x * *dy;
                        }
                    });
                    sum += image;
                }
                // SAFETY: inside the tensor.
                unsafe {
                    let to = dw.offset(o as isize * ws.o + i as isize * ws.i + at(ws.s, k));
                    *to = if beta == 0.0 { sum } else { sum + beta * *to };
                }
            });
        }
    }
}
