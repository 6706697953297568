#include "check/type_signature.hpp"

#include <algorithm>
#include <span>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "mpi/datatype/recipe.hpp"

namespace sorrel::check {

namespace {

using mpi::Datatype;
using mpi::Element;
using mpi::ElementClass;

constexpr std::size_t run_count_max = 4096;
/// Steps of a comparison, at most.
constexpr std::uint64_t step_count_max = 1'000'000;

/// Classes whose elements match if their representations are equal.
ElementClass family_of(ElementClass element_class) {
  switch (element_class) {
    case ElementClass::fortran_integer:
    case ElementClass::multi_language:
      return ElementClass::c_integer;
    default:
      return element_class;
  }
}

/// The values of a pair type: MPI_DOUBLE_INT is an MPI_DOUBLE and an MPI_INT.
std::span<const MPI_Datatype> parts_of(Element element) {
  static const MPI_Datatype float_int[] = {MPI_FLOAT, MPI_INT};
  static const MPI_Datatype double_int[] = {MPI_DOUBLE, MPI_INT};
  static const MPI_Datatype long_int[] = {MPI_LONG, MPI_INT};
  static const MPI_Datatype int_int[] = {MPI_INT, MPI_INT};
  static const MPI_Datatype short_int[] = {MPI_SHORT, MPI_INT};
  static const MPI_Datatype long_double_int[] = {MPI_LONG_DOUBLE, MPI_INT};
  static const MPI_Datatype float_float[] = {MPI_FLOAT, MPI_FLOAT};
  static const MPI_Datatype double_double[] = {MPI_DOUBLE, MPI_DOUBLE};
  switch (element) {
    case Element::float_int:
      return float_int;
    case Element::double_int:
      return double_int;
    case Element::long_int:
      return long_int;
    case Element::int_int:
      return int_int;
    case Element::short_int:
      return short_int;
    case Element::long_double_int:
      return long_double_int;
    case Element::float_float:
      return float_float;
    case Element::double_double:
      return double_double;
    default:
      return {};
  }
}

/// The lengths of a struct's blocks.
std::uint64_t block_length(const mpi::Recipe& recipe, std::size_t i) {
  // The number of blocks comes first.
  return static_cast<std::uint64_t>(recipe.large_counts().empty() ? recipe.integers()[1 + i]
                                                                  : recipe.large_counts()[1 + i]);
}

/// Goes through the elements of a signature, run by run.
class Walk {
 public:
  Walk(std::span<const SignatureRun> runs, std::uint64_t repetitions)
      : runs_(runs), left_(runs.empty() ? 0 : repetitions) {
    if (left_ > 0) in_run_ = runs_[0].count;
    // One kind of element: one run.
    if (runs_.size() == 1) {
      in_run_ *= left_;
      left_ = std::min<std::uint64_t>(left_, 1);
    }
  }

  [[nodiscard]] bool at_end() const { return left_ == 0; }

  [[nodiscard]] const BasicType& basic() const {
    SORREL_ASSERT(!at_end() && run_ < runs_.size(), "run %zu of %zu", run_, runs_.size());
    return runs_[run_].basic;
  }

  [[nodiscard]] std::uint64_t in_run() const { return in_run_; }

  void advance(std::uint64_t elements) {
    SORREL_ASSERT(elements <= in_run_, "%llu elements of %llu",
                  static_cast<unsigned long long>(elements),
                  static_cast<unsigned long long>(in_run_));
    in_run_ -= elements;
    if (in_run_ > 0) return;
    if (++run_ == runs_.size()) {
      run_ = 0;
      if (--left_ == 0) return;
    }
    in_run_ = runs_[run_].count;
  }

