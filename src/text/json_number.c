/* json_number.c - converts numbers to text and back, exactly.

   Reading: the decimal is multiplied by a 128-bit power of ten (Eisel and Lemire's method). If that
   cannot decide the last bit, big integers do. Writing: the shortest decimal in the double's
   rounding interval (Giulietti's Schubfach). Both use one table of powers, which is kept small:
   10^k is 10^(27 b) * 5^j * 2^j, cut to 128 bits, with a stored correction of its last bits. All
   arithmetic uses integers, so x87 cannot round twice. */
#include "text/json_in.h"

/* for 19 digits; with a smaller power the value rounds to zero */
#define PHI__JSON_POW_LEAST (-342)
#define PHI__JSON_POW_MOST 324     /* the largest power that writing needs */
#define PHI__JSON_POW_FIRST (-351) /* power of the first base; a multiple of 27 */

/* The upper 128 bits of 10^-351, 10^-324, ..., 10^324, as two words each. */
static const uint64_t phi__json_pow_base[52] = {
    UINT64_C(0x8049a4ac0c5811ae), UINT64_C(0x205b896d777d6278), UINT64_C(0xcf42894a5dce35ea),
    UINT64_C(0x52064cac828675b9), UINT64_C(0xa76c582338ed2621), UINT64_C(0xaf2af2b80af6f24e),
    UINT64_C(0x873e4f75e2224e68), UINT64_C(0x5a7744a6e804a291), UINT64_C(0xda7f5bf590966848),
    UINT64_C(0xaf39a475506a899e), UINT64_C(0xb080392cc4349dec), UINT64_C(0xbd8d794d96aacfb3),
    UINT64_C(0x8e938662882af53e), UINT64_C(0x547eb47b7282ee9c), UINT64_C(0xe65829b3046b0afa),
    UINT64_C(0x0cb4a5a3112a5112), UINT64_C(0xba121a4650e4ddeb), UINT64_C(0x92f34d62616ce413),
    UINT64_C(0x964e858c91ba2655), UINT64_C(0x3a6a07f8d510f86f), UINT64_C(0xf2d56790ab41c2a2),
    UINT64_C(0xfae27299423fb9c3), UINT64_C(0xc428d05aa4751e4c), UINT64_C(0xaa97e14c3c26b886),
    UINT64_C(0x9e74d1b791e07e48), UINT64_C(0x775ea264cf55347d), UINT64_C(0x8000000000000000),
    UINT64_C(0x0000000000000000), UINT64_C(0xcecb8f27f4200f3a), UINT64_C(0x0000000000000000),
    UINT64_C(0xa70c3c40a64e6c51), UINT64_C(0x999090b65f67d924), UINT64_C(0x86f0ac99b4e8dafd),
    UINT64_C(0x69a028bb3ded71a3), UINT64_C(0xda01ee641a708de9), UINT64_C(0xe80e6f4820cc9495),
    UINT64_C(0xb01ae745b101e9e4), UINT64_C(0x5ec05dcff72e7f8f), UINT64_C(0x8e41ade9fbebc27d),
    UINT64_C(0x14588f13be847307), UINT64_C(0xe5d3ef282a242e81), UINT64_C(0x8f1668c8a86da5fa),
    UINT64_C(0xb9a74a0637ce2ee1), UINT64_C(0x6d953e2bd7173692), UINT64_C(0x95f83d0a1fb69cd9),
    UINT64_C(0x4abdaf101564f98e), UINT64_C(0xf24a01a73cf2dccf), UINT64_C(0xbc633b39673c8cec),
    UINT64_C(0xc3b8358109e84f07), UINT64_C(0x0a862f80ec4700c8), UINT64_C(0x9e19db92b4e31ba9),
    UINT64_C(0x6c07a2c26a8346d1)};
