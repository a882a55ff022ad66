#include "weak_memory.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "worker.hpp"

namespace gputm::host {

namespace {

using simt::order;
using simt::scope;
using simt::host::rmw_kind;

using numbers = std::vector<std::uint32_t>;

void join(numbers& a, const numbers& b) {
  if (a.size() < b.size()) a.resize(b.size(), 0);
  for (std::size_t i = 0; i < b.size(); ++i) a[i] = a[i] < b[i] ? b[i] : a[i];
}
std::uint32_t get(const numbers& v, std::uint32_t i) { return i < v.size() ? v[i] : 0; }
void raise(numbers& v, std::uint32_t i, std::uint32_t x) {
  if (v.size() <= i) v.resize(i + 1, 0);
  if (v[i] < x) v[i] = x;
}

bool acquires(order o) { return o == order::acquire || o == order::acq_rel || o == order::seq_cst; }
bool releases(order o) { return o == order::release || o == order::acq_rel || o == order::seq_cst; }

publication merge(const publication& a, const publication& b) {
  if (!a || a == b) return b;
  if (!b || b->known_to(a->what)) return a;
  if (a->known_to(b->what)) return b;
  auto both = std::make_shared<announcement>(*a);
  both->what.join(b->what);
  for (const announcement::tick& t : b->ticks) {
    const auto same =
        std::find_if(both->ticks.begin(), both->ticks.end(), [&](auto& u) { return u.thread == t.thread; });
    if (same == both->ticks.end())
      both->ticks.push_back(t);
    else
      same->clock = std::max(same->clock, t.clock);
  }
  return both;
}

void learn(const publication& p, knowledge& learner) {
  if (p && !p->known_to(learner)) learner.join(p->what);
}

template <class T>
std::uint64_t applied(rmw_kind k, std::uint64_t old, std::uint64_t operand) {
  using simt::host::from_bits;
  return simt::host::to_bits(simt::host::apply<T>(k, from_bits<T>(old), from_bits<T>(operand)));
}
template <class Signed, class Unsigned>
std::uint64_t applied(const modification& m, std::uint64_t old) {
  return m.is_signed ? applied<Signed>(m.kind, old, m.operand) : applied<Unsigned>(m.kind, old, m.operand);
}
std::uint64_t applied(const modification& m, std::uint64_t old, unsigned size) {
  switch (size) {
    case 1: return applied<std::int8_t, std::uint8_t>(m, old);
    case 2: return applied<std::int16_t, std::uint16_t>(m, old);
    case 4: return applied<std::int32_t, std::uint32_t>(m, old);
    default: return applied<std::int64_t, std::uint64_t>(m, old);
  }
}

std::uint64_t read_memory(const void* p, unsigned size) {
  std::uint64_t value = 0;
  std::memcpy(&value, p, size);
  return value;
}

/// The largest naturally aligned piece at the start of a plain access.
unsigned piece(std::uintptr_t address, unsigned size) {
  return std::min(std::bit_floor(size), 1u << std::min(3, std::countr_zero(address | 8)));
}
}  // namespace

void knowledge::join(const knowledge& other) {
  host::join(seen, other.seen);
  host::join(clock, other.clock);
}

void knowledge::clear() {
  seen.clear();
  clock.clear();
}

bool announcement::known_to(const knowledge& k) const {
  return std::all_of(ticks.begin(), ticks.end(), [&](const tick& t) { return get(k.clock, t.thread) >= t.clock; });
}

void weak_memory::thread::reset() {
  now.clear();
  for (const side s : {near, far}) {
    acquirable[s].clear();
    fenced[s] = nullptr;
  }
}

void weak_memory::reset(std::uint32_t threads, std::uint32_t blocks) {
  threads_.resize(threads);
  for (thread& t : threads_) t.reset();
  granules_.clear();
  used_ = 0;
  ended_.clear();
  device_fences_.clear();
  block_fences_.assign(blocks, {});
}

weak_memory::thread& weak_memory::self() { return threads_[owner_.self().rank]; }

// ---- locations -------------------------------------------------------------------------------

weak_memory::location& weak_memory::locate(const request& r) {
  const auto address = reinterpret_cast<std::uintptr_t>(r.address);
  if (address % r.size != 0) fail_misaligned(r);
  granule& g = granules_[address / 8];
  const auto first = g.begin() + address % 8, last = first + r.size;
  if (const auto taken = std::find_if(first, last, [](std::uint32_t i) { return i != 0; }); taken != last) {
    location& l = locations_[*taken - 1];
    if (l.ended) fail_ended(r);
    if (l.address != r.address || l.size != r.size) fail_mixed(l, r);
    if (l.newest.value != read_memory(r.address, r.size)) fail_changed(l, r);
    return l;
  }
  location& l = create(r);
  std::fill(first, last, used_);
  return l;
}

weak_memory::location& weak_memory::create(const request& r) {
  for (const bytes_of_block& b : ended_)
    if (reinterpret_cast<std::uintptr_t>(r.address) - b.begin < b.bytes) fail_ended(r);
  if (used_ == locations_.size()) locations_.emplace_back();
  location& l = locations_[used_++];
  l.address = r.address;
  l.size = r.size;
  l.first = r.at;
  l.first_kind = r.kind;
  l.ended = false;
  l.dropped = 0;
  l.accesses.clear();
  l.newest = {read_memory(r.address, r.size), 0, {}};  // what the host wrote
  l.older.clear();
  return l;
}

void weak_memory::forget(const shared_memory& m) {
  if (m.named_begin()) forget(m.named_begin(), shared_memory::named_limit);
  if (m.dynamic_begin()) forget(m.dynamic_begin(), m.dynamic_bytes());
}

template <class Act>
void weak_memory::each_within(const void* begin, std::size_t bytes, Act act) {
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  for (std::uint32_t i = 0; i < used_; ++i)
    if (reinterpret_cast<std::uintptr_t>(locations_[i].address) - first < bytes) act(locations_[i]);
}

void weak_memory::forget(const void* begin, std::size_t bytes) {
  each_within(begin, bytes,
              [this](const location& l) { granules_[reinterpret_cast<std::uintptr_t>(l.address) / 8] = {}; });
}

void weak_memory::end(const shared_memory& m) {
  each_within(m.dynamic_begin(), m.dynamic_bytes(), [](location& l) { l.ended = true; });
  ended_.push_back({reinterpret_cast<std::uintptr_t>(m.dynamic_begin()), m.dynamic_bytes()});
}

// Memory on a thread's own stack is nobody else's, and means something else at the next call.
bool weak_memory::is_private(const void* p) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(owner_.self().stack);
  return reinterpret_cast<std::uintptr_t>(p) - begin < owner_.stack_bytes();
}

