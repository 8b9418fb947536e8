#pragma once

#include "report/page.hpp"

namespace fenchel::report {

// One function a section, in the order of the page; each in a source of its name.
Section families();           ///< the diagram of regularized prediction maps
Section sparse_densities();   ///< a sparse and a non-sparse density
Section maps();               ///< one score function on a finite and on a continuous domain
Section distributions();      ///< the table of distributions, with numbers
Section misfit();             ///< two-dimensional beta-Gaussians, samples, contours fitted again
Section location_scale();     ///< location-scale families
Section integers();           ///< sparse Poisson and integer Gaussian
Section beta_gaussians();     ///< beta-Gaussians on the line and in the plane
Section maximum_entropy();    ///< predictions among the laws with their moments
Section capped_and_smooth();  ///< total variation and Sobolev
Section taut_string();        ///< how a string finds the capped density
Section attention();          ///< from discrete to continuous attention
Section regression();         ///< heteroscedastic regression
Section geodesics();          ///< geometry of the Fenchel-Young loss
Section audio();              ///< attention experiments on sounds, recorded
Section visual();             ///< attention experiments on questions about images, recorded
Section errata();             ///< printed formulas that are wrong, each with its number

}  // namespace fenchel::report
