//! IntrusiveList - a doubly linked list whose links are in the elements: no allocation, O(1)
//! removal.
//!
//! One owner at a time. An element derives from ListNode<Tag> and is in at most one list per tag.
#pragma once

#include "base/check.hpp"

namespace sorrel {

template <class Tag>
struct ListNode {
  ListNode* previous = nullptr;
  ListNode* next = nullptr;

  [[nodiscard]] bool is_linked() const { return next != nullptr; }
};

/// A list of T, where T derives from ListNode<Tag>.
template <class T, class Tag = T>
class IntrusiveList {
  using Node = ListNode<Tag>;

 public:
  IntrusiveList() { end_.previous = end_.next = &end_; }

  IntrusiveList(const IntrusiveList&) = delete;
  IntrusiveList& operator=(const IntrusiveList&) = delete;

  [[nodiscard]] bool empty() const { return end_.next == &end_; }

  [[nodiscard]] T* front() { return empty() ? nullptr : static_cast<T*>(end_.next); }

  [[nodiscard]] T* back() { return empty() ? nullptr : static_cast<T*>(end_.previous); }

  [[nodiscard]] T* next_of(T& element) {
    Node* next = static_cast<Node&>(element).next;
    return next == &end_ ? nullptr : static_cast<T*>(next);
  }

  void push_back(T& element) {
    Node& node = element;
    SORREL_ASSERT(!node.is_linked());
    node.previous = end_.previous;
    node.next = &end_;
    end_.previous->next = &node;
    end_.previous = &node;
  }

  /// The first element that satisfies `accepts`; null if none does.
  template <class Accepts>
  [[nodiscard]] T* find_if(Accepts&& accepts) const {
    for (Node* node = end_.next; node != &end_; node = node->next) {
      if (accepts(static_cast<const T&>(*node))) return static_cast<T*>(node);
    }
    return nullptr;
  }

  /// Calls visit(element) for each element in order. The neighbours of each must agree about it.
  template <class Visit>
  void check_each(Visit&& visit) const {
    for (const Node* node = end_.next; node != &end_; node = node->next) {
      SORREL_CHECK(node->previous->next == node && node->next->previous == node);
      visit(static_cast<const T&>(*node));
    }
  }

  T* pop_front() {
    T* first = front();
    if (first != nullptr) remove(*first);
    return first;
  }

  static void remove(T& element) {
    Node& node = element;
    SORREL_ASSERT(node.is_linked());
    node.previous->next = node.next;
    node.next->previous = node.previous;
    node.previous = node.next = nullptr;
  }

  /// Puts `element` into the position of `old`, which leaves the list.
  static void replace(T& old, T& element) {
    Node& node = element;
    SORREL_ASSERT(!node.is_linked());
    node = static_cast<Node&>(old);
    node.previous->next = node.next->previous = &node;
    static_cast<Node&>(old) = {};
  }

 private:
  Node end_;
};

}  // namespace sorrel
