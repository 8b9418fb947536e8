#pragma once

#include "cli/families/family.hpp"
#include "cli/tables/model_file.hpp"

namespace fenchel::cli {

/// The family and the parameters that a model has, all of them: any bad one is a DataError that names it.
[[nodiscard]] FamilyOptions family_of(const ModelPart& model);

/// complete(given), or, where FAMILY is a file (its name has a dot or a slash), the model there. Throws
/// UsageError for a parameter that is given beside a model, which has its own.
[[nodiscard]] FamilyOptions read_family(const FamilyOptions& given);

}  // namespace fenchel::cli
