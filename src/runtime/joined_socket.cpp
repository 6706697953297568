#include "runtime/joined_socket.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <sys/socket.h>

namespace sorrel::runtime {

namespace {

/// Time between two attempts: the other end may be a rank of the same worker.
constexpr std::int64_t retry_ns = 50'000;

/// On the wire.
struct OfferBytes {
  std::array<char, 8> magic;
  JoinOffer offer;
};

constexpr std::array<char, 8> magic = {'s', 'o', 'r', 'r', 'e', 'l', 'J', '1'};

/// Calls `attempt(rest)` until all bytes have passed. It returns what send() and recv() do.
template <class Byte, class Attempt>
std::string transfer(core::Worker& worker, std::span<Byte> rest, Attempt&& attempt) {
  while (!rest.empty()) {
    const ssize_t passed = attempt(rest);
    if (passed > 0) {
      rest = rest.subspan(static_cast<std::size_t>(passed));
    } else if (passed == 0) {
      return "the socket was closed at the other end";
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      worker.sleep(retry_ns);
    } else if (errno != EINTR) {
      return std::strerror(errno);
    }
  }
  return "";
}

}  // namespace

std::string exchange_offers(core::Worker& worker,
                            int descriptor,
                            const JoinOffer& own,
                            JoinOffer& theirs) {
  const OfferBytes sent{.magic = magic, .offer = own};
  std::string error =
      transfer(worker, std::as_bytes(std::span(&sent, 1)), [&](std::span<const std::byte> rest) {
        return ::send(descriptor, rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      });
  if (!error.empty()) return error;
  OfferBytes received{};
  error = transfer(worker, std::as_writable_bytes(std::span(&received, 1)),
                   [&](std::span<std::byte> rest) {
                     return ::recv(descriptor, rest.data(), rest.size(), MSG_DONTWAIT);
                   });
  if (!error.empty()) return error;
  if (received.magic != magic) return "the other end has not called MPI_Comm_join of Sorrel";
  theirs = received.offer;
  return "";
}

}  // namespace sorrel::runtime