/* 5^0 to 5^26, each shifted so that its highest bit is set. */
static const uint64_t phi__json_pow_five[27] = {
    UINT64_C(0x8000000000000000), UINT64_C(0xa000000000000000), UINT64_C(0xc800000000000000),
    UINT64_C(0xfa00000000000000), UINT64_C(0x9c40000000000000), UINT64_C(0xc350000000000000),
    UINT64_C(0xf424000000000000), UINT64_C(0x9896800000000000), UINT64_C(0xbebc200000000000),
    UINT64_C(0xee6b280000000000), UINT64_C(0x9502f90000000000), UINT64_C(0xba43b74000000000),
    UINT64_C(0xe8d4a51000000000), UINT64_C(0x9184e72a00000000), UINT64_C(0xb5e620f480000000),
    UINT64_C(0xe35fa931a0000000), UINT64_C(0x8e1bc9bf04000000), UINT64_C(0xb1a2bc2ec5000000),
    UINT64_C(0xde0b6b3a76400000), UINT64_C(0x8ac7230489e80000), UINT64_C(0xad78ebc5ac620000),
    UINT64_C(0xd8d726b7177a8000), UINT64_C(0x878678326eac9000), UINT64_C(0xa968163f0a57b400),
    UINT64_C(0xd3c21bcecceda100), UINT64_C(0x84595161401484a0), UINT64_C(0xa56fa5b99019a5c8)};
/* Corrections of the computed powers: two bits for each power, beginning with 10^-342. */
static const uint32_t phi__json_pow_more[42] = {
    0x55555551u, 0x15010004u, 0x41450500u, 0x00014000u, 0x44541005u, 0x95655559u, 0x44544116u,
    0x41055405u, 0x96525555u, 0x10415515u, 0x41054005u, 0x40104044u, 0x10040015u, 0x00000000u,
    0x55400000u, 0x95515569u, 0x50401165u, 0x00100000u, 0x15051554u, 0x45155441u, 0x51055195u,
    0x00000454u, 0x00000000u, 0x00000000u, 0x00000000u, 0x00000000u, 0x55590000u, 0x969965a5u,
    0x55455505u, 0x50501555u, 0x14545511u, 0x00105555u, 0x00110100u, 0x55155410u, 0x45545455u,
    0x44150504u, 0x00015414u, 0x00100000u, 0x00400000u, 0x00000004u, 0x00000000u, 0x00000000u};

#if defined(__SIZEOF_INT128__)
__extension__ typedef unsigned __int128 phi__json_u128;
#endif

/* Returns the upper half of a * b, and sets *low to the lower half. */
static inline uint64_t phi__number_mul(uint64_t a, uint64_t b, uint64_t *low) {
#if defined(__SIZEOF_INT128__)
    phi__json_u128 product = (phi__json_u128)a * b;
    *low = (uint64_t)product;
    return (uint64_t)(product >> 64);
#else
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0;
    uint64_t middle = (p00 >> 32) + (uint32_t)p01 + (uint32_t)p10;
    *low = (middle << 32) | (uint32_t)p00;
    return a1 * b1 + (p01 >> 32) + (p10 >> 32) + (middle >> 32);
#endif
}

/* n must not be 0. */
static inline int phi__number_leading_zeros(uint64_t n) {
#if defined(__GNUC__)
    return __builtin_clzll(n);
#else
    int zeros = 0, step;
    for (step = 32; step > 0; step /= 2)
        if (n >> (64 - step) == 0) {
            zeros += step;
            n <<= step;
        }
    return zeros;
#endif
}

/* Returns floor(log2(10^k)), for |k| <= 1233. */
static inline int phi__number_log2_pow10(int k) {
    return (int)(((int64_t)k * 1741647 + ((int64_t)1 << 40)) >> 19) - (1 << 21);
}

typedef struct phi__json_pow {
    uint64_t high, low;
} phi__json_pow;

/* Returns the upper 128 bits of 10^k, rounded down. */
static phi__json_pow phi__number_pow10(int k) {
    unsigned from = (unsigned)(k - PHI__JSON_POW_FIRST), at = (unsigned)(k - PHI__JSON_POW_LEAST);
    const uint64_t *base = phi__json_pow_base + from / 27 * 2;
    uint64_t five = phi__json_pow_five[from % 27], lowest;
    phi__json_pow out;
    out.high = phi__number_mul(base[0], five, &out.low);
    uint64_t middle = phi__number_mul(base[1], five, &lowest);
    out.low += middle;
    out.high += out.low < middle;
    if (out.high >> 63 == 0) {
        out.high = out.high << 1 | out.low >> 63;
        out.low = out.low << 1 | lowest >> 63;
    }
    uint64_t more = phi__json_pow_more[at / 16] >> at % 16 * 2 & 3u;
    out.low += more;
    out.high += out.low < more;
    return out;
}

