#pragma once

// Made by scripts/coefficients/vector_math.py; the errors are those of the fits, lowest term first.

namespace fenchel::detail {

template <class Real>
struct LaneCoefficients;

template <>
struct LaneCoefficients<float> {
  /// (exp(r) - 1 - r) / r^2 for |r| <= ln(2)/2, as an error of exp: 2^-33.2.
  static constexpr float kExp[] = {0x1p-1f,       0x1.555554p-3f,  0x1.5554e8p-5f,
                                   0x1.11131p-7f, 0x1.6d4cdcp-10f, 0x1.9df81ap-13f};
  /// (log(1+f) - f) / f^2 for 1 + f in [sqrt(1/2), sqrt(2)], as a relative error of log: 2^-27.8.
  static constexpr float kLog[] = {-0x1.fffff8p-2f, 0x1.55555p-2f,  -0x1.00043ap-2f,
                                   0x1.99a42ep-3f,  -0x1.54237p-3f, 0x1.2269fap-3f,
                                   -0x1.0f53b2p-3f, 0x1.088a3cp-3f, -0x1.384414p-4f};
  /// erf(x) / x - 1 in x^2 for |x| <= 0.875, as a relative error of erf: 2^-26.1.
  static constexpr float kErf[] = {0x1.06eba6p-3f,  -0x1.8126eep-2f, 0x1.ce1beep-4f,
                                   -0x1.b6a216p-6f, 0x1.47c52ep-8f,  -0x1.3c5696p-11f};
  /// log(erfc(x)) for x in [0.875, 4], as an error of erf: 2^-29.1.
  static constexpr float kLogErfc[] = {-0x1.2e8368p-13f, -0x1.20bd58p+0f, -0x1.460d6cp-1f, -0x1.ab01b6p-4f,
                                       0x1.6eafacp-6f,   -0x1.93f438p-9f, 0x1.a335a2p-13f};
  /// The pole of t = (x - pole) / (x + pole).
  static constexpr float kErfcxPole = 2.0f;
  /// (1 + 2x) exp(x^2) erfc(x) in t for x in [0, 10.1], relative: 2^-25.9.
  static constexpr float kErfcx[] = {0x1.46e80ep+0f,  -0x1.7bf604p-4f, -0x1.54080ap-3f, 0x1.4ffbdap-3f,
                                     -0x1.bc1162p-5f, -0x1.080a9p-7f,  0x1.1b2178p-7f,  0x1.5877f8p-10f,
                                     -0x1.449e5p-10f, -0x1.a868e8p-12f};
  /// 2/ln(2) atanh(s)/s in z = s^2, s <= 0.1716, relative: 2^-37.8.
  static constexpr double kLog2[] = {0x1.71547652bedb6p+1, 0x1.ec709d12f635dp-1, 0x1.27777fd68ed26p-1,
                                     0x1.a58d8dedcd0ecp-2, 0x1.5ce82b6cbbb2ep-2};
  /// 2^r for |r| <= 1/2, relative: 2^-29.0.
  static constexpr double kExp2[] = {0x1.000000026a729p+0, 0x1.62e430ca987dap-1, 0x1.ebfbdad1ab5ep-3,
                                     0x1.c6aed0ed07826p-5, 0x1.3b2dbdeca5e0ap-7, 0x1.5f4761772c9a7p-10,
                                     0x1.41d4dabeacb0fp-13};
};

template <>
struct LaneCoefficients<double> {
  /// (exp(r) - 1 - r) / r^2 for |r| <= ln(2)/2, as an error of exp: 2^-57.9.
  static constexpr double kExp[] = {0x1.000000000000ap-1,  0x1.5555555555508p-3,  0x1.555555555074dp-5,
                                    0x1.111111112539ap-7,  0x1.6c16c1845317dp-10, 0x1.a01a0134af337p-13,
                                    0x1.a01999b99bd0ep-16, 0x1.71df12edb4d38p-19, 0x1.28adb3e44def4p-22,
                                    0x1.ad97837ff7045p-26};
  /// (log(1+f) - f) / f^2 for 1 + f in [sqrt(1/2), sqrt(2)], as a relative error of log: 2^-56.7.
  static constexpr double kLog[] = {
      -0x1.0000000000003p-1, 0x1.5555555555521p-2, -0x1.fffffffffded7p-3, 0x1.99999999a0e1fp-3,
      -0x1.55555556e2a24p-3, 0x1.24924922808b2p-3, -0x1.fffffef6cdf4bp-4, 0x1.c71c71c205d1ap-4,
      -0x1.9999c8f4b3922p-4, 0x1.745d478a10103p-4, -0x1.555078000c2cp-4,  0x1.3b0aa17c42b6cp-4,
      -0x1.24dbf92b3eeep-4,  0x1.11d99665e8f46p-4, -0x1.fb764a1f6cbc2p-5, 0x1.cfaa613236a29p-5,
      -0x1.d126e914f483ep-5, 0x1.0b562a09d0239p-4, -0x1.ebcc0e679d245p-5, 0x1.acc65016a38dfp-6};
  /// erf(x) / x - 1 in x^2 for |x| <= 1, as a relative error of erf: 2^-56.0.
  static constexpr double kErf[] = {0x1.06eba8214db68p-3,   -0x1.812746b03799dp-2,  0x1.ce2f21a03f88cp-4,
                                    -0x1.b82ce311a7f06p-6,  0x1.565bccee88854p-8,   -0x1.c02daea5d6b77p-11,
                                    0x1.f9a2949dd55fap-14,  -0x1.f4c80743f29e7p-17, 0x1.b9698252cf271p-20,
                                    -0x1.5b7f58803c612p-23, 0x1.d376577849521p-27,  -0x1.a0e37ac23ea8cp-31};
  /// log(erfc(x)) for x in [1, 6], as an error of erf: 2^-57.0.
  static constexpr double kLogErfc[] = {
      -0x1.1390a3a9c889cp-21, -0x1.20dd1e2e6bc98p+0,  -0x1.45f635b6c25a5p-1,  -0x1.a4ab26a848b2ap-4,
      0x1.3719946a7c057p-6,   0x1.b1a3a147b6c9cp-12,  -0x1.f70b47939f08fp-10, 0x1.954dcc158d63fp-11,
      -0x1.1e647936badadp-13, -0x1.477b7d14ad8d8p-16, 0x1.7a04042dc190ep-16,  -0x1.1fd758da418ccp-17,
      0x1.1bd425e1cd71dp-19,  -0x1.8ccb92a7f1e9p-22,  0x1.8a89c12ae6d3ap-25,  -0x1.0b4ce544584efp-28,
      0x1.bc3dde91bae62p-33,  -0x1.5651b9cd27467p-38};
  /// The pole of t = (x - pole) / (x + pole).
  static constexpr double kErfcxPole = 3.5;
  /// (1 + 2x) exp(x^2) erfc(x) in t for x in [0, 27.3], relative: 2^-56.6.
  static constexpr double kErfcx[] = {
      0x1.3e0a99a0ee914p+0,   -0x1.1ebd220ea593bp-3,  -0x1.59e2c284b12bbp-7, 0x1.8f702ec6b315ap-4,
      -0x1.d76830c353f53p-4,  0x1.6861060474da6p-4,   -0x1.8ff5ef768a517p-5, 0x1.38ec666f4a1a7p-6,
      -0x1.143c4ccac5f0dp-8,  -0x1.3cf3650f0027bp-12, 0x1.27e66e53dc957p-11, -0x1.fda96efbcee27p-14,
      -0x1.66e530223e556p-15, 0x1.970e482ae7fa9p-16,  0x1.391f7b0b5a799p-19, -0x1.00311cf250366p-18,
      -0x1.cecb5accbf825p-25, 0x1.446c88dfe339ap-21,  0x1.2f86557926a0bp-28, -0x1.9c6558a9776a8p-24,
      -0x1.1dfc3fcc5221fp-27, 0x1.854d930802228p-27,  0x1.7b40a5abb9134p-29};
  /// (3 atanh(s)/s - 3 - z) / z^2 in z = s^2, s <= 0.1716, as a relative error of atanh: 2^-73.4.
  static constexpr double kAtanh[] = {0x1.333333333333p-1,  0x1.b6db6db6dc91ep-2, 0x1.5555555413fecp-2,
                                      0x1.1745d22ba76adp-2, 0x1.d89d10e9d18bp-3,  0x1.99b189c042d68p-3,
                                      0x1.669cf812cd087p-3, 0x1.709cc858b6a8cp-3};
};

}  // namespace fenchel::detail
