# Product, solution, decompositions of R, with residuals; called by apps.py.
near_zero <- function(what, r, bound = 1e-9) {
  if (!is.finite(max(abs(r))) || max(abs(r)) > bound) stop(what, ": residual ", max(abs(r)))
}
if (!any(grepl(Sys.getenv("TRUST_LIBRARY"), readLines("/proc/self/maps"), fixed = TRUE)))
  stop("the library under test is not mapped")

set.seed(1)
n <- 200
a <- matrix(sample(-4:4, n * n, replace = TRUE), n)
storage.mode(a) <- "double"
b <- matrix(sample(-4:4, n * n, replace = TRUE), n)
storage.mode(b) <- "double"
# Small integers: exact, so compare with sums that use no BLAS.
near_zero("product", (a %*% b)[7, 11] - sum(a[7, ] * b[, 11]), 0)
near_zero("product", rowSums(a %*% b) - as.vector(sapply(1:n, function(i) sum(a[i, ] * rowSums(b)))), 0)
near_zero("crossprod", crossprod(a, b) - t(a) %*% b, 0)
near_zero("crossprod", crossprod(a) - t(a) %*% a, 0)
m <- matrix(rnorm(n * n), n)
near_zero("solve", m %*% solve(m, b) - b, 1e-7)
s <- svd(m)
near_zero("svd", s$u %*% diag(s$d) %*% t(s$v) - m)
e <- eigen(m + t(m), symmetric = TRUE)
near_zero("eigen", e$vectors %*% diag(e$values) %*% t(e$vectors) - (m + t(m)))
e <- eigen(m)
near_zero("eigen, not symmetric", m %*% e$vectors - e$vectors %*% diag(e$values))
q <- qr(m, LAPACK = TRUE)
near_zero("qr", qr.Q(q) %*% qr.R(q) - m[, q$pivot])
near_zero("chol", crossprod(chol(crossprod(m))) - crossprod(m))
z <- matrix(complex(real = a, imaginary = b), n)
near_zero("complex product", Mod(z %*% z - ((a %*% a - b %*% b) + 1i * (a %*% b + b %*% a))), 0)
cat("all right\n")
