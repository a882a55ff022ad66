// Small recorded runs of a cache, and a sequential cache that they are held against: the serial order that the
// history checker finds is replayed, and every GET must have returned what the sequential cache returns there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cache.hpp"
#include "cache_state.hpp"
#include "gputm/history.hpp"

namespace gputm::workloads {

/// One operation. `number` is 0 for a GET, else what is put; and it is the LRU stamp, so that no PUT writes the
/// metadata that another one has written: the history checker knows writers by what they write.
struct cache_operation {
  std::uint32_t id, number;
  GPUTM_INLINE bool is_get() const { return number == 0; }
};
/// Either kind at one place of the kernel: lanes of a warp may differ in it.
struct cache_either {
  using result_type = cache_hit;
  cache items;
  GPUTM_INLINE bool read_only(const cache_operation& o) const { return o.is_get(); }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, const cache_operation& o) const {
    if (o.is_get()) return cache_get{items}(tx, key_of(o.id));
    return cache_put{items}(tx, put_order{key_of(o.id), o.number, o.number});
  }
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, const cache_operation& o) const {
    items.footprint(touch, key_of(o.id));
  }
};

/// What each thread of a recorded run does, drawn from the seed.
struct cache_program {
  std::uint32_t operations, keys;
  std::uint64_t seed;
  GPUTM_INLINE cache_operation operator()(std::uint32_t rank, std::uint32_t n) const {
    const std::uint64_t word = random_word(seed, rank, n);
    const auto id = static_cast<std::uint32_t>((word & 0xFFFFFFFF) * keys >> 32);
    return {id, word >> 63 ? rank * operations + n + 1 : 0};
  }
};
struct recording_client {
  cache items;
  cache_program program;
  cache_hit* got;  ///< of each operation
  template <class Context>
  GPUTM_FN void operator()(Context& ctx) const {
    for (std::uint32_t n = 0; n < program.operations; ++n) {
      const cache_operation o = program(ctx.rank(), n);
      cache_hit h{};
      if (ctx.transact_into(simt::full_mask, h, cache_either{items}, o) != outcome::commit) return;
      if (h.hit) items.touch(h.slot, ctx.rank() * program.operations + n + 1);
      got[ctx.rank() * program.operations + n] = h;
    }
  }
};

struct recording_options {
  std::uint32_t sets = 2, ways = 2, keys = 6;
  std::uint32_t operations = 3;  ///< of each thread
  std::uint64_t seed = 1;
  memory_options memory;
  launch_config launch;  ///< without zeros but in the capacity
};
/// A run from an empty cache.
struct recorded_cache {
  cache_program program;
  history::level promised;
  std::uint32_t metadata;  ///< its region in the history
  std::vector<cache_hit> got;
  cache_state last;
  history::history record;
};

namespace detail {

/// The sequential cache. A full set's victim is chosen by stamps that no transaction orders: it is taken from the
/// record, and may be any item of the set.
class cache_model {
  struct item {
    std::uint32_t id = 0, number = 0;
  };
  const recorded_cache& run_;
  std::uint32_t sets_;
  std::vector<item> slots_;

  std::string about(const cache_operation& o) const {
    return (o.is_get() ? "GET" : "PUT " + std::to_string(o.number)) + " of key " + std::to_string(o.id);
  }
  /// The slot that has the key, else the first free one, else the end of the set.
  std::uint32_t find(std::uint32_t id, std::uint32_t first) const {
    std::uint32_t slot = first;
    while (slot < first + run_.last.ways && slots_[slot].number != 0 && slots_[slot].id != id) ++slot;
    return slot;
  }
  std::string get(const cache_operation& o, std::uint32_t first, const cache_hit& got) const {
    const std::uint32_t slot = find(o.id, first);
    const bool hit = slot < first + run_.last.ways && slots_[slot].number != 0;
    const std::uint64_t number = hit ? slots_[slot].number : 0;
    if (got.hit != hit) return about(o) + (hit ? " misses, and should hit" : " hits, and should miss");
    if (!hit) return "";
    if (!is_whole(key_of(o.id), got.value)) return about(o) + " returned a value that is not whole";
    if (got.value.number == number && got.slot == slot) return "";
    return about(o) + " returned the value of PUT " + std::to_string(got.value.number) + " in slot " +
           std::to_string(got.slot) + ", and should that of PUT " + std::to_string(number) + " in slot " +
           std::to_string(slot);
  }
  std::string put(const cache_operation& o, std::uint32_t first, const history::transaction& t) {
    std::uint32_t written = 0, writes = 0;
    for (const history::access& a : t.accesses)
      if (a.is_write && a.region == run_.metadata) {
        written = a.element;
        ++writes;
      }
    const std::uint32_t slot = find(o.id, first), end = first + run_.last.ways;
    const bool right = slot < end ? written == slot : written >= first && written < end;
    if (writes != 1 || !right) return about(o) + " wrote a slot that is not its own: " + std::to_string(written);
    slots_[written] = {o.id, o.number};
    return "";
  }

 public:
  explicit cache_model(const recorded_cache& r)
      : run_(r), sets_(static_cast<std::uint32_t>(r.last.info.size() / r.last.ways)), slots_(r.last.info.size()) {}

