#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "estimate/statistics/byte_format.hpp"
#include "fenchel/estimate/statistics/absolute_moments.hpp"
#include "fenchel/estimate/statistics/count_histogram.hpp"
#include "fenchel/estimate/statistics/line_moments.hpp"
#include "fenchel/estimate/statistics/moments.hpp"
#include "fenchel/estimate/statistics/radial_moments.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::kNaN;
using testing::message_of;

const std::vector<double> kValues{1, 2, 4, 9}, kWeights{1, 2, 1e-3, 1};

template <class S>
S sample_of(S statistic) {
  statistic.update({kValues.data(), 4, 1}, kWeights);
  return statistic;
}

/// What was written is read back bit for bit, alone and by an empty value; nothing else is read.
template <class S>
void expect_strict(const S& empty) {
  const Bytes bytes = sample_of(empty).to_bytes();
  const auto refused = [](std::span<const std::byte> other) {
    return !message_of<std::invalid_argument>([&] {
              static_cast<void>(S::from_bytes(other));
            }).starts_with("(");
  };
  EXPECT_EQ(S::from_bytes(bytes).to_bytes(), bytes);
  EXPECT_EQ(S::from_bytes(empty.to_bytes()).to_bytes(), empty.to_bytes());
  S merged = empty;
  merged.merge_bytes(bytes);
  merged.merge_bytes(empty.to_bytes());
  EXPECT_EQ(merged.to_bytes(), bytes);
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    EXPECT_TRUE(refused(std::span(bytes).first(k))) << k;
    for (int bit = 0; bit < 8; ++bit) {
      Bytes flipped = bytes;
      flipped[k] ^= static_cast<std::byte>(1 << bit);
      ASSERT_TRUE(refused(flipped)) << "byte " << k << ", bit " << bit;
    }
  }
  Bytes longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_TRUE(refused(longer));
}

TEST(StatisticsBytes, AreReadBackOrRefused) {
  expect_strict(LineMoments());
  expect_strict(Moments(1));
  expect_strict(AbsoluteMoments(2.5, {1, 1.5}));
  expect_strict(CountHistogram());
  expect_strict(RadialMoments(Eigen::VectorXd::Ones(1), Eigen::MatrixXd::Identity(1, 1)));
}

TEST(StatisticsBytes, AreOfOneKindAndVersion) {
  const auto read = [](const Bytes& bytes) {
    return message_of<std::invalid_argument>([&] { static_cast<void>(LineMoments::from_bytes(bytes)); });
  };
  EXPECT_EQ(read({}), "fenchel::line_moments: bytes must be whole, got 0 bytes");
  EXPECT_EQ(read(Moments(1).to_bytes()),
            "fenchel::line_moments: bytes must be of kind 'FLIN', got another kind");
  EXPECT_EQ(read(detail::ByteWriter("FLIN", 2).finish()),
            "fenchel::line_moments: bytes must be of version 1, got 2");
  EXPECT_EQ(read(detail::ByteWriter("FLIN", 1).finish()),
            "fenchel::line_moments: bytes must hold 12 numbers, got other content");
  Bytes bytes = LineMoments().to_bytes();
  bytes[20] ^= std::byte{1};
  EXPECT_EQ(read(bytes), "fenchel::line_moments: bytes must be unchanged, got another checksum");
  bytes.erase(bytes.end() - 8, bytes.end());
  EXPECT_EQ(read(bytes), "fenchel::line_moments: bytes must have the length that they state, got 88");
}

/// Bytes with a right checksum that say these numbers.
Bytes forged(const char* kind, std::initializer_list<double> numbers) {
  detail::ByteWriter writer(kind, 1);
  for (const double x : numbers) writer.put(x);
  return std::move(writer).finish();
}

template <class S>
std::string reading(const Bytes& bytes) {
  const std::string message =
      message_of<std::invalid_argument>([&] { static_cast<void>(S::from_bytes(bytes)); });
  return message.substr(message.find("bytes"));
}