// ---- loads -----------------------------------------------------------------------------------

std::uint64_t weak_memory::load(const request& whole) {
  if (is_private(whole.address)) return read_memory(whole.address, whole.size);
  if (!whole.plain) return load_one(whole);
  std::uint64_t value = 0;
  for (unsigned done = 0; done < whole.size;) {
    request r = whole;
    r.address = static_cast<const std::byte*>(whole.address) + done;
    r.size = piece(reinterpret_cast<std::uintptr_t>(r.address), whole.size - done);
    value |= load_one(r) << (8 * done);
    done += r.size;
  }
  return value;
}

std::uint64_t weak_memory::load_one(const request& r) {
  location& l = locate(r);
  if (r.order == order::seq_cst) order_after_fences(r.scope);
  // A plain load that does not race has the newest store before it.
  const std::uint32_t index = r.plain ? l.index_of_newest() : choose(l, get(self().now.seen, index_of(l)), nullptr);
  read(l, index, r, r.order);
  check(l, r, false);  // after the read: what it has acquired happens before it
  return l.at(index).value;
}

// From the newest store one step back at a time, as chance will have it.
std::uint32_t weak_memory::choose(location& l, std::uint32_t oldest, const std::uint64_t* unwanted) {
  oldest = std::max(oldest, l.dropped);
  std::uint32_t i = l.index_of_newest();
  while (i > oldest && owner_.random().chance(owner_.settings().stale_probability)) --i;
  if (i == l.index_of_newest() || (unwanted && l.at(i).value == *unwanted)) return l.index_of_newest();
  ++owner_.counters().stale_reads;
  return i;
}

void weak_memory::read(location& l, std::uint32_t index, const request& r, order o) {
  thread& t = self();
  const stored& s = l.at(index);
  raise(t.now.seen, index_of(l), index);
  if (!r.plain) {
    const bool within = s.block == owner_.self().state.block;
    if (within) learn(s.published[near], acquires(o) ? t.now : t.acquirable[near]);
    if (r.scope != scope::block && !(within && s.published[far] == s.published[near]))
      learn(s.published[far], acquires(o) ? t.now : t.acquirable[far]);
  }
  owner_.mix(s.value);
}

// ---- stores ----------------------------------------------------------------------------------

void weak_memory::store(const request& whole, std::uint64_t value) {
  if (is_private(whole.address)) {
    std::memcpy(const_cast<void*>(whole.address), &value, whole.size);
    return;
  }
  if (!whole.plain) return store_one(whole, value);
  for (unsigned done = 0; done < whole.size;) {
    request r = whole;
    r.address = static_cast<const std::byte*>(whole.address) + done;
    r.size = piece(reinterpret_cast<std::uintptr_t>(r.address), whole.size - done);
    const std::uint64_t mask = r.size == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * r.size)) - 1;
    store_one(r, value >> (8 * done) & mask);
    done += r.size;
  }
}