/* ---- reading ---- */

typedef struct phi__json_decimal {
    const char *digits, *end; /* all digits, with a decimal point among them */
    uint64_t w;               /* the first 19 significant digits */
    int k;                    /* the value is about w * 10^k */
    bool cut, negative;       /* cut: w does not have all digits */
} phi__json_decimal;

/* Computes the double of w * 10^k. False: the result is uncertain, infinite or tiny. */
static bool phi__number_fast(uint64_t w, int k, uint64_t *bits) {
    int shift = phi__number_leading_zeros(w);
    phi__json_pow p = phi__number_pow10(k);
    uint64_t low, low2;
    w <<= shift;
    uint64_t high = phi__number_mul(w, p.high, &low);
    if ((high & 0x1ff) == 0x1ff && low + w < w) {
        uint64_t high2 = phi__number_mul(w, p.low, &low2);
        low += high2;
        if (low < high2) high++;
        if ((high & 0x1ff) == 0x1ff && low + 1 == 0 && low2 + w < w) return false;
    }
    int top = (int)(high >> 63);
    uint64_t m = high >> (top + 9);
    int64_t exponent = phi__number_log2_pow10(k) - shift + top + 11 + 1075;
    if (low == 0 && (high & 0x1ff) == 0 && (m & 3) == 1) return false;
    m = (m + (m & 1)) >> 1;
    if (m >> 53 != 0) {
        m >>= 1;
        exponent++;
    }
    if (exponent < 1 || exponent > 2046) return false;
    *bits = (uint64_t)exponent << 52 | (m & ((UINT64_C(1) << 52) - 1));
    return true;
}

#define PHI__JSON_LIMBS 128  /* limbs of 32 bits; at most 86 are needed */
#define PHI__JSON_DIGITS 772 /* more than the middle between two doubles can have (767) */

typedef struct phi__json_big {
    uint32_t limb[PHI__JSON_LIMBS]; /* lowest first */
    unsigned count;
} phi__json_big;

static void phi__number_big_mul(phi__json_big *big, uint32_t by, uint32_t add) {
    uint64_t carry = add;
    for (unsigned i = 0; i < big->count; i++) {
        carry += (uint64_t)big->limb[i] * by;
        big->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) {
        PHI_ASSERT(big->count < PHI__JSON_LIMBS);
        big->limb[big->count++] = (uint32_t)carry;
    }
}

static void phi__number_big_shift(phi__json_big *big, unsigned bits) {
    unsigned limbs = bits / 32;
    phi__number_big_mul(big, 1u << bits % 32, 0);
    if (limbs == 0 || big->count == 0) return;
    PHI_ASSERT(big->count + limbs <= PHI__JSON_LIMBS);
    memmove(big->limb + limbs, big->limb, big->count * sizeof big->limb[0]);
    for (unsigned i = 0; i < limbs; i++) big->limb[i] = 0;
    big->count += limbs;
}

/* Sets *big to the first PHI__JSON_DIGITS digits, and appends a 1 if a later digit is not 0.
   Returns the power of ten of the last digit. */
static int phi__number_big_digits(phi__json_big *big, const phi__json_decimal *d) {
    const char *at = d->digits;
    int power = d->k, seen = 0;
    bool more = false;
    big->count = 0;
    for (; at < d->end; at++) {
        uint32_t digit = (uint32_t)((unsigned char)*at - '0');
        if (*at == '.' || (seen == 0 && digit == 0)) continue;
        seen++;
        if (seen > 19) power--;
        if (seen <= PHI__JSON_DIGITS)
            phi__number_big_mul(big, 10, digit);
        else {
            more = more || digit != 0;
            power++;
        }
    }
    if (more) {
        phi__number_big_mul(big, 10, 1);
        power--;
    }
    return power;
}

