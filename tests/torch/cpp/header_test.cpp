// fenchel/torch.hpp and fenchel/torch/values.hpp against torch's own functions, numbers worked out by hand,
// and differences.
#include "fenchel/torch.hpp"

#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "fenchel/torch/values.hpp"

// The program of docs/cpp.md as a function, in this unit because libtorch's headers take so long to compile.
#include DOCUMENTED_PROGRAM

namespace {

using at::Tensor;
using fenchel::libtorch::continuous_attention;
using fenchel::libtorch::entmax;
using fenchel::libtorch::entmax15;
using fenchel::libtorch::entmax_loss;
using fenchel::libtorch::fusedmax;
using fenchel::libtorch::GaussianBasis;
using fenchel::libtorch::match_weights;
using fenchel::libtorch::MultivariateGaussianBasis;
using fenchel::libtorch::RidgeValues;
using fenchel::libtorch::sparsemax;
using Tensors = std::vector<Tensor>;
using Map = std::function<Tensor(const Tensors&)>;

int failures = 0;

void check(bool good, const std::string& what) {
  if (good) return;
  std::printf("failed: %s\n", what.c_str());
  ++failures;
}

bool near(const Tensor& a, const Tensor& b, double tolerance = 1e-12) {
  return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type() &&
         at::allclose(a, b, 0, tolerance, true);
}

Tensor numbers(std::vector<double> values) { return at::tensor(values, at::kDouble); }

/// Numbers without a pattern, and the same in every run.
Tensor noise(at::IntArrayRef shape, double seed) {
  return at::arange(at::numel(Tensor(at::empty(shape))), at::kDouble)
      .mul(12.9898)
      .add(seed)
      .sin()
      .mul(43758.5453)
      .frac()
      .reshape(shape);
}

Tensors learned(const Tensors& x) {
  Tensors leaves;
  for (const Tensor& t : x) leaves.push_back(t.detach().clone().requires_grad_());
  return leaves;
}

/// The derivative of a number in x[k], by central differences.
Tensor difference(const std::function<Tensor(const Tensors&)>& number, const Tensors& x, std::size_t k) {
  constexpr double kStep = 1e-5;
  Tensor slope = at::zeros_like(x[k]);
  for (std::int64_t j = 0; j < x[k].numel(); ++j) {
    const auto moved = [&](double by) {
      Tensors y = learned(x);
      y[k].data().view(-1)[j] += by;
      return number(y).item<double>();
    };
    slope.view(-1)[j] = (moved(kStep) - moved(-kStep)) / (2 * kStep);
  }
  return slope;
}

/// The derivative of a number in all x against differences.
void check_derivative(const std::string& what, const std::function<Tensor(const Tensors&)>& number,
                      const Tensors& x) {
  const Tensors y = learned(x);
  const Tensors gradient = torch::autograd::grad({number(y)}, y, {}, std::nullopt, false, true);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const Tensor expected = difference(number, x, k);
    const Tensor found = gradient[k].defined() ? gradient[k] : at::zeros_like(expected);
    check(near(found, expected, 1e-7 * (1 + expected.abs().max().item<double>())),
          what + ", derivative in argument " + std::to_string(k));
  }
}

/// First and second derivatives of <w, f(x)>: the last tensor is w, in which the gradient is linear; and
/// those of a direction's derivative, which autograd finds by going back through the gradient.
void check_derivatives(const std::string& what, const Map& f, Tensors x) {
  x.push_back(noise(f(x).sizes(), 5));
  const auto phi = [&](const Tensors& y) { return (y.back() * f(y)).sum(); };
  const auto gradient = [&](const Tensors& y) {
    return torch::autograd::grad({phi(y)}, Tensors(y.begin(), y.end() - 1), {}, true, true);
  };
  const auto along = [&](const Tensors& y) {
    Tensor sum = at::zeros({}, at::kDouble);
    const Tensors g = gradient(y);
    for (std::size_t k = 0; k < g.size(); ++k)
      sum = sum + (g[k] * noise(g[k].sizes(), 7 + static_cast<double>(k))).sum();
    return sum;
  };
  const auto through_weights = [&](const Tensors& y) {
    const Tensor movement = torch::autograd::grad({along(y)}, {y.back()}, {}, true, true)[0];
    return (movement * noise(movement.sizes(), 11)).sum();
  };
  check_derivative(what + ", first", phi, x);
  check_derivative(what + ", second", along, x);
  check_derivative(what + ", of the movement", through_weights, x);
}