void weak_memory::store_one(const request& r, std::uint64_t value) {
  location& l = locate(r);
  if (r.order == order::seq_cst) order_after_fences(r.scope);
  check(l, r, true);
  append(l, r, value, nullptr);
}

publication weak_memory::announce() {
  const std::uint32_t rank = owner_.self().rank;
  numbers& clock = self().now.clock;
  raise(clock, rank, get(clock, rank) + 1);
  return std::make_shared<const announcement>(announcement{self().now, {{rank, clock[rank]}}});
}

weak_memory::by_side<publication> weak_memory::publish(const request& r, const stored* continued) {
  if (r.plain) return {};
  by_side<publication> all = self().fenced;
  if (releases(r.order)) all[near] = all[far] = announce();
  if (r.scope == scope::block) all[far] = nullptr;
  if (!continued) return all;
  // A read-modify-write continues the release sequence of the store that it replaces. What another block has released
  // can be acquired at device scope only, in this block too: a little less than PTX says where that block had it from
  // this one.
  const bool within = continued->block == owner_.self().state.block, same = all[near] == all[far];
  if (within) all[near] = merge(all[near], continued->published[near]);
  if (r.scope != scope::block)
    all[far] = within && same && continued->published[near] == continued->published[far]
                   ? all[near]
                   : merge(all[far], continued->published[far]);
  return all;
}

void weak_memory::append(location& l, const request& r, std::uint64_t value, const stored* continued) {
  raise(self().now.seen, index_of(l), l.index_of_newest() + 1);
  stored s{value, owner_.self().state.block, publish(r, continued)};
  if (r.plain) {
    // Whoever does not know of this store races with it: nobody may load an older one.
    l.dropped = l.index_of_newest() + 1;
    l.older.clear();
  } else {
    if (l.older.size() + 1 >= 2 * window) {
      l.older.erase(l.older.begin(), l.older.begin() + window);
      l.dropped += window;
    }
    l.older.push_back(std::move(l.newest));
  }
  l.newest = std::move(s);
  std::memcpy(const_cast<void*>(r.address), &value, r.size);
  owner_.mix(value);
}

std::uint64_t weak_memory::modify(const request& r, const modification& m) {
  if (is_private(r.address)) {
    const std::uint64_t old = read_memory(r.address, r.size);
    const std::uint64_t next = applied(m, old, r.size);
    if (m.kind != rmw_kind::cas || old == m.expected) std::memcpy(const_cast<void*>(r.address), &next, r.size);
    return old;
  }
  location& l = locate(r);
  if (r.order == order::seq_cst) order_after_fences(r.scope);
  // One that writes must read the newest store. A failing compare-exchange is a load.
  const bool cas = m.kind == rmw_kind::cas;
  std::uint32_t index = l.index_of_newest();
  if (cas) index = choose(l, get(self().now.seen, index_of(l)), &m.expected);
  const bool writes = !cas || l.at(index).value == m.expected;
  read(l, index, r, writes ? r.order : m.failure);
  check(l, r, writes);
  const stored old = l.at(index);  // a copy: the history grows
  if (writes) append(l, r, applied(m, old.value, r.size), &old);
  return old.value;
}

// ---- fences and barriers ---------------------------------------------------------------------

void weak_memory::fence(order o, scope s) {
  thread& t = self();
  if (acquires(o)) {
    t.now.join(t.acquirable[near]);
    if (s != scope::block) t.now.join(t.acquirable[far]);
  }
  if (o == order::seq_cst) order_after_fences(s);
  if (releases(o)) {
    t.fenced[near] = announce();
    if (s != scope::block) t.fenced[far] = t.fenced[near];
  }
}

// The total order of seq_cst fences, which is the order of their execution; two fences are in it together if
// the scope of each holds the other's thread. It orders what may be read, and makes nothing happen before
// anything. A seq_cst access has such a fence before it, as compilers for GPUs make it.
void weak_memory::order_after_fences(scope s) {
  numbers& seen = self().now.seen;
  numbers& in_block = block_fences_[owner_.self().state.block];
  host::join(seen, in_block);
  if (s != scope::block) {
    host::join(seen, device_fences_);
    host::join(device_fences_, seen);
  }
  host::join(in_block, seen);
}

void weak_memory::join(const std::vector<fiber*>& participants) {
  knowledge all;
  for (const fiber* f : participants) all.join(threads_[f->rank].now);
  for (const fiber* f : participants) threads_[f->rank].now = all;
}

}  // namespace gputm::host
