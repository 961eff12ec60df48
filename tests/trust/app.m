# Product, solution, decompositions of Octave, with residuals; called by apps.py.
function near_zero (what, r, bound)
  worst = max (abs (r(:)));
  if (! (worst <= bound))   # NaN is not
    error ("%s: residual %g", what, worst);
  endif
endfunction

if (isempty (strfind (fileread ("/proc/self/maps"), getenv ("TRUST_LIBRARY"))))
  error ("the library under test is not mapped");
endif

rand ("seed", 1);
randn ("seed", 1);
n = 200;
a = floor (9 * rand (n)) - 4;
b = floor (9 * rand (n)) - 4;
# Small integers: exact, so compare with sums that use no BLAS.
near_zero ("product", (a*b)(7,11) - sum (a(7,:) .* b(:,11)'), 0);
near_zero ("product", sum (a*b, 2) - sum (a .* sum (b, 2)', 2), 0);
near_zero ("single product", double (single (a) * single (b)) - a*b, 0);
near_zero ("symmetric product", a'*a - (a') * (a + 0), 0);
m = randn (n);
near_zero ("solve", m * (m \ b) - b, 1e-7);
[u, s, v] = svd (m);
near_zero ("svd", u*s*v' - m, 1e-9);
[v, l] = eig (m + m');
near_zero ("eig", v*l*v' - (m + m'), 1e-9);
[v, l] = eig (m);
near_zero ("eig, not symmetric", m*v - v*l, 1e-9);
[q, r] = qr (m);
near_zero ("qr", q*r - m, 1e-9);
r = chol (m'*m);
near_zero ("chol", r'*r - m'*m, 1e-9);
z = complex (a, b);
near_zero ("complex product", z*z - complex (a*a - b*b, a*b + b*a), 0);
disp ("all right");