template <class Error, class Body>
void check_throws(const std::string& message, const Body& body) {
  try {
    body();
    check(false, "no error: " + message);
  } catch (const Error& error) {
    const std::string what = error.what();
    check(what.find(message) != std::string::npos, "an error says " + what);
  }
}

void check_values() {
  const Tensor x = numbers({2, 1.5, 0.1, -2});
  check(near(sparsemax(x), numbers({0.75, 0.25, 0, 0})), "sparsemax");
  check(near(entmax(x, 1), x.softmax(-1), 1e-15), "entmax at 1 is softmax");
  check(near(entmax(x, 1, -1, x.exp()), (2 * x).softmax(-1), 1e-15), "a weight at 1 is a prior");
  check(near(entmax15(x).sqrt().sub(x / 2).slice(0, 0, 2), (entmax15(x)[0].sqrt() - x[0] / 2).expand(2)),
        "entmax15: sqrt(p) - x / 2 is the same over the support");
  check(near(fusedmax(numbers({0, 1.2, 1, 1.1, -1}), 0.1), numbers({0, 1, 1, 1, 0}) / 3), "fusedmax");
  check(near(fusedmax(x, 0), sparsemax(x)), "fusedmax at 0 is sparsemax");

  const Tensor batch = noise({3, 4, 5}, 1) * 3;
  check(near(entmax(batch, 1.5, 1), entmax(batch.transpose(1, 2).contiguous()).transpose(1, 2)),
        "a dim in the middle");
  check(near(entmax(batch, 1.5, -3), entmax(batch, 1.5, 0)), "a dim from the end");
  const Tensor alphas = numbers({1, 1.5, 2}).reshape({3, 1, 1});
  for (int i = 0; i < 3; ++i) {
    check(near(entmax(batch, alphas)[i], entmax(batch[i], alphas[i].item<double>())), "an alpha a row");
  }
  check(entmax(at::empty({0, 4})).sizes() == at::IntArrayRef({0, 4}), "an empty batch");
  const Tensor narrow = batch.to(at::kBFloat16);
  check(near(entmax(narrow), entmax(narrow.to(at::kFloat)).to(at::kBFloat16)),
        "bfloat16 is computed in float");
  at::autocast::set_autocast_enabled(at::kCPU, true);
  check(entmax(narrow).scalar_type() == at::kFloat, "float32 under autocast");
  at::autocast::set_autocast_enabled(at::kCPU, false);
  check(entmax(numbers({1, NAN})).isnan().all().item<bool>(), "NaN in the data");
}

void check_losses() {
  const Tensor x = noise({4, 3}, 2) * 2, classes = at::tensor({0, 2, -100, 1}, at::kLong);
  check(near(entmax_loss(x, classes, 1), at::cross_entropy_loss(x, classes)),
        "cross-entropy at 1, a row ignored");
  const Tensor each = entmax_loss(x, classes, 2, -100, at::Reduction::None);
  check(each.sizes() == at::IntArrayRef({4}) && each[2].item<double>() == 0, "one loss a row");
  check(near(each.sum(), entmax_loss(x, classes, 2, -100, at::Reduction::Sum)), "the sum of losses");
  const Tensor q = noise({4, 3}, 3).softmax(-1);
  check(near(entmax_loss(q, q, 2), at::zeros({}, at::kDouble), 1e-15),
        "the loss of a prediction that is the target");
  check(near(entmax_loss(x.t(), q.t(), 1.5, -100, at::Reduction::Mean, 0), entmax_loss(x, q)),
        "classes along dim 0");
  check(entmax_loss(x.to(at::kHalf), classes).scalar_type() == at::kHalf, "a loss has the type of x");
  at::autocast::set_autocast_enabled(at::kCPU, true);
  check(entmax_loss(x.to(at::kHalf), classes).scalar_type() == at::kFloat,
        "a loss is float32 under autocast");
  at::autocast::set_autocast_enabled(at::kCPU, false);
}