/* Compares the decimal with (2 m + 1) * 2^(e - 1), the middle between two doubles. */
static int phi__number_against_middle(const phi__json_decimal *d, uint64_t m, int e) {
    phi__json_big decimal, middle;
    int power = phi__number_big_digits(&decimal, d), shift = power - (e - 1);
    m = 2 * m + 1;
    middle.limb[0] = (uint32_t)m;
    middle.limb[1] = (uint32_t)(m >> 32);
    middle.count = middle.limb[1] != 0 ? 2 : 1;
    phi__json_big *big = power >= 0 ? &decimal : &middle;
    int n = power >= 0 ? power : -power;
    for (; n >= 13; n -= 13) phi__number_big_mul(big, 1220703125u, 0);
    for (; n > 0; n--) phi__number_big_mul(big, 5, 0);
    phi__number_big_shift(shift >= 0 ? &decimal : &middle, (unsigned)(shift >= 0 ? shift : -shift));
    if (decimal.count != middle.count) return decimal.count < middle.count ? -1 : 1;
    for (unsigned i = decimal.count; i-- > 0;)
        if (decimal.limb[i] != middle.limb[i]) return decimal.limb[i] < middle.limb[i] ? -1 : 1;
    return 0;
}

/* Returns the bits of the nearest double; if the value is too large, the bits of infinity. */
static uint64_t phi__number_nearest(const phi__json_decimal *d) {
    uint64_t bits, above;
    if (d->w == 0 || d->k < PHI__JSON_POW_LEAST) return 0;
    if (d->k > 308) return UINT64_C(0x7ff) << 52;
    if (phi__number_fast(d->w, d->k, &bits) &&
        (!d->cut || (phi__number_fast(d->w + 1, d->k, &above) && above == bits)))
        return bits;
    /* Rounding down gives the nearest double that is not larger. An exact comparison then decides
       if the next double is nearer. */
    int shift = phi__number_leading_zeros(d->w);
    uint64_t low, high = phi__number_mul(d->w << shift, phi__number_pow10(d->k).high, &low);
    int top = (int)(high >> 63);
    uint64_t m = high >> (top + 10);
    int exponent = phi__number_log2_pow10(d->k) - shift + top + 11;
    if (exponent > 971) return UINT64_C(0x7ff) << 52;
    if (exponent < -1074) {
        m = -1074 - exponent < 64 ? m >> (-1074 - exponent) : 0;
        exponent = -1074;
    }
    int order = phi__number_against_middle(d, m, exponent);
    if (order > 0 || (order == 0 && (m & 1) != 0)) m++;
    if (m >> 53 != 0) {
        m >>= 1;
        exponent++;
    }
    if (m >> 52 == 0) return m;
    if (exponent > 971) return UINT64_C(0x7ff) << 52;
    return (uint64_t)(exponent + 1075) << 52 | (m & ((UINT64_C(1) << 52) - 1));
}

static inline bool phi__number_digit(const char *at, const char *end) {
    return at < end && (unsigned)((unsigned char)*at - '0') < 10;
}

/* Reads a decimal that has more than 19 digits, a point or an exponent, from its first digit. */
static const char *phi__number_decimal_read(const char *at, const char *end, phi__json_decimal *d,
                                            const char **bad) {
    const char *point = NULL;
    int count = 0, k = 0, exponent = 0;
    d->digits = at;
    d->w = 0;
    d->cut = false;
    for (;; at++) {
        if (point == NULL && at < end && *at == '.') {
            point = at;
            if (!phi__number_digit(at + 1, end)) return *bad = at + 1, (const char *)NULL;
            continue;
        }
        if (!phi__number_digit(at, end)) break;
        if (count < 19) {
            d->w = d->w * 10 + (uint64_t)(*at - '0');
            count += d->w != 0;
            k -= point != NULL;
        } else {
            d->cut = d->cut || *at != '0';
            k += point == NULL;
        }
    }
    d->end = at;
    if (at < end && (*at == 'e' || *at == 'E')) {
        bool negative = at + 1 < end && at[1] == '-';
        at += at + 1 < end && (at[1] == '-' || at[1] == '+') ? 2 : 1;
        if (!phi__number_digit(at, end)) return *bad = at, (const char *)NULL;
        for (; phi__number_digit(at, end); at++)
            if (exponent < 100000000) exponent = exponent * 10 + (*at - '0');
        if (negative) exponent = -exponent;
    }
    d->k = k + exponent;
    return at;
}

