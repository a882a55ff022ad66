// Floor 4: where transactions run: a GPU, or the host executor. Compiled without CUDA; the CUDA back end
// is gputm/cuda_device.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "gputm/error.hpp"
#include "gputm/host/executor.hpp"

namespace gputm {

enum class device_kind : std::uint8_t { host, cuda };

/// What a memory and a launch need of a device. Implementations throw gputm::error.
class backend {
 public:
  virtual ~backend() = default;
  virtual device_kind kind() const = 0;
  virtual std::string name() const = 0;
  virtual int ordinal() const { return -1; }          ///< number of the GPU
  virtual std::uint32_t multiprocessors() const = 0;  ///< OS threads on the host device
  virtual std::uint32_t warp_width() const = 0;
  virtual std::uint64_t memory_bytes() const { return 0; }  ///< a GPU's, free or not; 0: nobody knows
  /// Blocks of so many threads, of any kernel, that can run at once; of a given kernel see kernel.hpp.
  virtual std::uint32_t max_resident_blocks(std::uint32_t threads) const = 0;
  virtual void* allocate(std::size_t bytes) = 0;  ///< uninitialised, 256-byte aligned
  virtual void free(void*) noexcept = 0;
  /// The same for a few words that the host reads while kernels write them. On the host device all memory is such.
  virtual void* allocate_visible(std::size_t bytes) { return allocate(bytes); }
  virtual void free_visible(void* p) noexcept { free(p); }
  virtual void* create_stream() = 0;
  virtual void destroy_stream(void*) noexcept = 0;
  virtual void synchronize(void* stream) = 0;
  virtual void copy_to_device(void* stream, void* to, const void* from, std::size_t bytes) = 0;
  virtual void copy_from_device(void* stream, void* to, const void* from, std::size_t bytes) = 0;
  virtual void fill_zero(void* stream, void* p, std::size_t bytes) = 0;
  /// Whether what is enqueued is only recorded, to run later, any number of times (a CUDA graph).
  virtual bool is_recording([[maybe_unused]] void* stream) { return false; }
  /// Whether it has not got through what was enqueued. False while it is recording, and on the host device, where
  /// launches are over when they return.
  virtual bool is_busy([[maybe_unused]] void* stream) { return false; }
  /// The most shared memory that a block can have.
  virtual std::size_t shared_bytes_of_block() const { return 227 * 1024; }
  /// Blocks of its largest cluster; 1: it has none.
  virtual std::uint32_t largest_cluster() const { return 1; }
  /// Host device only: runs a grid in clusters of `cluster` blocks with this much dynamic shared memory each, and
  /// waits; throws schedule_failed.
  virtual void run_host(std::uint32_t blocks, std::uint32_t cluster, std::uint32_t threads, std::size_t shared_bytes,
                        const std::function<void()>& thread_main);
};

/// A handle on a device; copies share it. One that has been moved from, and so a stream, memory or workspace that has
/// been, is refused with invalid_argument.
class device {
  std::shared_ptr<backend> backend_;

 public:
  explicit device(std::shared_ptr<backend> b) : backend_(std::move(b)) {}
  backend& operator*() const {
    if (!backend_)
      throw invalid_argument("a device, stream, memory or workspace that has been moved from: use what it went to");
    return *backend_;
  }
  backend* operator->() const { return &**this; }
  bool is_host() const { return (*this)->kind() == device_kind::host; }
  /// The same GPU, or copies of one host device.
  friend bool operator==(const device& a, const device& b) {
    return a.backend_ == b.backend_ || (!a.is_host() && !b.is_host() && a->ordinal() == b->ordinal());
  }
};

/// The host executor as a device. `config` chooses fast or explore mode, warp width and limits.
/// Launches on one host device must not overlap in time.
device host_device(const host::config& config = {});
/// What the last launch on this host device reported. Throws no_device for other devices.
const host::report& last_report(const device&);

/// A queue of operations of one device, in order. Movable only.
class stream {
  device device_;
  std::shared_ptr<void> handle_;

 public:
  explicit stream(device d)
      : device_(std::move(d)), handle_(device_->create_stream(), [on = device_](void* h) { on->destroy_stream(h); }) {}
  /// Uses the caller's stream (a cudaStream_t), which outlives this.
  stream(device d, void* handle) : device_(std::move(d)), handle_(handle, [](void*) {}) {}
  stream(stream&&) = default;
  stream& operator=(stream&&) = delete;
  const gputm::device& on() const { return device_; }
  void* handle() const { return handle_.get(); }
  /// Expires with this.
  std::weak_ptr<const void> lifetime() const { return handle_; }
  void synchronize() const { device_->synchronize(handle()); }
};

namespace detail {
/// Throws invalid_argument for a stream of another device than that of a memory, or of a workspace.
void check_stream(const stream&, const device& of_memory);
}  // namespace detail

/// Device memory with an owner. Movable only.
class buffer {
  std::shared_ptr<void> bytes_;
  std::size_t size_ = 0;

 public:
  buffer() = default;
  buffer(const device& d, std::size_t bytes) : bytes_(d->allocate(bytes), [d](void* p) { d->free(p); }), size_(bytes) {}
  /// Of memory that the host can read and write.
  static buffer visible(const device& d, std::size_t bytes) {
    buffer b;
    b.bytes_ = {d->allocate_visible(bytes), [d](void* p) { d->free_visible(p); }};
    b.size_ = bytes;
    return b;
  }
  buffer(buffer&&) = default;
  buffer& operator=(buffer&&) = default;
  template <class T>
  T* as() const {
    return static_cast<T*>(bytes_.get());
  }
  std::size_t size() const { return size_; }
};

}  // namespace gputm
