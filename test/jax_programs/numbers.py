"""Functions of numbers: jax.numpy, jax.scipy, jax.nn and jax.random."""

from typing import Any

import numpy as np
from peers import has_jax

from jax_programs.program import EXACT, FUNCTIONS, SUMS, Bound, JaxProgram

if has_jax():
    import jax
    import jax.numpy as jnp
    import jax.scipy as jsp
    from jax import lax

RANDOM = np.random.default_rng(3)
X = RANDOM.standard_normal((4, 6)).astype(np.float32)
POSITIVE = np.abs(X) + np.float32(0.25)
UNIT = RANDOM.uniform(0.05, 0.95, (4, 6)).astype(np.float32)
N = RANDOM.integers(-40, 40, (4, 6), dtype=np.int32)
KEY = np.array([3, 14], np.uint32)


def gamma_functions(x: Any, u: Any) -> Any:
    """The gamma function and what is made of it."""
    special = jsp.special
    return (
        *(f(x) for f in (special.gammaln, special.digamma, special.factorial)),
        *(special.beta(x, u), special.betaln(x, u), special.gamma(x), special.poch(x, u)),
    )


def incomplete_integrals(x: Any, u: Any) -> Any:
    """Series and continued fractions, in loops that stop when they have converged."""
    special = jsp.special
    return (
        special.gammainc(x, u),
        special.gammaincc(x, u),
        special.betainc(x, x + 1, u),
        special.expi(x),
        special.expn(2, x),
        special.zeta(x + 1, u),
        special.polygamma(1, x),
    )


def error_functions(x: Any, u: Any) -> Any:
    """The normal distribution and its relatives."""
    special = jsp.special
    return (
        *(f(x) for f in (special.erf, special.erfc, special.ndtr, special.log_ndtr)),
        *(f(u) for f in (special.ndtri, special.erfinv, special.logit, special.entr)),
        *(special.expit(x), special.xlogy(u, u), special.xlog1py(x, u), special.rel_entr(u, u + 1)),
    )


def bessel_functions(x: Any) -> Any:
    """Chebyshev series."""
    special = jsp.special
    functions = (special.i0, special.i0e, special.i1, special.i1e, special.bessel_jn)
    return *(f(x) for f in functions[:4]), special.bessel_jn(x[0], v=2), special.spence(jnp.abs(x))


def distributions(x: Any, u: Any) -> Any:
    """Densities, and the sums that fit them."""
    stats = jsp.stats
    return (
        stats.norm.logpdf(x, 0.5, 2),
        stats.norm.cdf(x),
        stats.norm.ppf(u),
        stats.t.logpdf(x, 3.0),
        stats.gamma.logpdf(u, 2.5),
        stats.beta.pdf(u, 1.5, 2.5),
        stats.expon.pdf(u),
        stats.laplace.cdf(x),
        stats.logistic.sf(x),
        stats.cauchy.pdf(x),
        stats.poisson.logpmf(jnp.arange(6), 2.5),
        stats.bernoulli.logpmf(jnp.array([0, 1, 1]), 0.3),
        stats.multivariate_normal.logpdf(x[:, :2], jnp.zeros(2), jnp.eye(2) * 2),
    )


def statistics(x: Any) -> Any:
    """Moments, quantiles and histograms."""
    return (
        *(x.mean(), x.var(0), x.std(1, ddof=1), jnp.cov(x), jnp.corrcoef(x)),
        *(jnp.quantile(x, jnp.array([0.1, 0.5, 0.9])), jnp.percentile(x, 30, axis=1)),
        *(jnp.median(x, 0), jnp.nanmean(x), jnp.ptp(x, 0), jsp.special.logsumexp(x, 1)),
        *(jnp.average(x, 0, weights=jnp.arange(4.0)), jnp.histogram(x, 5, (-2, 2))[0]),
        *(jnp.bincount(jnp.abs(x[0]).astype(int), length=4), jnp.digitize(x, jnp.arange(3.0))),
    )


def activations(x: Any) -> Any:
    """All of jax.nn that is a function of one array."""
    nn = jax.nn
    functions = (
        *(nn.relu, nn.relu6, nn.sigmoid, nn.softplus, nn.soft_sign, nn.silu, nn.log_sigmoid),
        *(nn.leaky_relu, nn.hard_sigmoid, nn.hard_silu, nn.hard_tanh, nn.elu, nn.celu, nn.selu),
        *(nn.gelu, nn.mish, nn.squareplus, nn.sparse_plus, nn.softmax, nn.log_softmax),
        *(nn.standardize, nn.glu),
    )
    return *(f(x) for f in functions), nn.gelu(x, approximate=False), nn.one_hot(N[0] % 3, 3)


def attention(x: Any) -> Any:
    """With a mask, and several heads."""
    heads = x.reshape(1, 4, 3, 2)
    return jax.nn.dot_product_attention(heads, heads * 0.5, heads - 1, is_causal=True)


def uniform_and_integers(key: Any) -> Any:
    """Draws that are bits, compared or shifted."""
    first, second = jax.random.split(key)
    return (
        jax.random.bits(first, (3,), np.uint8),
        jax.random.randint(first, (5,), -3, 9),
        jax.random.bernoulli(second, 0.3, (6,)),
        jax.random.choice(first, jnp.arange(7.0), (4,)),
        jax.random.permutation(second, jnp.arange(9)),
        jax.random.uniform(jax.random.fold_in(key, 5), (4,), minval=-1),
        jax.random.categorical(first, jnp.log(jnp.array([0.1, 0.7, 0.2])), shape=(5,)),
    )