static const char *phi__number_double_read(const char *start, const char *digits, const char *end,
                                           phi__json_number *out, const char **bad) {
    phi__json_decimal d;
    const char *at = phi__number_decimal_read(digits, end, &d, bad);
    if (at == NULL) return NULL;
    out->kind = PHI__JSON_DOUBLE;
    out->v.u = phi__number_nearest(&d);
    if (out->v.u >> 52 == 0x7ff) return *bad = start, (const char *)NULL;
    if (start != digits) out->v.u |= UINT64_C(1) << 63;
    return at;
}

PHI__FN const char *phi__json_number_read(const char *at, const char *end, phi__json_number *out,
                                          const char **bad) {
    const char *start = at;
    uint64_t n = 0;
    bool negative = at < end && *at == '-';
    if (negative) at++;
    const char *digits = at;
    if (!phi__number_digit(at, end)) return *bad = at, (const char *)NULL;
    if (*at == '0')
        at++;
    else
        for (; phi__number_digit(at, end) && at - digits < 19; at++)
            n = n * 10 + (uint64_t)(*at - '0');
    if (at - digits == 19 && phi__number_digit(at, end)) { /* a number of 20 digits may still fit */
        unsigned digit = (unsigned)(*at - '0');
        if (n > (UINT64_MAX - digit) / 10 || phi__number_digit(at + 1, end))
            return phi__number_double_read(start, digits, end, out, bad);
        n = n * 10 + digit;
        at++;
    }
    if ((at < end && (*at == '.' || *at == 'e' || *at == 'E')) ||
        (negative && n > (uint64_t)INT64_MAX + 1))
        return phi__number_double_read(start, digits, end, out, bad);
    if (negative && n == 0) {
        out->kind = PHI__JSON_DOUBLE;
        out->v.u = UINT64_C(1) << 63; /* -0.0 */
        return at;
    }
    out->kind = n > (uint64_t)INT64_MAX && !negative ? PHI__JSON_UINT : PHI__JSON_INT;
    out->v.u = negative ? 0 - n : n;
    return at;
}

/* ---- writing ---- */

/* Returns g * c / 2^128, with the last bit set if anything was cut off. */
static inline uint64_t phi__number_round_to_odd(phi__json_pow g, uint64_t c) {
    uint64_t low, lowest, high = phi__number_mul(g.high, c, &low);
    uint64_t carry = phi__number_mul(g.low, c, &lowest);
    low += carry;
    high += low < carry;
    return high | (low > 1);
}

/* Returns the shortest digits such that digits * 10^*power reads back as a positive double. Of
   several such numbers, returns the one nearest to the double. */
static uint64_t phi__number_shortest(uint64_t bits, int *power) {
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1), c = fraction;
    int biased = (int)(bits >> 52 & 0x7ff), q = biased == 0 ? -1074 : biased - 1075;
    bool closer = fraction == 0 && biased > 1, in, in2;
    if (biased != 0) c |= UINT64_C(1) << 52;
    if (biased != 0 && q <= 0 && q > -53 && (c & ((UINT64_C(1) << -q) - 1)) == 0) {
        *power = 0;
        return c >> -q;
    }
    uint64_t odd = c & 1;
    int k = (int)(((int64_t)q * 1262611 - (closer ? 524031 : 0) + ((int64_t)1 << 40)) >> 22) -
            (1 << 18);
    int h = q + phi__number_log2_pow10(-k) + 1;
    phi__json_pow g = phi__number_pow10(-k);
    if (-k < 0 || -k > 55) { /* Schubfach needs the power rounded up */
        g.low++;
        g.high += g.low == 0;
    }
    uint64_t lower = phi__number_round_to_odd(g, (4 * c - 2 + closer) << h) + odd;
    uint64_t middle = phi__number_round_to_odd(g, (4 * c) << h);
    uint64_t upper = phi__number_round_to_odd(g, (4 * c + 2) << h) - odd;
    uint64_t s = middle / 4;
    if (s >= 10) {
        uint64_t tens = s / 10;
        in = lower <= 40 * tens;
        in2 = 40 * tens + 40 <= upper;
        if (in != in2) {
            *power = k + 1;
            return tens + in2;
        }
    }
    *power = k;
    in = lower <= 4 * s;
    in2 = 4 * s + 4 <= upper;
    if (in != in2) return s + in2;
    return s + (middle > 4 * s + 2 || (middle == 4 * s + 2 && (s & 1) != 0));
}

