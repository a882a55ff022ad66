// Floor 2: a versioned box (VBox, thesis section 3.1): the recent versions of one element, in a ring. Its
// record is {head, V slots of {stamp, value words}}; the head is {versions ever pushed, slot of the newest}. While
// it is 0, the array's own element holds the value, with stamp 0.
//
// One writer at a time: whoever holds the right to write back this element. Readers are invisible. Every
// version up to the global time stamp is complete before a reader can have that stamp as its snapshot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "gputm/parts/region.hpp"
#include "gputm/parts/words.hpp"
#include "gputm/simt/simt.hpp"

namespace gputm::parts {

enum class version_found : std::uint8_t {
  newest,      ///< the version read is the latest
  older,       ///< there is a newer one than the snapshot
  overwritten  ///< the wanted version is gone
};

class version_ring {
  using order = simt::order;
  static constexpr std::uint64_t unstable = ~std::uint64_t{0};  // the stamp of a slot that is being written

  std::uint64_t* record_;
  std::uint32_t versions_;
  std::uint32_t slot_words_;  // with the stamp

  static constexpr unsigned slot_bits = 16;  // of the head

  GPUTM_INLINE std::uint64_t* slot(std::uint32_t k) const { return record_ + 1 + k * slot_words_; }
  static GPUTM_INLINE std::uint32_t newest(std::uint64_t head) {
    return static_cast<std::uint32_t>(head) & ((1u << slot_bits) - 1);
  }
  static GPUTM_INLINE std::uint64_t pushed(std::uint64_t head) { return head >> slot_bits; }
  /// The slot before `k`. (A division would cost more than the load of a slot.)
  GPUTM_INLINE std::uint32_t before(std::uint32_t k) const { return k == 0 ? versions_ - 1 : k - 1; }
  static GPUTM_INLINE constexpr std::uint32_t words_of(std::uint32_t bytes) { return (bytes + 7) / 8; }

 public:
  /// Bytes of one record.
  static GPUTM_INLINE constexpr std::size_t bytes(std::uint32_t element_bytes, std::uint32_t versions) {
    return 8 * (1 + std::size_t{versions} * (1 + words_of(element_bytes)));
  }
  /// The record at this address.
  GPUTM_INLINE version_ring(std::uint64_t* record, std::uint32_t element_bytes, std::uint32_t versions)
      : record_(record), versions_(versions), slot_words_(1 + words_of(element_bytes)) {}
  static GPUTM_INLINE std::uint64_t* record_of(const region& r, std::uint32_t index, std::uint32_t versions) {
    return reinterpret_cast<std::uint64_t*>(r.metadata + bytes(r.element_bytes, versions) * index);
  }

