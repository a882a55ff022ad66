// Several arrays of different types in one memory and one transaction: a counter says which slot of a
// buffer of structs is next, and both change together.
#include <gputm/gputm.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

#include "any_device.hpp"

struct particle {  // any trivially copyable type is one element
  double x, y, z;
  std::uint16_t species;
};

struct append_if_inside {
  gputm::array<std::uint64_t> used;  // one element
  gputm::array<particle> buffer;
  gputm::array<int> population;  // by species
  double radius;

  template <gputm::Transaction Tx>
  GPUTM_FN gputm::outcome operator()(Tx& tx, const particle& p) const {
    if (p.x * p.x + p.y * p.y + p.z * p.z > radius * radius) return gputm::cancel;
    GPUTM_TRY(std::uint64_t next, tx.load(used[0]));
    GPUTM_TRY(tx.store(used[0], next + 1));
    GPUTM_TRY(tx.store(buffer[next], p));
    GPUTM_TRY(int count, tx.load(population[p.species]));
    GPUTM_TRY(tx.store(population[p.species], count + 1));
    return gputm::commit;
  }
};

int main() {
  constexpr int species = 3, all = 4000;
  gputm::device device = examples::any_device();
  gputm::stream stream{device};
  gputm::memory<gputm::algorithm::pr_stm> tm{device};
  auto used = tm.allocate<std::uint64_t>(1, 0, "used");
  auto buffer = tm.allocate<particle>(all, {}, "buffer");
  auto population = tm.allocate<int>(species, 0, "population");

  std::vector<particle> particles;
  std::vector<int> expected(species);
  std::uint64_t inside = 0;
  for (int i = 0; i < all; ++i) {
    const double x = i % 101 - 50, y = i % 103 - 51, z = i % 107 - 53;
    particles.push_back({x, y, z, static_cast<std::uint16_t>(i % species)});
    if (x * x + y * y + z * z > 40 * 40) continue;
    ++inside;
    ++expected[i % species];
  }
  gputm::run(stream, tm, particles, append_if_inside{used, buffer, population, 40}, {.reads = 3, .writes = 3});

  const std::uint64_t kept = tm.read(stream, used, 0);
  auto slots = tm.read(stream, buffer);
  std::vector<int> in_buffer(species);
  for (std::uint64_t i = 0; i < kept; ++i) ++in_buffer[slots[i].species];
  std::printf("%lu of %d particles kept; %d, %d and %d of each species\n", kept, all, in_buffer[0], in_buffer[1],
              in_buffer[2]);
  return kept == inside && in_buffer == expected && tm.read(stream, population) == expected ? 0 : 1;
}