static const char phi__json_pairs[] = "000102030405060708091011121314151617181920212223242526272829"
                                      "30313233343536373839404142434445464"
                                      "748495051525354555657585960616263646566676869707172737475767"
                                      "77879808182838485868788899091929394"
                                      "9596979899";

/* Writes the digits of n so that they end at `end`. Returns their start. */
static char *phi__number_digits_before(char *end, uint64_t n) {
    while (n >= 100) {
        unsigned pair = (unsigned)(n % 100) * 2;
        n /= 100;
        *--end = phi__json_pairs[pair + 1];
        *--end = phi__json_pairs[pair];
    }
    if (n >= 10) {
        *--end = phi__json_pairs[n * 2 + 1];
        *--end = phi__json_pairs[n * 2];
    } else
        *--end = (char)('0' + n);
    return end;
}

/* Writes `count` digits with a decimal point after `point` of them. Returns the end of the text. */
static char *phi__number_place(const char *digits, int count, int point, char *to) {
    int i;
    if (point >= count && point <= 16) { /* 1200.0 */
        memcpy(to, digits, (size_t)count);
        for (i = count; i < point; i++) to[i] = '0';
        memcpy(to + point, ".0", 2);
        return to + point + 2;
    }
    if (point > 0 && point <= 16) { /* 12.34 */
        memcpy(to, digits, (size_t)point);
        to[point] = '.';
        memcpy(to + point + 1, digits + point, (size_t)(count - point));
        return to + count + 1;
    }
    if (point > -5 && point <= 0) { /* 0.0012 */
        memcpy(to, "0.0000", 6);
        memcpy(to + 2 - point, digits, (size_t)count);
        return to + 2 - point + count;
    }
    *to++ = digits[0];
    if (count > 1) {
        *to++ = '.';
        memcpy(to, digits + 1, (size_t)(count - 1));
        to += count - 1;
    }
    *to++ = 'e';
    if (point - 1 < 0) *to++ = '-';
    i = point - 1 < 0 ? 1 - point : point - 1;
    if (i >= 100) *to++ = (char)('0' + i / 100);
    if (i >= 10) *to++ = (char)('0' + i / 10 % 10);
    *to++ = (char)('0' + i % 10);
    return to;
}

PHI__FN size_t phi__json_number_double_text(double d, char *out) {
    char digits[20], *to = out;
    int power;
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    if (bits >> 63 != 0) *to++ = '-';
    bits &= UINT64_MAX >> 1;
    if (bits == 0) {
        memcpy(to, "0.0", 3);
        return (size_t)(to + 3 - out);
    }
    uint64_t n = phi__number_shortest(bits, &power);
    while (n % 10 == 0) {
        n /= 10;
        power++;
    }
    char *at = phi__number_digits_before(digits + sizeof digits, n);
    power += (int)(digits + sizeof digits - at);
    to = phi__number_place(at, (int)(digits + sizeof digits - at), power, to);
    return (size_t)(to - out);
}

PHI__FN void phi__json_number_put_u64(phi__buf *buf, uint64_t n) {
    char digits[20], *at = phi__number_digits_before(digits + sizeof digits, n);
    phi__buf_add(buf, at, (size_t)(digits + sizeof digits - at));
}

PHI__FN void phi__json_number_put_i64(phi__buf *buf, int64_t n) {
    char digits[21], *end = digits + sizeof digits;
    char *at = phi__number_digits_before(end, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
    if (n < 0) *--at = '-';
    phi__buf_add(buf, at, (size_t)(end - at));
}

PHI__FN void phi__json_number_put_double(phi__buf *buf, double d) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    if ((bits >> 52 & 0x7ff) == 0x7ff) {
        phi__buf_add(buf, "null", 4);
        return;
    }
    char *to = phi__buf_reserve(buf, 32);
    if (to != NULL) phi__buf_add_len(buf, phi__json_number_double_text(d, to));
}