  /// Reads the latest version whose stamp is at most `snapshot`.
  template <class T>
  GPUTM_INLINE version_found read(const region& r, std::uint32_t index, std::uint64_t snapshot, T& out) const {
    for (;;) {
      // acquire: pairs with the release in push(): the slots of these versions are complete
      const std::uint64_t head = simt::atomic(*record_).load(order::acquire);
      if (head == 0) {
        // acquire: pairs with the release fence in push(): if this is the first writer's value, the next
        // load sees that it has pushed
        out = load_element<T>(r, index, order::acquire);
        if (simt::atomic(*record_).load(order::relaxed) == 0) return version_found::newest;
        continue;
      }
      std::uint32_t k = newest(head);
      const std::uint64_t left = pushed(head) < versions_ ? pushed(head) : versions_;
      for (std::uint64_t back = 0; back < left; ++back, k = before(k)) {
        // acquire: pairs with the release store of the stamp in put()
        const std::uint64_t stamp = simt::atomic(*slot(k)).load(order::acquire);
        if (stamp == unstable) break;  // this slot, and all before it, are being replaced
        if (stamp > snapshot) continue;
        copy_out(slot(k) + 1, out);
        if (simt::atomic(*slot(k)).load(order::relaxed) != stamp) break;
        return back == 0 ? version_found::newest : version_found::older;
      }
      return version_found::overwritten;
    }
  }
  /// The same for several elements at once, so that latencies overlap, among their newest two versions. This thread
  /// has acquired `snapshot` from the time stamp: every version up to it is visible, so that relaxed loads find it or
  /// what has replaced it. Returns the set of those that need read(): bit i for out[i].
  template <class T, std::size_t N>
  static GPUTM_INLINE std::uint32_t read_some(const region& r, const std::uint32_t (&index)[N], std::uint32_t versions,
                                              std::uint64_t snapshot, T (&out)[N]) {
    // few words for each element, so that many of them fit into registers: its slot, which tells the address
    constexpr std::uint32_t never = 1u << slot_bits;  // it has not been written
    std::uint64_t stamp[N];
    std::uint32_t at[N];
    const version_ring any(nullptr, sizeof(T), versions);
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) {
      const std::uint64_t head = simt::atomic(*record_of(r, index[i], versions)).load(order::relaxed);
      at[i] = head != 0 ? newest(head) : never;
    }
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) {
      const std::uint32_t second = any.before(at[i] & (never - 1));
      stamp[i] = simt::atomic(*any.slot_in(r, index[i], at[i] & (never - 1))).load(order::relaxed);
      const std::uint64_t other = simt::atomic(*any.slot_in(r, index[i], second)).load(order::relaxed);
      if (stamp[i] > snapshot && stamp[i] != unstable && at[i] != never) {
        stamp[i] = other;
        at[i] = second;
      }
    }
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) {  // both, so that no branch keeps the loads apart
      T version;
      copy_out(any.slot_in(r, index[i], at[i] & (never - 1)) + 1, version, order::relaxed);
      out[i] = load_element<T>(r, index[i], order::relaxed);
      if (at[i] != never) out[i] = version;
    }
    // acquire: pairs with the release fences in put() and push(): if a value is newer than its stamp, so are the
    // stamp and the head that are read next; and with the release store of a stamp: if one was too new, the
    // loads below see what had replaced the slot before it
    simt::fence(order::acquire);
    std::uint64_t again[N];
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i)
      again[i] = simt::atomic(at[i] == never ? *record_of(r, index[i], versions)
                                             : *any.slot_in(r, index[i], at[i] & (never - 1)))
                     .load(order::relaxed);
    std::uint32_t missed = 0;
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) {
      const std::uint64_t expected = at[i] == never ? 0 : stamp[i];
      // stamp 0 is also what a slot says before its first use: its value may not be there yet
      const bool bad = (again[i] != expected) | (expected > snapshot) | ((expected == 0) & (at[i] != never));
      missed |= std::uint32_t{bad} << i;
    }
    return missed;
  }

  /// Adds a version, and stores the value to the array's own element, for the host. `payload(k)`: its k-th
  /// word; `element`: its first word; `bytes`: its size.
  template <class Payload>
  GPUTM_INLINE void push(std::uint64_t stamp, std::uint64_t element, std::uint32_t bytes, Payload payload) const {
    // relaxed: only this thread may push
    std::uint64_t head = simt::atomic(*record_).load(order::relaxed);
    if (head == 0) {
      put(0, 0, [&](std::uint32_t k) { return word_at(element, bytes, k); });
      head = std::uint64_t{1} << slot_bits;
    }
    const std::uint32_t next = newest(head) + 1 == versions_ ? 0 : newest(head) + 1;
    put(next, stamp, payload);
    // release: pairs with the acquire loads in read()
    simt::atomic(*record_).store((pushed(head) + 1) << slot_bits | next, order::release);
    // release: pairs with the acquire load of the element in read()
    simt::fence(order::release);
    for (std::uint32_t k = 0; k < words_of(bytes); ++k) set_word_at(element, bytes, k, payload(k));
  }

 private:
  /// Slot `k` of another element's record.
  GPUTM_INLINE std::uint64_t* slot_in(const region& r, std::uint32_t index, std::uint32_t k) const {
    return record_of(r, index, versions_) + 1 + k * slot_words_;
  }
  template <class T>
  static GPUTM_INLINE void copy_out(std::uint64_t* from, T& out, order o = order::acquire) {
    std::uint64_t w[words_of(sizeof(T))];
    // acquire: pairs with the release fence in put(): if the value is newer, so is the stamp that is read next
    for (std::uint32_t k = 0; k < words_of(sizeof(T)); ++k) w[k] = simt::atomic(from[k]).load(o);
    memcpy(&out, w, sizeof out);
  }
  template <class Payload>
  GPUTM_INLINE void put(std::uint32_t k, std::uint64_t stamp, Payload payload) const {
    std::uint64_t* s = slot(k);
    simt::atomic(*s).store(unstable, order::relaxed);
    // release: pairs with the acquire loads of the value's words in copy_out()
    simt::fence(order::release);
    for (std::uint32_t i = 1; i < slot_words_; ++i) simt::atomic(s[i]).store(payload(i - 1), order::relaxed);
    // release: pairs with the acquire load of the stamp in read()
    simt::atomic(*s).store(stamp, order::release);
  }
  /// The k-th 8-byte word of an element, in the units in which words.hpp accesses it.
  static GPUTM_INLINE std::uint64_t word_at(std::uint64_t element, std::uint32_t bytes, std::uint32_t k) {
    std::uint64_t word = 0;
    each_unit(element, bytes, k, [&](auto* p, std::uint32_t shift) {
      word |= static_cast<std::uint64_t>(simt::atomic(*p).load(order::relaxed)) << shift;
    });
    return word;
  }
  static GPUTM_INLINE void set_word_at(std::uint64_t element, std::uint32_t bytes, std::uint32_t k,
                                       std::uint64_t word) {
    each_unit(element, bytes, k, [&](auto* p, std::uint32_t shift) {
      simt::atomic(*p).store(static_cast<std::remove_pointer_t<decltype(p)>>(word >> shift), order::relaxed);
    });
  }
  template <class Visit>
  static GPUTM_INLINE void each_unit(std::uint64_t element, std::uint32_t bytes, std::uint32_t k, Visit visit) {
    if (bytes % 8 == 0)
      visit(reinterpret_cast<std::uint64_t*>(element) + k, 0);
    else if (bytes % 4 == 0)
      each_unit_of<std::uint32_t>(element, bytes, k, visit);
    else if (bytes % 2 == 0)
      each_unit_of<std::uint16_t>(element, bytes, k, visit);
    else
      each_unit_of<std::uint8_t>(element, bytes, k, visit);
  }
  template <class Unit, class Visit>
  static GPUTM_INLINE void each_unit_of(std::uint64_t element, std::uint32_t bytes, std::uint32_t k, Visit visit) {
    constexpr auto size = static_cast<std::uint32_t>(sizeof(Unit));
    for (std::uint32_t b = 8 * k; b < bytes && b < 8 * k + 8; b += size)
      visit(reinterpret_cast<Unit*>(element + b), 8 * (b - 8 * k));
  }
};

}  // namespace gputm::parts
