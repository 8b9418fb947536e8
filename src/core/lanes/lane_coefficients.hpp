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
  /// Where kErf ends and kLogErfc begins.
  static constexpr float kErfReach = 0.875f;
  /// erf(x) / x - 1 in x^2 for |x| <= 0.875, as a relative error of erf: 2^-26.1.
  static constexpr float kErf[] = {0x1.06eba6p-3f,  -0x1.8126eep-2f, 0x1.ce1beep-4f,
                                   -0x1.b6a216p-6f, 0x1.47c52ep-8f,  -0x1.3c5696p-11f};
  /// From here on erf(x) rounds to 1.
  static constexpr float kErfOne = 4.0f;
  /// log(erfc(x)) for x in [0.875, 4.0], as an error of erf: 2^-29.1.
  static constexpr float kLogErfc[] = {-0x1.2e8368p-13f, -0x1.20bd58p+0f, -0x1.460d6cp-1f, -0x1.ab01b6p-4f,
                                       0x1.6eafacp-6f,   -0x1.93f438p-9f, 0x1.a335a2p-13f};
  /// Where kErf ends and kErfcx begins, for erfc.
  static constexpr float kErfcReach = 0.5f;
  /// From here on erfc(x) rounds to 0.
  static constexpr float kErfcZero = 10.1f;
  /// t = (x - pole) / (x + pole).
  static constexpr float kErfcxPole = 2.5f;
  /// (1 + 2x) exp(x^2) erfc(x) - 1 in t for x in [0.5, 10.1], relative: 2^-28.1.
  static constexpr float kErfcx[] = {0x1.0f31bep-2f,  -0x1.f52c5ep-4f, -0x1.959afep-4f, 0x1.42d38cp-3f,
                                     -0x1.a5bfa2p-4f, 0x1.0c5b1p-5f,   0x1.ecc9a4p-11f, -0x1.1dc118p-8f,
                                     0x1.c7cd6ep-12f, 0x1.20f9dep-11f};
  /// log2(1+f) / f for 1 + f in [sqrt(1/2), sqrt(2)], relative: 2^-38.4.
  static constexpr double kLog2[] = {0x1.71547652b58fdp+0,  -0x1.71547651b720bp-1, 0x1.ec709de339f98p-2,
                                     -0x1.7154788827e8dp-2, 0x1.2776b6cef4c0ap-2,  -0x1.ec6f2dfaed50ep-3,
                                     0x1.a61b7cf373312p-3,  -0x1.7188d44859c7fp-3, 0x1.481fc0a9ca0f8p-3,
                                     -0x1.23d6468a6d35bp-3, 0x1.0acd201f0c4dcp-3,  -0x1.13b83c536b589p-3,
                                     0x1.0f65c0742ec28p-3,  -0x1.1dae2aafff652p-4};
  /// (2^r - 1) / r for |r| <= 1/2, as a relative error of 2^r: 2^-28.9.
  static constexpr double kExp2[] = {0x1.62e430b160c99p-1, 0x1.ebfbdc2dd182ap-3,  0x1.c6aee54e37084p-5,
                                     0x1.3b2d55a5659d5p-7, 0x1.5f40051c19705p-10, 0x1.41f7f14ee86b9p-13};
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
  /// Where kErf ends and kLogErfc begins.
  static constexpr double kErfReach = 1.0;
  /// erf(x) / x - 1 in x^2 for |x| <= 1.0, as a relative error of erf: 2^-56.0.
  static constexpr double kErf[] = {0x1.06eba8214db68p-3,   -0x1.812746b03799dp-2,  0x1.ce2f21a03f88cp-4,
                                    -0x1.b82ce311a7f06p-6,  0x1.565bccee88854p-8,   -0x1.c02daea5d6b77p-11,
                                    0x1.f9a2949dd55fap-14,  -0x1.f4c80743f29e7p-17, 0x1.b9698252cf271p-20,
                                    -0x1.5b7f58803c612p-23, 0x1.d376577849521p-27,  -0x1.a0e37ac23ea8cp-31};
  /// From here on erf(x) rounds to 1.
  static constexpr double kErfOne = 6.0;
  /// log(erfc(x)) for x in [1.0, 6.0], as an error of erf: 2^-57.0.
  static constexpr double kLogErfc[] = {
      -0x1.1390a3a9c889cp-21, -0x1.20dd1e2e6bc98p+0,  -0x1.45f635b6c25a5p-1,  -0x1.a4ab26a848b2ap-4,
      0x1.3719946a7c057p-6,   0x1.b1a3a147b6c9cp-12,  -0x1.f70b47939f08fp-10, 0x1.954dcc158d63fp-11,
      -0x1.1e647936badadp-13, -0x1.477b7d14ad8d8p-16, 0x1.7a04042dc190ep-16,  -0x1.1fd758da418ccp-17,
      0x1.1bd425e1cd71dp-19,  -0x1.8ccb92a7f1e9p-22,  0x1.8a89c12ae6d3ap-25,  -0x1.0b4ce544584efp-28,
      0x1.bc3dde91bae62p-33,  -0x1.5651b9cd27467p-38};
  /// Where kErf ends and kErfcx begins, for erfc.
  static constexpr double kErfcReach = 0.5;
  /// From here on erfc(x) rounds to 0.
  static constexpr double kErfcZero = 27.3;
  /// t = (x - pole) / (x + pole).
  static constexpr double kErfcxPole = 3.5;
  /// (1 + 2x) exp(x^2) erfc(x) - 1 in t for x in [0.5, 27.3], relative: 2^-55.0.
  static constexpr double kErfcx[] = {0x1.f054cd07748ap-3,    -0x1.1ebd220ea5959p-3,  -0x1.59e2c284b1b4ep-7,
                                      0x1.8f702ec6b50e1p-4,   -0x1.d76830c34e92ap-4,  0x1.686106042912ep-4,
                                      -0x1.8ff5ef77aa599p-5,  0x1.38ec6683e3daep-6,   -0x1.143c4c55bbf24p-8,
                                      -0x1.3cf395f869332p-12, 0x1.27e6535625be9p-11,  -0x1.fda5162ff9887p-14,
                                      -0x1.66dd93fd5456dp-15, 0x1.96d069735e277p-16,  0x1.37c52cd92f1ep-19,
                                      -0x1.fc0b03fdddcdep-19, -0x1.33e1129dc08cep-25, 0x1.2c872e213f7cp-21,
                                      -0x1.034d6054525a7p-26, -0x1.091ac1170a462p-24, 0x1.b34f69063375p-29};
  /// (3 atanh(s)/s - 3 - z) / z^2 in z = s^2, s <= 0.1716, as a relative error of atanh: 2^-73.4.
  static constexpr double kAtanh[] = {0x1.333333333333p-1,  0x1.b6db6db6dc91ep-2, 0x1.5555555413fecp-2,
                                      0x1.1745d22ba76adp-2, 0x1.d89d10e9d18bp-3,  0x1.99b189c042d68p-3,
                                      0x1.669cf812cd087p-3, 0x1.709cc858b6a8cp-3};
};

}  // namespace fenchel::detail