def distributed_draws(key: Any) -> Any:
    """Draws by functions of uniform ones, and by rejection."""
    random = jax.random
    return (
        random.normal(key, (3, 2)),
        random.truncated_normal(key, -1, 2, (4,)),
        random.exponential(key, (4,)),
        random.gumbel(key, (4,)),
        random.laplace(key, (4,)),
        random.cauchy(key, (3,)),
        random.gamma(key, 2.5, (3,)),
        random.dirichlet(key, jnp.ones(3)),
        random.poisson(key, 3.0, (4,)),
    )


def hardware_generator(key: Any) -> Any:
    """Keys of the generator that is one operation of XLA."""
    return jax.random.bits(jax.random.wrap_key_data(key, impl="rbg"), (2, 5))


def polynomials(x: Any) -> Any:
    """Polynomials, differences, integrals and interpolation."""
    return (
        jnp.polyval(jnp.array([1.0, -2, 3]), x),
        jnp.polymul(x[0, :3], x[1, :3]),
        jnp.polyder(x[0]),
        jnp.interp(x, jnp.arange(-3.0, 4), jnp.arange(7.0) ** 2),
        jnp.diff(x, axis=1),
        jnp.trapezoid(x, dx=0.5),
        jnp.gradient(x)[0],
        jnp.convolve(x[0], x[1, :3], "same"),
        jnp.cross(x[:, :3], x[:, 3:]),
        jnp.vander(x[0], 3),
    )


def rounding(y: Any) -> Any:
    """Remainders, quotients and parts, which do not round."""
    return (
        *(jnp.floor_divide(y, 0.5), jnp.mod(y, 0.75), jnp.fmod(y, 0.75), jnp.modf(y)),
        *(jnp.rint(y), jnp.trunc(y), jnp.frexp(y), jnp.ldexp(y, 3), jnp.nextafter(y, 0.0)),
        *(jnp.copysign(y, -1.0), jnp.signbit(y), jnp.heaviside(y, 0.5), jnp.clip(y, -1, 1)),
        *(jnp.nan_to_num(y / 0), jnp.isclose(y, y + 1e-9), jnp.spacing(y), jnp.fmax(y, 0)),
    )


def integers(n: Any) -> Any:
    """Integer functions that jax.numpy makes of several operations."""
    return (
        *(n // 7, n % 7, -n // 3, jnp.gcd(n, 12), jnp.lcm(n, 4), jnp.power(n, 3), jnp.abs(n)),
        *(jnp.bitwise_count(n), jnp.left_shift(n, 3), n >> 2, jnp.float_power(2.0, 3)),
        *(jnp.packbits(n > 0), jnp.unpackbits(n[0].astype(jnp.uint8)), jnp.sign(n), n.clip(-3, 3)),
        *(lax.clz(n), lax.population_count(n), jnp.invert(n), jnp.divmod(n, -5)),
    )


def programs() -> dict[str, JaxProgram]:
    """By name."""
    series = Bound(256, "series of dozens of terms, and differences of logarithms of gamma")
    return {
        "gamma_functions": JaxProgram(gamma_functions, (POSITIVE, UNIT), bound=series),
        "incomplete_integrals": JaxProgram(
            incomplete_integrals, (POSITIVE[:2] + 1, UNIT[:2]), bound=series
        ),
        "error_functions": JaxProgram(error_functions, (X, UNIT)),
        "bessel_functions": JaxProgram(bessel_functions, (X,), bound=SUMS),
        "distributions": JaxProgram(distributions, (X, UNIT), bound=SUMS),
        "statistics": JaxProgram(statistics, (X,), bound=SUMS),
        "activations": JaxProgram(activations, (X,)),
        "attention": JaxProgram(attention, (X,), bound=SUMS),
        "random_uniform": JaxProgram(uniform_and_integers, (KEY,), bound=EXACT),
        "random_distributions": JaxProgram(distributed_draws, (KEY,), bound=SUMS),
        "random_rbg": JaxProgram(hardware_generator, (np.arange(4, dtype=np.uint32),), bound=EXACT),
        "polynomials": JaxProgram(polynomials, (X,), bound=SUMS),
        "rounding": JaxProgram(rounding, (X * 3,), bound=EXACT),
        "integers": JaxProgram(integers, (N,), bound=EXACT),
        "trigonometry": JaxProgram(
            lambda x, u: (
                *(f(u) for f in (jnp.arcsin, jnp.arccos, jnp.arctanh, jnp.tan, jnp.sinc)),
                *(f(x) for f in (jnp.sinh, jnp.cosh, jnp.arcsinh, jnp.arctan, jnp.deg2rad)),
                *(jnp.arccosh(u + 1), jnp.hypot(x, u), jnp.logaddexp(x, u), jnp.exp2(x)),
                *(jnp.log2(u), jnp.log10(u), jnp.arctan2(x, u), jnp.unwrap(x[0] * 5), jnp.i0(x)),
            ),
            (X, UNIT),
            bound=FUNCTIONS,
        ),
        "complex_functions": JaxProgram(
            lambda x, u: [
                f(lax.complex(x, u))
                for f in (
                    *(jnp.exp, jnp.log, jnp.sqrt, jnp.sin, jnp.cosh, jnp.tanh, jnp.square),
                    *(jnp.abs, jnp.angle, jnp.conj, lambda z: z**2.5, lambda z: z / (1 + z)),
                    *(lambda z: z.sum(0), lambda z: z @ z.T, lambda z: z.prod(1), jnp.arcsin),
                )
            ],
            (X, UNIT),
            bound=SUMS,
        ),
    }
