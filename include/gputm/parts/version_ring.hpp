// Floor 2: a versioned box (VBox, thesis section 3.1): the recent versions of one element, in a ring. Its
// record is {pushed, V slots of {stamp, value words}}; `pushed` counts the versions ever pushed. While it
// is 0, the array's own element holds the value, with stamp 0.
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

  GPUTM_INLINE std::uint64_t* slot(std::uint64_t k) const { return record_ + 1 + k % versions_ * slot_words_; }
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
      const std::uint64_t pushed = simt::atomic(*record_).load(order::acquire);
      if (pushed == 0) {
        // acquire: pairs with the release fence in push(): if this is the first writer's value, the next
        // load sees that it has pushed
        out = load_element<T>(r, index, order::acquire);
        if (simt::atomic(*record_).load(order::relaxed) == 0) return version_found::newest;
        continue;
      }
      const std::uint64_t oldest = pushed > versions_ ? pushed - versions_ : 0;
      for (std::uint64_t k = pushed; k-- > oldest;) {
        // acquire: pairs with the release store of the stamp in put()
        const std::uint64_t stamp = simt::atomic(*slot(k)).load(order::acquire);
        if (stamp == unstable) break;  // this slot, and all before it, are being replaced
        if (stamp > snapshot) continue;
        copy_out(slot(k) + 1, out);
        if (simt::atomic(*slot(k)).load(order::relaxed) != stamp) break;
        return k + 1 == pushed ? version_found::newest : version_found::older;
      }
      return version_found::overwritten;
    }
  }

  /// Adds a version, and stores the value to the array's own element, for the host. `payload(k)`: its k-th
  /// word; `element`: its first word; `bytes`: its size.
  template <class Payload>
  GPUTM_INLINE void push(std::uint64_t stamp, std::uint64_t element, std::uint32_t bytes, Payload payload) const {
    // relaxed: only this thread may push
    std::uint64_t pushed = simt::atomic(*record_).load(order::relaxed);
    if (pushed == 0) {
      put(0, 0, [&](std::uint32_t k) { return word_at(element, bytes, k); });
      pushed = 1;
    }
    put(pushed, stamp, payload);
    // release: pairs with the acquire loads in read()
    simt::atomic(*record_).store(pushed + 1, order::release);
    // release: pairs with the acquire load of the element in read()
    simt::fence(order::release);
    for (std::uint32_t k = 0; k < words_of(bytes); ++k) set_word_at(element, bytes, k, payload(k));
  }

 private:
  template <class T>
  static GPUTM_INLINE void copy_out(std::uint64_t* from, T& out) {
    std::uint64_t w[words_of(sizeof(T))];
    // acquire: pairs with the release fence in put(): if the value is newer, so is the stamp that is read next
    for (std::uint32_t k = 0; k < words_of(sizeof(T)); ++k) w[k] = simt::atomic(from[k]).load(order::acquire);
    memcpy(&out, w, sizeof out);
  }
  template <class Payload>
  GPUTM_INLINE void put(std::uint64_t k, std::uint64_t stamp, Payload payload) const {
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