void check_attention() {
  // alpha = 1: the mean of a Gaussian function under a Gaussian is their convolution.
  const Tensor mu = numbers({0.1, 0.4}), sigma2 = numbers({0.01, 0.04});
  const GaussianBasis basis{numbers({0, 0.5, 1}), numbers({0.2, 0.1, 0.15})};
  const Tensor variance = sigma2.unsqueeze(-1) + basis.sigma.square(), distance = mu.unsqueeze(-1) - basis.mu;
  const Tensor expected = (-distance.square() / (2 * variance)).exp() / (2 * M_PI * variance).sqrt();
  check(near(continuous_attention(1, mu, sigma2, basis), expected), "attention on the line at 1");
  const auto twice = [](const Tensor& x) { return at::stack({x, x}, -1); };
  const MultivariateGaussianBasis plane{twice(basis.mu), at::diag_embed(twice(basis.sigma.square()))};
  check(near(continuous_attention(1, twice(mu), at::diag_embed(twice(sigma2)), plane), expected.square()),
        "attention on the plane at 1");
  check(near(continuous_attention(numbers({1, 2}), mu[0], sigma2, basis)[1],
             continuous_attention(2, mu[0], sigma2[1], basis)),
        "alpha, mu and sigma2 are broadcast");
}

void check_matched_densities() {
  const Tensor weights = numbers({0.5, 0.5, 0, 0, 0.5, 0.5}).reshape({2, 3}), third = numbers({1, 2}) / 3;
  const auto [mu, sigma2] = match_weights(1, weights);
  check(near(mu, third) && near(sigma2, numbers({1, 1}) / 27), "the mean and variance of weights at 1");
  // Of a parabola of radius R the variance is R^2 / 5 and sigma2 is 2 R^3 / 3.
  const double radius = std::sqrt(5. / 27);
  const auto [places, scales] = match_weights(numbers({1, 2}), weights);
  check(near(places, third) && near(scales, numbers({1. / 27, 2 * std::pow(radius, 3) / 3})),
        "an alpha for each density");
  check(near(match_weights(1, weights, {}, 0).second, numbers({1, 1}) / 36), "no floor");
  const Tensor padded = numbers({0.5, 0.5, NAN, 0.2, 0.3, 0.5}).reshape({2, 3}),
               lengths = at::tensor({2, 3}, at::kInt);
  const auto [begun, spread] = match_weights(1, padded, {}, {}, lengths);
  check(near(begun[0], numbers({0.5})[0]) && near(spread[0], numbers({1})[0] / 12), "a row of two weights");
  check(near(begun[1], match_weights(1, padded[1]).first), "a row of full length");
  const Tensor corners = numbers({0, 0, 1, 1}).reshape({2, 2}), halves = numbers({0.5, 0.5});
  const auto [middle, Sigma] = match_weights(1, halves, corners, 0.1);
  check(near(middle, halves) &&
            near(Sigma, at::full({2, 2}, 0.25, at::kDouble) + 0.1 * at::eye(2, at::kDouble)),
        "positions on the plane");
  const Tensor narrow = at::full({1, 3}, 1. / 3).to(at::kBFloat16);
  check(near(match_weights(1, narrow).first, at::full({1}, 0.5, at::kBFloat16)), "bfloat16 adds up to one");
}

void check_value_functions() {
  // One function with the value f at both positions.
  const double f = std::exp(-0.5 * 0.25) / (0.5 * std::sqrt(2 * M_PI));
  RidgeValues single(GaussianBasis{numbers({0.5}), numbers({0.5})}, 0.2);
  check(near(single.fit(numbers({1, 3}).unsqueeze(-1)), numbers({4 * f / (2 * f * f + 0.2)}).unsqueeze(-1)),
        "one function by hand");

  const GaussianBasis basis{numbers({0, 0.4, 1}), numbers({0.6, 0.5, 0.7})};
  RidgeValues ridge_values(basis, 0.1);
  const Tensor values = noise({2, 5, 4}, 1), lengths = at::tensor({2, 5}, at::kLong);
  Tensor padded = values.clone();
  padded[0].narrow(0, 2, 3).fill_(NAN);
  const Tensor b = ridge_values.fit(padded, lengths);
  for (const std::int64_t row : {0, 1}) {
    const std::int64_t length = lengths[row].item<std::int64_t>();
    const Tensor seen = values[row].narrow(0, 0, length),
                 t = (at::arange(length, at::kDouble) + 0.5) / length;
    const Tensor z = (t.unsqueeze(-1) - basis.mu) / basis.sigma;
    const Tensor design = (-z.square() / 2).exp() / (basis.sigma * std::sqrt(2 * M_PI));
    check(near(design.mT().matmul(design.matmul(b[row]) - seen), -0.1 * b[row]), "the normal equations");
    check(near(ridge_values.fit(seen), b[row]), "padding changes nothing");
  }
  for (const std::int64_t queries : {1, 40}) {  // through weights, and through B
    const Tensor r = noise({2, queries, 3}, 2);
    check(near(ridge_values.contexts(r, padded, lengths), r.matmul(b)), "contexts of queries");
  }
  check(near(ridge_values.contexts(b.select(-1, 0), values),
             b.select(-1, 0).unsqueeze(1).matmul(ridge_values.fit(values)).squeeze(1)),
        "one context for each sequence");
  const Tensor none =
      ridge_values.contexts(b.narrow(0, 0, 0).mT(), values.narrow(0, 0, 0), lengths.narrow(0, 0, 0));
  check(none.sizes() == at::IntArrayRef({0, 4, 4}), "an empty batch of sequences");
  basis.mu.add_(1);
  check(near(ridge_values.fit(padded, lengths), b), "a fixed basis is kept");
}

