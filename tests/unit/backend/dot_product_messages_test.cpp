#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "dot_product_problem.hpp"
#include "fenchel/backend/cpu/dot_product_attention.hpp"
#include "support/messages.hpp"

/// Every argument that does not fit is named, before anything is written.
namespace fenchel {
namespace {

using namespace testing;

/// A call; a test spoils a part.
struct Call {
  Problem<double> problem{{2, 8, 4, 3, 5, 64, 16}};
  DotProducts<double> x = problem.products(1.5, 0.125);
  Matrices<double> out = problem.out.view();
  AttentionRecord<double> record = problem.record();
  Matrices<const double> cotangent = problem.cotangent.view();
  DotProductGradients<double, double> gradient = problem.gradients();
};

template <class Error = std::invalid_argument, class Spoil>
std::string after(Spoil spoil) {
  Call call;
  spoil(call);
  return message_of<Error>([&] { cpu::attention(call.x, call.out, call.record); });
}

template <class Spoil>
std::string vjp_after(Spoil spoil) {
  Call call;
  spoil(call);
  return message_of<std::invalid_argument>(
      [&] { cpu::attention_vjp(call.x, call.record, call.cotangent, call.gradient); });
}

TEST(DotProductMessages, NameTheShape) {
  EXPECT_EQ(after([](Call&) {}), "(no error)");
  EXPECT_EQ(after([](Call& c) { c.x.key.cols = 32; }),
            "fenchel::attention: key.cols must be 64, as query.cols, got 32");
  EXPECT_EQ(after([](Call& c) { c.x.key.batch = 1; }),
            "fenchel::attention: key.batch must be 2, as query.batch, got 1");
  EXPECT_EQ(after([](Call& c) { c.x.key.heads = 3; }),
            "fenchel::attention: key.heads must divide query.heads = 8, got 3");
  EXPECT_EQ(after([](Call& c) { c.x.key.heads = 0; }),
            "fenchel::attention: key.heads must divide query.heads = 8, got 0");
  EXPECT_EQ(after([](Call& c) { c.x.value.heads = 8; }),
            "fenchel::attention: value.heads must be 4, as key.heads, got 8");
  EXPECT_EQ(after([](Call& c) { c.x.value.rows = 6; }),
            "fenchel::attention: value.rows must be 5, as key.rows, got 6");
  EXPECT_EQ(after([](Call& c) { c.x.query.rows = -1; }),
            "fenchel::attention: query.rows must not be negative, got -1");
  EXPECT_EQ(after([](Call& c) { c.x.query.cols = c.x.key.cols = 0; }),
            "fenchel::attention: query.cols must be at least 1, got 0");
  EXPECT_EQ(after([](Call& c) { c.x.query.step = 2; }), "fenchel::attention: query.step must be 1, got 2");
  EXPECT_EQ(after([](Call& c) { c.x.value.data = nullptr; }),
            "fenchel::attention: value.data must not be null, got a null pointer");
  EXPECT_EQ(after([](Call& c) { c.out.cols = 17; }),
            "fenchel::attention: out.cols must be 16, as value.cols, got 17");
  EXPECT_EQ(after([](Call& c) { c.out.rows = 4; }),
            "fenchel::attention: out.rows must be 3, as query.rows, got 4");
  EXPECT_EQ(after([](Call& c) { c.out.row_stride = 0; }),
            "fenchel::attention: out.row_stride must be at least cols, so that rows do not overlap, got 0");
  EXPECT_EQ(after([](Call& c) { c.record.normalizers.cols = 1; }),
            "fenchel::attention: record.normalizers.cols must be 2, got 1");
  EXPECT_EQ(after([](Call& c) { c.record.normalizers.rows = 47; }),
            "fenchel::attention: record.normalizers.rows must be 48, got 47");
}

TEST(DotProductMessages, NameTheMaskAndTheBias) {
  const bool mask = true;
  const double bias = 0;
  EXPECT_EQ(after([&](Call& c) { c.x.mask = {&mask, 2, 8, 3, 6, 0, 0, 0, 0}; }),
            "fenchel::attention: mask.cols must be 5, as key.rows, got 6");
  EXPECT_EQ(after([&](Call& c) { c.x.bias = {&bias, 2, 4, 3, 5, 0, 0, 0, 0}; }),
            "fenchel::attention: bias.heads must be 8, as query.heads, got 4");
}

TEST(DotProductMessages, NameTheRange) {
  // Of 2 members with 3 queries each, and 5 keys.
  const std::vector<KeyRange> good{{0, 0, 2}, {0, 1, 3}, {0, 1, 3}, {0, 0, 1}, {2, 2, 2}, {2, 5, 5}};
  std::vector<KeyRange> ranges;
  const auto with = [&](std::size_t at, KeyRange range, index_t sinks = 1) {
    return [&, at, range, sinks](Call& c) {
      ranges = good;
      ranges[at] = range;
      c.x.ranges = ranges.data();
      c.x.sinks = sinks;
    };
  };
  const std::string between = "must be (origin, first, last) with 0 <= origin <= first <= last <= 5, got ";
  EXPECT_EQ(after(with(0, {0, 0, 2})), "(no error)");
  EXPECT_EQ(vjp_after(with(0, {0, 0, 2})), "(no error)");
  EXPECT_EQ(after(with(0, {-1, 0, 2})), "fenchel::attention: ranges[0] " + between + "(-1, 0, 2)");
  EXPECT_EQ(after(with(3, {1, 0, 1})), "fenchel::attention: ranges[3] " + between + "(1, 0, 1)");
  EXPECT_EQ(after(with(1, {0, 4, 3})), "fenchel::attention: ranges[1] " + between + "(0, 4, 3)");
  EXPECT_EQ(vjp_after(with(5, {2, 5, 6})), "fenchel::attention_vjp: ranges[5] " + between + "(2, 5, 6)");
  const std::string before =
      "fenchel::attention: ranges[2] must not be less than ranges[1] = (0, 1, 3), got ";
  EXPECT_EQ(after(with(2, {0, 0, 3})), before + "(0, 0, 3)");
  EXPECT_EQ(after(with(2, {0, 1, 2})), before + "(0, 1, 2)");
  EXPECT_EQ(after(with(5, {1, 5, 5})),
            "fenchel::attention: ranges[5] must not be less than ranges[4] = (2, 2, 2), got (1, 5, 5)");
  EXPECT_EQ(after(with(0, {0, 0, 2}, -1)), "fenchel::attention: sinks must not be negative, got -1");
  EXPECT_EQ(after([&](Call& c) {
              c.x.ranges = good.data();
              c.x.causal = true;
            }),
            "fenchel::attention: causal must be false beside ranges, got true");
}

TEST(DotProductMessages, NameTheNumber) {
  const std::vector<double> three{1, 2, 3}, low{2, 2, 2, 0.5, 2, 2, 2, 2};
  using Domain = std::domain_error;
  EXPECT_EQ(after<Domain>([](Call& c) { c.x.alpha = 0.5; }),
            "fenchel::attention: alpha must be at least 1, got 0.5");
  EXPECT_EQ(after<Domain>([&](Call& c) { c.x.alpha = low; }),
            "fenchel::attention: alpha[3] must be at least 1, got 0.5");
  EXPECT_EQ(after([&](Call& c) { c.x.alpha = three; }),
            "fenchel::attention: alpha.size() must equal the number of heads, 8, got 3");
  EXPECT_EQ(after<Domain>([](Call& c) { c.x.scale = kInf; }),
            "fenchel::attention: scale must be finite, got inf");
  EXPECT_EQ(after<Domain>([](Call& c) { c.x.dropout = 1; }),
            "fenchel::attention: dropout must be in [0, 1), got 1");
  EXPECT_EQ(after<Domain>([](Call& c) { c.x.dropout = kNaN; }),
            "fenchel::attention: dropout must be in [0, 1), got nan");
  EXPECT_EQ(after([](Call& c) { c.x.dropout = 0.5; }),
            "fenchel::attention: seed must not be null, got a null pointer");
}

TEST(DotProductMessages, NameTheGradient) {
  EXPECT_EQ(vjp_after([](Call&) {}), "(no error)");
  EXPECT_EQ(vjp_after([](Call& c) { c.x.key.cols = 32; }),
            "fenchel::attention_vjp: key.cols must be 64, as query.cols, got 32");
  EXPECT_EQ(vjp_after([](Call& c) { c.cotangent.cols = 64; }),
            "fenchel::attention_vjp: cotangent.cols must be 16, as value.cols, got 64");
  EXPECT_EQ(vjp_after([](Call& c) { c.gradient.key.heads = 8; }),
            "fenchel::attention_vjp: gradient.key.heads must be 4, as key.heads, got 8");
  EXPECT_EQ(vjp_after([](Call& c) { c.gradient.query.rows = 2; }),
            "fenchel::attention_vjp: gradient.query.rows must be 3, as query.rows, got 2");
  EXPECT_EQ(vjp_after([](Call& c) { c.gradient.value.cols = 8; }),
            "fenchel::attention_vjp: gradient.value.cols must be 16, as value.cols, got 8");
  EXPECT_EQ(vjp_after([](Call& c) { c.gradient.alpha.rows = 8; }),
            "fenchel::attention_vjp: gradient.alpha.rows must be 48, got 8");
  EXPECT_EQ(vjp_after([](Call& c) { c.gradient.scale.cols = 2; }),
            "fenchel::attention_vjp: gradient.scale.cols must be 1, got 2");
  EXPECT_EQ(vjp_after([](Call& c) { c.record.normalizers.cols = 3; }),
            "fenchel::attention_vjp: record.normalizers.cols must be 2, got 3");
}

}  // namespace
}  // namespace fenchel