TEST(StatisticsBytes, MustSayWhatAStatisticCanSay) {
  const auto line = [](double weight, double low, double second, double least, double most) {
    return reading<LineMoments>(forged("FLIN", {weight, low, 3, 0, second, 0, 0, 0, 1, 0, least, most}));
  };
  EXPECT_EQ(line(-1, 0, 1, 1, 4), "bytes must hold a weight that is finite, got other content");
  EXPECT_EQ(line(kInf, 0, 1, 1, 4), "bytes must hold a weight that is finite, got other content");
  EXPECT_EQ(line(kNaN, 0, 1, 1, 4), "bytes must hold a weight that is finite, got other content");
  EXPECT_EQ(line(1, 0.5, 1, 1, 4), "bytes must hold normalised sums, got other content");
  EXPECT_EQ(line(1, 0, -1, 1, 4), "bytes must hold even moments, got other content");
  EXPECT_EQ(line(1, 0, kNaN, 1, 4), "bytes must hold even moments, got other content");
  EXPECT_EQ(line(1, 0, 1, 5, 4), "bytes must hold finite extremes, got other content");
  EXPECT_EQ(line(1, 0, 1, kNaN, 4), "bytes must hold finite extremes, got other content");

  const auto moments = [](index_t dimension, std::initializer_list<double> numbers) {
    detail::ByteWriter writer("FMOM", 1);
    writer.put(dimension);
    for (const double x : numbers) writer.put(x);
    return reading<Moments>(std::move(writer).finish());
  };
  const std::string shape = "bytes must hold as many numbers as their dimension asks for, got other content";
  EXPECT_EQ(moments(0, {1, 0}), shape);
  EXPECT_EQ(moments(-1, {1, 0, 2, 0, 3, 0}), shape);
  EXPECT_EQ(moments(index_t{1} << 40, {1, 0, 2, 0, 3, 0}), shape);
  EXPECT_EQ(moments(index_t{1} << 62, {1, 0, 2, 0, 3, 0}), shape);
  EXPECT_EQ(moments(2, {1, 0, 2, 0, 3, 0}), shape);
  EXPECT_EQ(moments(1, {1, 0, kInf, 0, 3, 0}), "bytes must hold a finite mean, got other content");
  EXPECT_EQ(moments(1, {1, 0, 2, 0, -3, 0}), "bytes must hold variances, got other content");

  const auto absolute = [](std::initializer_list<double> numbers) {
    return reading<AbsoluteMoments>(forged("FABS", numbers));
  };
  EXPECT_EQ(absolute({1}), "bytes must hold three numbers for each power, got other content");
  EXPECT_EQ(absolute({kNaN, 1, 0, 1, 0, 0, 0}), "bytes must hold a finite centre, got other content");
  EXPECT_EQ(absolute({0, -1, 0, 1, 0, 0, 0}), "bytes must hold a weight that is finite, got other content");
  EXPECT_EQ(absolute({0, 1, 0, -1, 0, 0, 0}), "bytes must hold parts of the weight, got other content");
  EXPECT_EQ(absolute({0, 1, 0, 1, 0, 0, 0, 0, 1, 0}), "bytes must hold positive powers, got other content");
  EXPECT_EQ(absolute({0, 1, 0, 1, 0, 0, 0, 1, -1, 0}),
            "bytes must hold sums that are not negative, got other content");

  const auto histogram = [](std::initializer_list<std::pair<index_t, double>> bars) {
    detail::ByteWriter writer("FCNT", 1);
    for (const auto& [value, weight] : bars) {
      writer.put(value);
      writer.put(DoubleDouble(weight));
    }
    return reading<CountHistogram>(std::move(writer).finish());
  };
  EXPECT_EQ(histogram({{1, 1}, {1, 1}}), "bytes must hold ascending values, got other content");
  EXPECT_EQ(histogram({{1, 0}}), "bytes must hold positive weights, got other content");
  EXPECT_EQ(histogram({{1, kInf}}), "bytes must hold a weight that is finite, got other content");
  EXPECT_EQ(histogram({{(index_t{1} << 53) + 1, 1}}),
            "bytes must hold integers up to 2^53, got other content");

  detail::ByteWriter writer("FRAD", 1);
  writer.put(index_t{1});
  for (const double x : {1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 3.0, -1.0}) writer.put(x);
  EXPECT_EQ(reading<RadialMoments>(std::move(writer).finish()),
            "bytes must hold a mean and a covariance, got other content");
}

}  // namespace
}  // namespace fenchel
