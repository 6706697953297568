#include "graph/run/ghost_filler.hpp"

#include <algorithm>
#include <memory>
#include <span>

#include <sorrel/graph/sweep.hpp>

namespace sorrel::graph {

namespace {

/// The messenger of another graph, which keeps its channels.
class LentMessenger final : public Messenger {
 public:
  explicit LentMessenger(Messenger& lender) : lender_(lender) {}

  [[nodiscard]] int peer_count() const override { return lender_.peer_count(); }

  [[nodiscard]] int rank() const override { return lender_.rank(); }

  int add(Direction direction, const Message& message, int parity) override {
    return lender_.add(direction, message, parity);
  }

  [[nodiscard]] bool is_near(int peer) const override { return lender_.is_near(peer); }

  void start(int channel) override { lender_.start(channel); }

  void start_unawaited(int channel) override { lender_.start_unawaited(channel); }

  int poll(std::span<int> ended) override { return lender_.poll(ended); }

  int wait(std::span<int> ended) override { return lender_.wait(ended); }

  /// The lender removes all channels together.
  void clear() override {}

 private:
  Messenger& lender_;
};

bool are_equal(const GhostFiller::Wanted& one, const GhostFiller::Wanted& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const auto& a, const auto& b) {
                      return a.first == b.first && a.second.radius == b.second.radius &&
                             a.second.is_box == b.second.is_box;
                    });
}

}  // namespace

void GhostFiller::fill(const Wanted& wanted, const AnyTiling* tiling, Messenger* messenger) {
  if (messenger == nullptr)
    throw GraphError("graph: a sweep reads " + wanted[0].first->name() +
                     " around its cells; another graph has written it since its ghosts were "
                     "filled, and this graph has no messenger to fill them");
  auto known = std::find_if(graphs_.begin(), graphs_.end(), [&](const Filling& filling) {
    return are_equal(filling.wanted, wanted);
  });
  if (known == graphs_.end()) {
    graphs_.push_back(
        {wanted, std::make_unique<Graph>(std::make_unique<LentMessenger>(*messenger))});
    known = graphs_.end() - 1;
    std::vector<Declaration> written;
    std::vector<Declaration> read;
    for (const auto& [field, footprint] : wanted) {
      written.push_back({field, true, {}});
      read.push_back({field, false, footprint});
    }
    const auto nothing = [] {};
    Graph& graph = *known->graph;
    graph.declare(graph.family("ghosts", tiling->tiles()).body(nothing), *tiling,
                  std::move(written));
    graph.declare(graph.family("ghosts filled", tiling->tiles()).body(nothing), *tiling,
                  std::move(read));
  }
  known->graph->run();
}

}  // namespace sorrel::graph