  std::string apply(const cache_operation& o, const cache_hit& got, const history::transaction& t) {
    const std::uint32_t first = cache::set_of(key_of(o.id), sets_) * run_.last.ways;
    return o.is_get() ? get(o, first, got) : put(o, first, t);
  }
  std::string last() const {
    for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
      const item& i = slots_[slot];
      const bool used = i.number != 0, valid = run_.last.info[slot].valid();
      if (used == valid && (!used || (run_.last.keys[slot].is(key_of(i.id)) && run_.last.info[slot].stamp == i.number &&
                                      run_.last.values[slot].number == i.number)))
        continue;
      return "slot " + std::to_string(slot) + " does not hold in the end what the last PUT there has written";
    }
    return "";
  }
};

/// The history of the metadata alone. Who writes a key or a value writes metadata that nobody else writes, and who
/// reads one has read that before, so an order that explains the one explains the other. Keys are written again
/// with the same bytes, which the checker could not tell apart.
inline history::history metadata_of(const recorded_cache& r) {
  history::history h;
  for (history::transaction t : r.record.transactions) {
    std::erase_if(t.accesses, [&](const history::access& a) { return a.region != r.metadata; });
    h.transactions.push_back(std::move(t));
  }
  for (std::uint32_t slot = 0; slot < r.last.info.size(); ++slot)
    h.final[{r.metadata, slot}] = std::uint64_t{r.last.info[slot].stamp} << 32 | r.last.info[slot].tag;
  return h;
}

/// Which operation of its thread each transaction is: the n-th that was not aborted is the n-th.
inline std::vector<std::uint32_t> operations_of(const history::history& h) {
  std::vector<std::uint32_t> numbers(h.transactions.size()), done;
  std::vector<std::size_t> in_time(h.transactions.size());
  for (std::size_t k = 0; k < in_time.size(); ++k) in_time[k] = k;
  std::sort(in_time.begin(), in_time.end(),
            [&](std::size_t a, std::size_t b) { return h.transactions[a].begin < h.transactions[b].begin; });
  for (const std::size_t k : in_time) {
    const history::transaction& t = h.transactions[k];
    if (t.thread >= done.size()) done.resize(t.thread + 1);
    numbers[k] = done[t.thread];
    done[t.thread] += t.how != history::transaction::ended::aborted;
  }
  return numbers;
}

}  // namespace detail

/// What is wrong with a recorded run; empty if nothing is.
inline std::string judge(const recorded_cache& r) {
  const auto issued = [&](const cache_key& key, std::uint64_t number) {
    if (number == 0 || number > r.got.size()) return false;
    const auto k = static_cast<std::uint32_t>(number - 1), each = r.program.operations;
    const cache_operation o = r.program(k / each, k % each);
    return o.number == number && key.is(key_of(o.id));
  };
  if (const cache_report found = inspect(r.last, issued); !found.ok()) return found.text();
  const history::history h = detail::metadata_of(r);
  const history::verdict v = history::check(h, {.level = r.promised});
  if (!v.ok) return "the history cannot be explained: " + v.what;
  const std::vector<std::uint32_t> numbers = detail::operations_of(r.record);
  detail::cache_model model(r);
  for (const std::size_t k : v.order) {
    const history::transaction& t = r.record.transactions[k];
    if (t.how == history::transaction::ended::aborted) continue;
    const std::string wrong =
        model.apply(r.program(t.thread, numbers[k]), r.got[t.thread * r.program.operations + numbers[k]], t);
    if (!wrong.empty()) return "held against a sequential cache: " + wrong;
  }
  return model.last();
}

inline namespace GPUTM_BUILD {

/// Runs and records. Throws as launch() does.
template <Algorithm A>
recorded_cache record_cache(const device& d, const recording_options& o) {
  const std::uint64_t slots = std::uint64_t{o.sets} * o.ways;
  stream s(d);
  memory<A> tm(d, o.memory);
  const buffer touched(d, slots * sizeof(std::uint32_t));
  const cache items{tm.template allocate<item_info>(slots, {}, "metadata"),
                    tm.template allocate<cache_key>(slots, {}, "keys"),
                    tm.template allocate<cache_value>(slots, {}, "values"),
                    touched.as<std::uint32_t>(),
                    o.sets,
                    o.ways};
  launch_config shape = o.launch;
  if (A::traits.one_thread) shape.blocks = shape.threads = 1;
  shape.capacity = {.reads = cache_reads(o.ways), .writes = cache_put::writes};
  const std::uint64_t operations = std::uint64_t{shape.blocks} * shape.threads * o.operations;
  const buffer got(d, operations * sizeof(cache_hit));
  d->fill_zero(s.handle(), touched.as<void>(), touched.size());
  d->fill_zero(s.handle(), got.as<void>(), got.size());
  recorded_cache r{{o.operations, o.keys, o.seed},
                   A::traits.opaque ? history::level::opaque : history::level::strict,
                   items.info.handle() & 255u,
                   std::vector<cache_hit>(operations),
                   {},
                   {}};
  const recording_client client{items, r.program, got.as<cache_hit>()};
  auto w = make_launch_workspace<with_history>(s, tm, shape, client);
  launch_async(s, tm, w, client);
  w.collect(s, tm);
  w.take_history(s, r.record);
  d->copy_from_device(s.handle(), r.got.data(), got.as<void>(), got.size());
  r.last = {o.ways, tm.read(s, items.info), tm.read(s, items.keys), tm.read(s, items.values)};
  return r;
}

}  // namespace GPUTM_BUILD
}  // namespace gputm::workloads
