// Transactions inside your own kernel: each thread walks a graph and colours it, so that the next
// transaction depends on what the last one found.
#include <gputm/gputm.hpp>

#include <cstdio>
#include <vector>

#include "any_device.hpp"

/// Gives a vertex of a ring the lowest colour that neither neighbour has; returns it.
struct colour_vertex {
  using result_type = int;
  gputm::array<int> colour;  // 0: none yet

  template <gputm::Transaction Tx>
  GPUTM_FN gputm::outcome operator()(Tx& tx, unsigned v) const {
    const unsigned n = colour.size();
    GPUTM_TRY(int mine, tx.load(colour[v]));
    if (mine != 0) return gputm::cancel;  // another thread was here
    GPUTM_TRY(int left, tx.load(colour[(v + n - 1) % n]));
    GPUTM_TRY(int right, tx.load(colour[(v + 1) % n]));
    int c = 1;
    while (c == left || c == right) ++c;
    GPUTM_TRY(tx.store(colour[v], c));
    tx.result(c);
    return gputm::commit;
  }
};

struct walk {
  template <class Context>
  GPUTM_FN void operator()(Context& ctx, gputm::array<int> colour, unsigned steps) const {
    unsigned v = ctx.rank() * 7919u % colour.size();
    for (unsigned i = 0; i < steps; ++i) {
      int c = 0;
      const gputm::outcome o = ctx.transact_into(gputm::simt::full_mask, c, colour_vertex{colour}, v);
      if (o == gputm::outcome::conflict) return;  // an error stopped the launch
      v = (v + (o == gputm::commit ? 1 : 2)) % colour.size();
    }
  }
};

int main() {
  constexpr unsigned vertices = 1000;
  gputm::device device = examples::any_device();
  gputm::stream stream{device};
  gputm::memory<gputm::algorithm::pr_stm> tm{device};
  auto colour = tm.allocate<int>(vertices, 0, "colour");

  gputm::launch_config config;
  config.capacity = {.reads = 3, .writes = 1};
  config.blocks = 4;
  config.threads = 64;
  auto stats = gputm::launch(stream, tm, config, walk{}, colour, 2 * vertices);

  auto colours = tm.read(stream, colour);
  unsigned coloured = 0, clashes = 0;
  for (unsigned v = 0; v < vertices; ++v) {
    coloured += colours[v] != 0;
    clashes += colours[v] != 0 && colours[v] == colours[(v + 1) % vertices];
  }
  std::printf("%u of %u vertices coloured, %u clashes; %lu commits, %lu conflicts\n", coloured, vertices, clashes,
              stats.commits, stats.conflicts());
  return stats.commits == coloured && coloured == vertices && clashes == 0 ? 0 : 1;
}
