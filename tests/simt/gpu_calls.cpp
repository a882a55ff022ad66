// Operations of the substrate on a GPU and on the host device: compiled by nvcc, in builds with CUDA only.
#include "gpu_calls.hpp"

#include "gputm/cuda_device.hpp"
#include "gputm/kernel.hpp"

namespace gputm::simt_test {
namespace {

using simt::order;

/// Every operation in an order, on a word of its own each time; `out` gets what it returned and what it left.
template <class T>
GPUTM_INLINE std::uint32_t try_all(T* word, order o, std::uint64_t* out) {
  std::uint32_t n = 0;
  const auto a = simt::atomic(*word);
  const auto note = [&](T returned) {
    out[n++] = static_cast<std::uint64_t>(returned);
    out[n++] = static_cast<std::uint64_t>(a.load(order::relaxed));
  };
  for (const T value : {T(1), T(-3), T(1) << (8 * sizeof(T) - 1)}) {
    a.store(T(5), order::relaxed);
    note(a.fetch_add(value, o));
    note(a.fetch_or(value, o));
    note(a.fetch_and(T(-2), o));
    note(a.fetch_xor(value, o));
    note(a.fetch_min(value, o));
    note(a.fetch_max(T(2), o));
    note(a.fetch_max(value, o));
    note(a.exchange(value, o));
  }
  return n;
}

struct words {
  std::int32_t a;
  std::uint32_t b;
  std::int64_t c;
  std::uint64_t d;
};
constexpr std::uint32_t most = 2 * 4 * 3 * 8 * 2;
struct try_words {
  words* w;
  std::uint64_t* out;
  GPUTM_INLINE void operator()() const {
    std::uint32_t n = 0;
    for (const order o : {order::relaxed, order::acq_rel}) {
      n += try_all(&w->a, o, out + n);
      n += try_all(&w->b, o, out + n);
      n += try_all(&w->c, o, out + n);
      n += try_all(&w->d, o, out + n);
    }
  }
};

constexpr std::uint32_t threads = 48, answers = 10;
struct reduce {
  std::uint64_t* out;
  GPUTM_INLINE void operator()() const {
    const std::uint32_t t = simt::thread_rank(), odd = 0x9e3779b9u * (t + 1);
    const std::uint64_t large = (~std::uint64_t{0} - t) / (t + 1);
    std::uint64_t* const mine = out + t * answers;
    mine[0] = simt::reduce_or(simt::full_mask, odd & odd << 7 & odd << 14);
    mine[1] = simt::reduce_or(simt::full_mask, large & large << 21 & large << 30);
    mine[2] = simt::reduce_add(simt::full_mask, odd);
    mine[3] = simt::reduce_add(simt::full_mask, large);
    mine[4] = simt::reduce_min(simt::full_mask, odd);
    mine[5] = simt::reduce_max(simt::full_mask, large);
    if (simt::lane() >= 16) return;
    mine[6] = simt::reduce_or(0xffffu, odd & odd << 9);
    mine[7] = simt::reduce_add(0xffffu, large);
    mine[8] = simt::reduce_min(0xffffu, large);
    mine[9] = simt::reduce_max(0xffffu, odd);
  }
};

device choose(bool on_gpu) { return on_gpu ? cuda_device() : host_device(); }
std::vector<std::uint64_t> fetch(const stream& s, const buffer& from) {
  std::vector<std::uint64_t> to(from.size() / sizeof(std::uint64_t));
  s.on()->copy_from_device(s.handle(), to.data(), from.as<void>(), from.size());
  s.synchronize();
  return to;
}

}  // namespace

std::string ask_for_gpu() {
  try {
    return cuda_device()->name();
  } catch (const no_device& e) {
    return std::string("no GPU to run on: ") + e.what();
  }
}
std::vector<std::uint64_t> read_modify_writes(bool on_gpu) {
  const device d = choose(on_gpu);
  const stream s(d);
  const buffer word(d, sizeof(words)), out(d, most * sizeof(std::uint64_t));
  d->fill_zero(s.handle(), out.as<void>(), out.size());
  launching::enqueue(s, d, {1, 0, 1, d->warp_width(), 0}, try_words{word.as<words>(), out.as<std::uint64_t>()});
  return fetch(s, out);
}
std::vector<std::uint64_t> reductions(bool on_gpu) {
  const device d = choose(on_gpu);
  const stream s(d);
  const buffer out(d, threads * answers * sizeof(std::uint64_t));
  d->fill_zero(s.handle(), out.as<void>(), out.size());
  launching::enqueue(s, d, {1, 0, threads, d->warp_width(), 0}, reduce{out.as<std::uint64_t>()});
  return fetch(s, out);
}

}  // namespace gputm::simt_test
