#include <array>

#include "fenchel/backend/cpu/reduce_loss.hpp"
#include "laws/rows.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

/// Bad input to the derivatives and losses, where the unit tests do not have it: the one message, nothing
/// written.
namespace fenchel::testing {
namespace {

using Wrong = std::invalid_argument;

class BadInput : public ::testing::Test {
 protected:
  static constexpr double kGuard = 77;
  std::vector<double> six = std::vector<double>(6, 0.5), out = std::vector<double>(6, kGuard),
                      two = std::vector<double>(2), three = std::vector<double>(3);
  Rows<const double> in{six.data(), 2, 3};
  Rows<double> rows{out.data(), 2, 3};
  std::vector<index_t> classes{0, 1};

  void TearDown() override {
    EXPECT_EQ(out, std::vector<double>(6, kGuard)) << "written before it was checked";
  }
};

TEST_F(BadInput, ShapesOfDirectionsAreNamed) {
  const Rows<const double> narrow(six.data(), 2, 2), few(six.data(), 1, 3), null(nullptr, 2, 3);
  EXPECT_EQ(message_of<Wrong>([&] { cpu::entmax_jvp(in, 1.5, narrow, {}, rows); }),
            "fenchel::entmax_jvp: direction.cols must equal p.cols = 3, got 2");
  EXPECT_EQ(message_of<Wrong>([&] { cpu::entmax_jvp(in, 1.5, null, {}, rows); }),
            "fenchel::entmax_jvp: direction.data must not be null, got a null pointer");
  EXPECT_EQ(message_of<Wrong>([&] { cpu::entmax_vjp_vjp(in, 1.5, in, few, {}, rows); }),
            "fenchel::entmax_vjp_vjp: direction.rows must equal p.rows = 2, got 1");
  EXPECT_EQ(message_of<Wrong>([&] { cpu::entmax_loss_hessian_product(in, 1.5, narrow, rows); }),
            "fenchel::entmax_loss_hessian_product: direction.cols must equal scores.cols = 3, got 2");
  EXPECT_EQ(message_of<Wrong>(
                [&] { cpu::entmax_loss_hessian_product(in, 1.5, in, Rows<double>(out.data(), 2, 3, 0)); }),
            "fenchel::entmax_loss_hessian_product: product.stride must be at least cols, so that rows do not "
            "overlap, got 0");
  EXPECT_EQ(
      message_of<Wrong>([&] { cpu::entmax_vjp(in, 1.5, in, Rows<double>(out.data(), 2, 3, -2)); }),
      "fenchel::entmax_vjp: gradient.stride must be at least cols, so that rows do not overlap, got -2");
}

TEST_F(BadInput, CountsOfRowValuesAreNamed) {
  EXPECT_EQ(message_of<Wrong>([&] { cpu::entmax_jvp(in, 1.5, in, three, rows); }),
            "fenchel::entmax_jvp: alpha_direction.size() must equal the number of rows, 2, got 3");
  EXPECT_EQ(message_of<Wrong>([&] { cpu::entmax_vjp_vjp(in, 1.5, in, in, three, rows); }),
            "fenchel::entmax_vjp_vjp: alpha_direction.size() must equal the number of rows, 2, got 3");
  EXPECT_EQ(message_of<Wrong>([&] { cpu::entmax_vjp_vjp(in, 1.5, in, in, two, rows, three); }),
            "fenchel::entmax_vjp_vjp: alpha_product.size() must equal the number of rows, 2, got 3");
  const std::vector<unsigned char> ignore(3);
  EXPECT_EQ(
      message_of<Wrong>([&] {
        cpu::entmax_loss(in, 1.5, cpu::SoftTargets<double>{in, ignore}, cpu::LossOutputs<double>{two, rows});
      }),
      "fenchel::entmax_loss: ignore.size() must equal the number of rows, 2, got 3");
  EXPECT_EQ(message_of<Wrong>([&] {
              cpu::entmax_loss(in, 1.5, cpu::ClassTargets{classes}, cpu::LossOutputs<double>{three, rows});
            }),
            "fenchel::entmax_loss: loss.size() must equal the number of rows, 2, got 3");
  EXPECT_EQ(
      message_of<Wrong>([&] {
        cpu::entmax_loss(in, 1.5, cpu::ClassTargets{classes}, cpu::LossOutputs<double>{two, rows, three});
      }),
      "fenchel::entmax_loss: slope.size() must equal the number of rows, 2, got 3");
  EXPECT_EQ(message_of<Wrong>([&] {
              cpu::entmax_loss(in, 1.5, cpu::ClassTargets{classes},
                               cpu::LossOutputs<double>{two, {out.data(), 2, 2}});
            }),
            "fenchel::entmax_loss: residual.cols must equal scores.cols = 3, got 2");
}

TEST_F(BadInput, EveryOperationRefusesEveryBadAlpha) {
  const std::array<std::pair<double, const char*>, 4> bad{
      {{0, "0"}, {-1.5, "-1.5"}, {kNaN, "nan"}, {-kInf, "-inf"}}};
  for (const auto& [value, text] : bad) {
    const std::vector<double> alphas{2, value};
    for (const bool per_row : {false, true}) {
      const PerRow alpha = per_row ? PerRow(std::span<const double>(alphas)) : PerRow(value);
      const std::string rest =
          std::string(per_row ? ": alpha[1]" : ": alpha") + " must be positive, got " + text;
      const auto says = [&](auto call) { return message_of<std::domain_error>(call); };
      EXPECT_EQ(says([&] { cpu::entmax_vjp(in, alpha, in, rows); }), "fenchel::entmax_vjp" + rest);
      EXPECT_EQ(says([&] { cpu::entmax_jvp(in, alpha, in, {}, rows); }), "fenchel::entmax_jvp" + rest);
      EXPECT_EQ(says([&] { cpu::entmax_vjp_vjp(in, alpha, in, in, {}, rows); }),
                "fenchel::entmax_vjp_vjp" + rest);
      EXPECT_EQ(says([&] { cpu::entmax_loss_hessian_product(in, alpha, in, rows); }),
                "fenchel::entmax_loss_hessian_product" + rest);
      EXPECT_EQ(
          says([&] {
            cpu::entmax_loss(in, alpha, cpu::ClassTargets{classes}, cpu::LossOutputs<double>{two, rows});
          }),
          "fenchel::entmax_loss" + rest);
      EXPECT_EQ(
          says([&] {
            cpu::cross_omega(in, alpha, cpu::SoftTargets<double>{in}, cpu::LossOutputs<double>{two, rows});
          }),
          "fenchel::cross_omega" + rest);
    }
  }
}

TEST_F(BadInput, NoRowsIsNothingToDo) {
  const Rows<const double> none(nullptr, 0, 3);
  const Rows<double> nowhere(nullptr, 0, 3);
  cpu::entmax_vjp(none, 1.5, none, nowhere);
  cpu::entmax_jvp(none, 1.5, none, {}, nowhere);
  cpu::entmax_vjp_vjp(none, 1.5, none, none, {}, nowhere);
  cpu::entmax_loss_hessian_product(none, 1.5, none, nowhere);
  for (const cpu::Reduction reduction : {cpu::Reduction::mean, cpu::Reduction::sum}) {
    const cpu::LossOutputs<double> outputs;
    cpu::entmax_loss(none, 1.5, cpu::ClassTargets{}, outputs);
    EXPECT_EQ(cpu::reduce_loss(reduction, cpu::ClassTargets{}, outputs), 0);
  }
  cpu::cross_omega(none, 1.5, cpu::SoftTargets<double>{none}, cpu::LossOutputs<double>{});
}

}  // namespace
}  // namespace fenchel::testing