void check_derivatives_of_values() {
  const Tensor lengths = at::tensor({2, 4}, at::kLong), scores = noise({2, 4}, 1);
  const Tensor padding = numbers({0, 0, 1, 1, 0, 0, 0, 0}).reshape({2, 4}).to(at::kBool);
  check_derivatives("match_weights",
                    [=](const Tensors& y) {
                      const Tensor weights = y[1].masked_fill(padding, -INFINITY).softmax(-1);
                      const auto [mu, sigma2] = match_weights(y[0], weights, {}, {}, lengths);
                      return at::stack({mu, sigma2});
                    },
                    {numbers({1.5, 2}), scores});
  const Tensor r = noise({2, 3}, 2), values = noise({2, 4, 2}, 3);
  check_derivatives("RidgeValues, a learned basis",
                    [=](const Tensors& y) {
                      return RidgeValues(GaussianBasis{y[2], y[3]}).contexts(y[0], y[1], lengths);
                    },
                    {r, values, numbers({0, 0.4, 1}), numbers({0.6, 0.5, 0.7})});
}

void check_all_derivatives() {
  const Tensor x = noise({2, 4}, 1) * 1.5, q = noise({2, 4}, 3).softmax(-1),
               classes = at::tensor({1, 3}, at::kLong);
  for (const double alpha : {1.0, 1.5, 2.0}) {
    const std::string at_alpha = " at " + std::to_string(alpha);
    check_derivatives("entmax" + at_alpha, [=](const Tensors& y) { return entmax(y[0], alpha); }, {x});
    check_derivatives("entmax_loss" + at_alpha,
                      [=](const Tensors& y) { return entmax_loss(y[0], classes, alpha); }, {x});
  }
  const Tensor orders = numbers({1, 1.7}).unsqueeze(-1), order = numbers({1.3});
  check_derivatives("entmax, learned alpha", [](const Tensors& y) { return entmax(y[0], y[1]); },
                    {x, orders});
  check_derivatives("entmax, alpha alone", [=](const Tensors& y) { return entmax(x, y[0]); }, {order});
  check_derivatives("entmax, learned weight",
                    [](const Tensors& y) { return entmax(y[0], y[1], -1, y[2].exp()); },
                    {x, order, noise(x.sizes(), 5)});
  check_derivatives("fusedmax", [](const Tensors& y) { return fusedmax(y[0], y[1], 0); },
                    {x, numbers({0.05})});
  check_derivatives("entmax_loss, soft targets, learned alpha",
                    [=](const Tensors& y) { return entmax_loss(y[0], q, y[1], -100, at::Reduction::None); },
                    {x, order});
  const auto without_gradient = [=](const Tensors& y) {  // as on a GPU
    const Tensor alphas = y.size() > 2 ? y[1].expand({2, 1}) : Tensor();
    return fenchel::libtorch::detail::Differentiable<fenchel::libtorch::detail::EntmaxLoss>::value(
        {y[0], alphas, classes.unsqueeze(-1), Tensor()}, {1.5, -1, -100, false, false});
  };
  check_derivatives("entmax_loss that keeps its scores", without_gradient, {x});
  check_derivatives("entmax_loss that keeps its scores, learned alpha", without_gradient, {x, order});
  const Tensor mu = numbers({0.2, 0.6}), sigma2 = numbers({0.5, 0.3});
  const GaussianBasis basis{numbers({0, 0.4, 1}), numbers({0.6, 0.5, 0.7})};
  check_derivatives("continuous_attention",
                    [](const Tensors& y) {
                      return continuous_attention(y[0], y[1], y[2], GaussianBasis{y[3], y[4]});
                    },
                    {numbers({1.5, 2}), mu, sigma2, basis.mu, basis.sigma});
  check_derivatives("continuous_attention, a basis that is not learned",
                    [=](const Tensors& y) { return continuous_attention(2, y[0], y[1], basis); },
                    {mu, sigma2});
}

