"""Products whose results are known exactly, each after a mark on stderr.

Argument: numpy or scipy. The mark is `== routine description`; the driver looks for the
routine's CORTEN_VERBOSE line between it and the next mark. Entries are small integers,
so every right product is exact in any order of summation, and is compared with NumPy's
own integer product, which uses no BLAS.
"""

import sys

import numpy as np

SIZE = 300
rng = np.random.default_rng(1)


def draw(letter):
    """A matrix of small integers: as the type of that letter, and exactly."""
    whole = rng.integers(-4, 5, (2, SIZE, SIZE))
    if letter in "sd":
        return whole[0].astype({"s": np.float32, "d": np.float64}[letter]), whole[0], 0 * whole[1]
    dtype = {"c": np.complex64, "z": np.complex128}[letter]
    return (whole[0] + 1j * whole[1]).astype(dtype), whole[0], whole[1]


def exact(re, im, re2, im2):
    return re @ re2 - im @ im2, re @ im2 + im @ re2


def mark(text):
    sys.stderr.write(f"== {text}\n")
    sys.stderr.flush()


def must_equal(got, re, im, what):
    if not (np.array_equal(got.real, re) and np.array_equal(got.imag, im)):
        sys.exit(f"{what}: wrong result")


def products(multiply):
    for letter in "sdcz":
        a, *exact_a = draw(letter)
        b, *exact_b = draw(letter)
        mark(f"{letter}gemm product of two {a.dtype} matrices")
        must_equal(multiply(letter, a, b), *exact(*exact_a, *exact_b), f"{letter}gemm")


def with_numpy():
    products(lambda letter, a, b: a @ b)
    for letter in "sd":
        a, re, im = draw(letter)
        mark(f"{letter}syrk a matrix times its own transpose")
        must_equal(a @ a.T, *exact(re, im, re.T, im.T), f"{letter}syrk")


def with_scipy():
    import scipy.linalg.blas as blas

    products(lambda letter, a, b: getattr(blas, f"{letter}gemm")(1, a, b))
    for letter in "dz":
        a, re, im = draw(letter)
        unit = [np.tril(part, -1) for part in (re, im)]
        unit[0] = unit[0] + np.eye(SIZE, dtype=int)
        mark(f"{letter}trmm triangular product")
        got = getattr(blas, f"{letter}trmm")(1, a, a, lower=1, diag=1)
        must_equal(got, *exact(*unit, re, im), f"{letter}trmm")


{"numpy": with_numpy, "scipy": with_scipy}[sys.argv[1]]()
# Solvers go through LAPACK; what is asked of them is a small residual.
a = rng.standard_normal((600, 600))
x = np.linalg.solve(a, a @ np.ones((600, 3)))
if not np.abs(x - 1).max() < 1e-8:
    sys.exit("solve: wrong result")
