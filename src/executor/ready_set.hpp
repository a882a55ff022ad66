// The threads that can run: a ring for taking turns and, where a scheduler draws or compares, an array.
#pragma once

#include <cstdint>
#include <vector>

#include "fiber.hpp"

namespace gputm::host {

class ready_set {
 public:
  void reset(bool with_array) {
    cursor_ = nullptr;
    size_ = 0;
    with_array_ = with_array;
    array_.clear();
  }
  bool empty() const { return size_ == 0; }
  std::uint32_t size() const { return size_; }
  fiber& operator[](std::uint32_t i) const { return *array_[i]; }
  const std::vector<fiber*>& array() const { return array_; }

  /// Joins the ring where its turn comes last.
  void add(fiber& f) {
    f.ready = true;
    ++size_;
    if (with_array_) {
      f.position = static_cast<std::uint32_t>(array_.size());
      array_.push_back(&f);
    }
    if (!cursor_) {
      f.next = f.prev = cursor_ = &f;
      return;
    }
    f.next = cursor_;
    f.prev = cursor_->prev;
    cursor_->prev->next = &f;
    cursor_->prev = &f;
  }
  void remove(fiber& f) {
    f.ready = false;
    --size_;
    if (with_array_) {
      array_[f.position] = array_.back();
      array_[f.position]->position = f.position;
      array_.pop_back();
    }
    if (cursor_ == &f) cursor_ = f.next == &f ? nullptr : f.next;
    f.next->prev = f.prev;
    f.prev->next = f.next;
  }
  /// `f` runs now; the ring turns from there.
  void focus(fiber& f) {
    if (f.ready) cursor_ = &f;
  }
  /// Whose turn comes after `f`, which runs or has just been removed. The set is not empty.
  fiber& after(const fiber& f) const { return f.ready ? *f.next : *cursor_; }

 private:
  fiber* cursor_ = nullptr;  // the thread that runs; once it is removed, its successor
  std::uint32_t size_ = 0;
  bool with_array_ = false;
  std::vector<fiber*> array_;
};

}  // namespace gputm::host
