// Molecular dynamics: GPU-TLS, listing 1. Each atom adds the forces between it and its partners to both, in a dilute
// gas: every pair of partners is a read-after-write dependence.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gputm/mostly_idle.hpp"
#include "loops/places.hpp"
#include "random.hpp"

namespace gputm::workloads {

struct molecular_dynamics_options {
  std::int64_t iterations = 8192;  ///< atoms
  double partners = 0.02;          ///< of an atom, on average; each pair counts once, for its first atom
  std::uint64_t seed = 1;
};

/// The paper's ATOM: a place, or a force. One element.
struct atom {
  double x, y, z;
};

template <class Arrays>
struct molecular_dynamics_body {
  typename Arrays::template of<atom> forces;  // the listing's Y
  const atom* places;                         // its X
  const std::uint32_t* first_partner;
  const std::uint32_t* partners;

  /// Adds `sign` times the force that b exerts on a: a softened inverse-power law with a repulsive core.
  static GPUTM_INLINE atom add_force(atom sum, const atom& a, const atom& b, double sign) {
    const double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    const double inverse = 1 / multiply_add(x, x, multiply_add(y, y, multiply_add(z, z, 0.01)));
    const double cube = inverse * inverse * inverse;
    const double strength = sign * inverse * cube * multiply_add(cube, 1e-6, -1e-3);
    return {multiply_add(strength, x, sum.x), multiply_add(strength, y, sum.y), multiply_add(strength, z, sum.z)};
  }
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<std::uint32_t>(i);
    for (std::uint32_t p = first_partner[k], end = first_partner[k + 1]; p < end; ++p) {
      const std::uint32_t j = partners[p];
      GPUTM_TRY(const atom mine, it.load(forces[k]));
      GPUTM_TRY(it.store(forces[k], add_force(mine, places[k], places[j], 1)));
      GPUTM_TRY(const atom its, it.load(forces[j]));
      GPUTM_TRY(it.store(forces[j], add_force(its, places[k], places[j], -1)));
    }
    return commit;
  }
};

struct molecular_dynamics_problem : loop_problem {
  static constexpr double most_partners_of_idle = 0.2;  ///< of an atom, on average
  std::vector<atom> places, forces;
  std::vector<std::uint32_t> first_partner, partners;

  /// Throws invalid_argument.
  explicit molecular_dynamics_problem(const molecular_dynamics_options& o) {
    gputm::detail::check_iterations(o.iterations);
    if (!(o.partners >= 0 && o.partners <= 2))
      throw invalid_argument(std::to_string(o.partners) + " partners of an atom: it must be from 0 to 2");
    check_host_bytes("the atoms", static_cast<double>(o.iterations) * 160);
    iterations = o.iterations;
    const auto n = static_cast<std::uint32_t>(o.iterations);
    forces.assign(n, atom{0, 0, 0});
    const std::uint32_t most = find_partners(n, scatter(n, o.seed), o.partners);
    capacity = {.reads = most + 1, .writes = most + 1};
    dependent = !partners.empty();
    idles = o.partners <= most_partners_of_idle;
  }
  template <class Place>
  auto place(Place& p) const {
    return mostly_idle{molecular_dynamics_body<typename Place::arrays>{p.shared(forces, "Y"), p.input(places),
                                                                       p.input(first_partner), p.input(partners)}};
  }

 private:
  /// Cells of a cubic box of one atom a unit of volume; a cell's side is at least 1.
  struct cells {
    std::uint32_t side;                // of the box, in cells
    double length;                     // of a cell's side
    std::vector<std::uint32_t> first;  // atoms of cell c: from first[c] to first[c + 1]
    std::uint32_t coordinate(double x) const { return std::min(static_cast<std::uint32_t>(x / length), side - 1); }
    std::uint32_t of(const atom& a) const {
      return (coordinate(a.z) * side + coordinate(a.y)) * side + coordinate(a.x);
    }
  };

  /// Random places, in the order of their cells, as programs of this kind keep them.
  cells scatter(std::uint32_t n, std::uint64_t seed) {
    const double box = std::cbrt(std::max(n, 1u));
    cells c;
    c.side = std::max(1u, static_cast<std::uint32_t>(box));
    c.length = box / c.side;
    c.first.assign(std::size_t{c.side} * c.side * c.side + 1, 0);
    generator random(seed, 3);
    const auto coordinate = [&] { return random.next() * (box / 4294967296.0); };
    std::vector<atom> drawn(n);
    for (atom& a : drawn) {
      a.x = coordinate();
      a.y = coordinate();
      a.z = coordinate();
      ++c.first[c.of(a) + 1];
    }
    for (std::size_t k = 1; k < c.first.size(); ++k) c.first[k] += c.first[k - 1];
    std::vector<std::uint32_t> next(c.first.begin(), c.first.end() - 1);
    places.resize(n);
    for (const atom& a : drawn) places[next[c.of(a)]++] = a;
    return c;
  }
  /// Pairs closer than a radius that gives so many on average. Returns the most of one atom.
  std::uint32_t find_partners(std::uint32_t n, const cells& c, double average) {
    const double radius_squared = std::pow(average * 1.5 / 3.14159265358979, 2.0 / 3);
    first_partner.assign(std::size_t{n} + 1, 0);
    std::uint32_t most = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      append_partners(i, c, radius_squared);
      first_partner[i + 1] = static_cast<std::uint32_t>(partners.size());
      most = std::max(most, first_partner[i + 1] - first_partner[i]);
    }
    return most;
  }
  void append_partners(std::uint32_t i, const cells& c, double radius_squared) {
    const atom a = places[i];
    const std::uint32_t x = c.coordinate(a.x), y = c.coordinate(a.y), z = c.coordinate(a.z), last = c.side - 1;
    for (std::uint32_t v = z == 0 ? 0 : z - 1; v <= std::min(z + 1, last); ++v)
      for (std::uint32_t u = y == 0 ? 0 : y - 1; u <= std::min(y + 1, last); ++u) {
        const std::size_t row = (std::size_t{v} * c.side + u) * c.side;
        const std::uint32_t end = c.first[row + std::min(x + 1, last) + 1];
        for (std::uint32_t j = std::max(i + 1, c.first[row + (x == 0 ? 0 : x - 1)]); j < end; ++j) {
          const double dx = a.x - places[j].x, dy = a.y - places[j].y, dz = a.z - places[j].z;
          if (dx * dx + dy * dy + dz * dz < radius_squared) partners.push_back(j);
        }
      }
  }
};

}  // namespace gputm::workloads