 private:
  std::span<const SignatureRun> runs_;
  std::uint64_t left_;
  std::size_t run_ = 0;
  std::uint64_t in_run_ = 0;
};

}  // namespace

bool BasicType::is_packed() const {
  return example->element_class() == ElementClass::packed;
}

bool BasicType::matches(const BasicType& other) const {
  return example == other.example ||
         (example->element() == other.example->element() &&
          family_of(example->element_class()) == family_of(other.example->element_class()));
}

TypeSignature::TypeSignature(const Datatype& type, std::uint64_t count)
    : count_(count), bytes_(count * type.size()) {
  if (bytes_ == 0) return;
  auto unit = std::make_shared<Unit>();
  add(*unit, type, 1);
  unit_ = std::move(unit);
}

void TypeSignature::add(Unit& unit, BasicType basic, std::uint64_t count) {
  unit.is_packed = unit.is_packed || basic.is_packed();
  if (!unit.runs.empty() && unit.runs.back().basic.matches(basic)) {
    unit.runs.back().count += count;
  } else if (unit.runs.size() == run_count_max) {
    unit.is_cut = true;
  } else {
    unit.runs.push_back({basic, count});
  }
}

void TypeSignature::add(Unit& unit, const Datatype& type, std::uint64_t count) {
  if (count == 0 || type.size() == 0 || unit.is_cut) return;
  const mpi::Recipe* recipe = type.recipe();
  if (recipe == nullptr || recipe->types().empty()) {
    const auto parts = parts_of(type.element());
    if (parts.empty()) return add(unit, BasicType{&type}, count);
    for (std::uint64_t i = 0; i < count && !unit.is_cut; ++i) {
      for (const MPI_Datatype part : parts)
        add(unit, BasicType{mpi::datatype_from_handle(part)}, 1);
    }
    return;
  }
  const std::vector<Datatype*>& types = recipe->types();
  if (recipe->combiner() != MPI_COMBINER_STRUCT) {
    const Datatype& old_type = *types.front();
    return add(unit, old_type, count * (type.size() / old_type.size()));
  }
  Unit one;
  for (std::size_t i = 0; i < types.size(); ++i)
    add(one, *types[i], block_length(*recipe, i));
  if (one.runs.size() == 1) return add(unit, one.runs[0].basic, one.runs[0].count * count);
  for (std::uint64_t i = 0; i < count && !unit.is_cut; ++i) {
    for (const SignatureRun& run : one.runs)
      add(unit, run.basic, run.count);
  }
  unit.is_cut = unit.is_cut || one.is_cut;
}

std::string TypeSignature::text() const {
  if (unit_ == nullptr) return "no data";
  const std::vector<SignatureRun>& runs = unit_->runs;
  const auto run_text = [](const SignatureRun& run, std::uint64_t repetitions) {
    return text_of("%llu %s", static_cast<unsigned long long>(run.count * repetitions),
                   run.basic.example->label());
  };
  if (runs.size() == 1) return run_text(runs[0], count_);
  constexpr std::size_t shown_max = 4;
  std::string text = text_of("%llu x {", static_cast<unsigned long long>(count_));
  for (std::size_t i = 0; i < std::min(runs.size(), shown_max); ++i)
    text += (i == 0 ? "" : ", ") + run_text(runs[i], 1);
  return text + (runs.size() > shown_max ? ", ...}" : "}");
}

std::optional<std::uint64_t> TypeSignature::hash() const {
  const Unit no_data;
  const Unit& unit = unit_ != nullptr ? *unit_ : no_data;
  if (unit.is_packed || unit.is_cut) return std::nullopt;
  std::uint64_t hash = hash_of("");
  BasicType basic;
  std::uint64_t count = 0;
  const auto add_run = [&] {
    if (count == 0) return;
    hash = hash_of(text_of("%d %d %llu,", static_cast<int>(basic.example->element()),
                           static_cast<int>(family_of(basic.example->element_class())),
                           static_cast<unsigned long long>(count)),
                   hash);
  };
  std::uint64_t step = 0;
  for (Walk walk(unit.runs, count_); !walk.at_end(); ++step) {
    if (step == step_count_max) return std::nullopt;
    if (count == 0 || !basic.matches(walk.basic())) {
      add_run();
      basic = walk.basic();
      count = 0;
    }
    const std::uint64_t run = walk.in_run();
    count += run;
    walk.advance(run);
  }
  add_run();
  return hash;
}

TypeSignature::Difference TypeSignature::compared_with(const TypeSignature& other) const {
  using Kind = Difference::Kind;
  const Unit no_data;
  const Unit& a = unit_ != nullptr ? *unit_ : no_data;
  const Unit& b = other.unit_ != nullptr ? *other.unit_ : no_data;
  if (a.is_packed || b.is_packed) return {};
  Walk here(a.runs, count_);
  Walk there(b.runs, other.count_);
  std::uint64_t position = 0;
  for (std::uint64_t step = 0; !here.at_end() && !there.at_end(); ++step) {
    if (step == step_count_max) return {};
    if (!here.basic().matches(there.basic()))
      return {
          .kind = Kind::type, .position = position, .here = here.basic(), .there = there.basic()};
    const std::uint64_t both = std::min(here.in_run(), there.in_run());
    here.advance(both);
    there.advance(both);
    position += both;
  }
  if (a.is_cut || b.is_cut || here.at_end() == there.at_end()) return {};
  return {.kind = here.at_end() ? Kind::shorter : Kind::longer, .position = position};
}

}  // namespace sorrel::check