void check_errors() {
  const Tensor x = noise({2, 3}, 1), classes = at::tensor({0, 1}, at::kLong);
  check_throws<std::exception>("alpha must be positive, got -1", [&] { (void)entmax(x, -1); });
  check_throws<c10::IndexError>("dim must be in [-2, 1], got 2", [&] { (void)entmax(x, 2, 2); });
  check_throws<c10::Error>("expand", [&] { (void)entmax(x, numbers({1, 2})); });
  check_throws<std::exception>("float64, float32", [&] { (void)entmax(at::tensor({1, 2})); });
  check_throws<c10::ValueError>("without dim, [2], got [1]",
                                [&] { (void)entmax_loss(x, classes.slice(0, 0, 1)); });
  check_throws<c10::ValueError>("the shape of scores, [2, 3], got [3]", [&] { (void)entmax_loss(x, x[0]); });
  check_throws<c10::TypeError>("must be classes", [&] { (void)entmax_loss(x, classes.to(at::kBool)); });
  check_throws<c10::ValueError>("detach", [&] { (void)entmax_loss(x, learned({x})[0]); });
  check_throws<c10::ValueError>("D = 2, got [2] and [2]", [&] {
    const MultivariateGaussianBasis plane{x.t(), at::eye(2).expand({3, 2, 2})};
    (void)continuous_attention(2, x[0].slice(0, 0, 2), x[1].slice(0, 0, 2), plane);
  });
  check_throws<c10::ValueError>("must be (N, D) and (N, D, D), got [2, 3] and [2, 3]", [&] {
    (void)continuous_attention(2, x, x, MultivariateGaussianBasis{x, x});
  });
  check_throws<c10::ValueError>("must be (N), got [3] and [2, 3]", [&] {
    (void)continuous_attention(2, x, x, GaussianBasis{x[0], x});
  });
  const Tensor two = at::tensor({3, 4}, at::kLong);
  RidgeValues ridge_values(GaussianBasis{x[0], x[0]});
  check_throws<c10::ValueError>("lengths must have shape [2], got [1]",
                                [&] { (void)match_weights(1, x, {}, {}, two.narrow(0, 0, 1)); });
  check_throws<c10::TypeError>("lengths must be integers", [&] { (void)match_weights(1, x, {}, {}, x[0]); });
  check_throws<c10::ValueError>("(L) or (L, D), L = 3, got [2, 3]", [&] { (void)match_weights(1, x, x); });
  check_throws<c10::ValueError>("detach", [&] { (void)match_weights(1, x, learned({x[0]})[0]); });
  check_throws<c10::ValueError>("ridge must be positive and finite, got 0", [&] {
    (void)RidgeValues(GaussianBasis{x[0], x[0]}, 0);
  });
  check_throws<c10::ValueError>("lengths must be in [1, 3], got 4",
                                [&] { (void)ridge_values.fit(x.unsqueeze(-1), two); });
  check_throws<c10::ValueError>("batch [2] and N = 3, got [3]",
                                [&] { (void)ridge_values.contexts(x[0], x.unsqueeze(-1)); });

  const Tensors y = learned({x});
  const Tensor first = torch::autograd::grad({entmax(y[0]).square().sum()}, y, {}, true, true)[0];
  const Tensor second = torch::autograd::grad({first.square().sum()}, y, {}, true, true)[0];
  check_throws<c10::NotImplementedError>("no higher ones",
                                         [&] { (void)torch::autograd::grad({second.square().sum()}, y); });
}

void check_memory_and_threads() {
  const Tensor x = learned({noise({3, 5}, 1)})[0];
  const Tensor scores = x * 2;
  const Tensor p = entmax(scores);
  check(scores.use_count() == 1, "scores are not kept");
  Tensors results(8);
  std::vector<std::thread> threads;
  for (Tensor& result : results) {
    threads.emplace_back([&] { result = torch::autograd::grad({entmax(x, 1.5).square().sum()}, {x})[0]; });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Tensor& result : results) check(at::equal(result, results[0]), "the same on all threads");
}

}  // namespace

int main() {
  check_values();
  check_losses();
  check_attention();
  check_matched_densities();
  check_value_functions();
  check_all_derivatives();
  check_derivatives_of_values();
  check_errors();
  check_memory_and_threads();
  documented_program();
  return failures;
}
