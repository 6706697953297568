#include "tools/sorrel/live/live_server.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <optional>
#include <poll.h>
#include <string_view>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "live_page_text.inc"
#include "os/clock.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/live/live_request.hpp"
#include "tools/sorrel/live/live_state.hpp"
#include "tools/sorrel/report/html_page.hpp"
#include "tools/sorrel/run/equal_process.hpp"
#include "tools/sorrel/view/job_view.hpp"

namespace sorrel::tool {

namespace {

constexpr std::size_t connection_count_max = 16;
/// For a request and its response.
constexpr std::int64_t connection_ns_max = 5'000'000'000;
/// An older look is made anew.
constexpr std::int64_t look_age_ns_max = 450'000'000;

std::string page_text() {
  return html_of(HtmlPage{.title = "Sorrel: a running job",
                          .style = live_style,
                          .body = live_body,
                          .data = {},
                          .blobs = {},
                          .script = live_script,
                          .asks_server = true});
}

/// Two views of the job, the later one at most look_age_ns_max old.
class LiveLooks {
 public:
  /// What the page shows; null if the job cannot be looked into now.
  std::string state() {
    const std::int64_t now_ns = os::monotonic_ns();
    if (!state_.empty() && now_ns - look_ns_ < look_age_ns_max) return state_;
    look_ns_ = now_ns;
    const auto job = job_of_this_command();
    Result<JobView> view =
        job ? look_into(*job, report::ViewKind::activity) : Result<JobView>(Error{});
    if (!view.has_value()) return state_ = "null";
    if (!before_) before_ = view.value();
    state_ = line_of(live_state(*job, *before_, view.value()));
    before_ = std::move(view).value();
    return state_;
  }

 private:
  std::optional<JobView> before_;
  std::string state_;
  std::int64_t look_ns_ = 0;
};

struct LiveConnection {
  int socket = -1;
  std::int64_t end_ns = 0;
  std::string received{};
  std::string response{};
  std::size_t sent_count = 0;

  [[nodiscard]] bool is_answering() const { return !response.empty(); }
};

class PageServer final : public LiveServer {
 public:
  PageServer(int socket, int stop, std::uint16_t port, std::string token)
      : socket_(socket), stop_(stop), port_(port), token_(std::move(token)) {}

  ~PageServer() override {
    end();
    close(stop_);
  }

  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  [[nodiscard]] std::string address() const override {
    return fmt::format("http://127.0.0.1:{}/{}/", port_, token_);
  }

  void begin() override {
    if (thread_.joinable() || socket_ < 0) return;
    try {
      thread_ = std::thread([this] { serve(); });
      print_diagnostic("live: " + address());
    } catch (const std::system_error& error) {
      print_diagnostic(fmt::format("no live page: {}", error.what()));
    }
  }

  void end() override {
    if (thread_.joinable()) {
      const std::uint64_t one = 1;
      (void)!write(stop_, &one, sizeof one);
      thread_.join();
    }
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }

 private:
  void serve() {
    while (wait()) {
      const std::int64_t now_ns = os::monotonic_ns();
      std::erase_if(connections_, [&](LiveConnection& connection) {
        if (now_ns < connection.end_ns && progress(connection)) return false;
        close(connection.socket);
        return true;
      });
      accept_connections(now_ns);
    }
    for (const LiveConnection& connection : connections_)
      close(connection.socket);
  }

  /// Until a connection can go on; false: the server ends.
  bool wait() {
    constexpr int check_ms = 500;
    std::vector<pollfd> sources = {{.fd = stop_, .events = POLLIN, .revents = 0}};
    if (connections_.size() < connection_count_max)
      sources.push_back({.fd = socket_, .events = POLLIN, .revents = 0});
    for (const LiveConnection& connection : connections_) {
      const short events = connection.is_answering() ? POLLOUT : POLLIN;
      sources.push_back({.fd = connection.socket, .events = events, .revents = 0});
    }
    (void)poll(sources.data(), sources.size(), connections_.empty() ? -1 : check_ms);
    return sources.front().revents == 0;
  }

  void accept_connections(std::int64_t now_ns) {
    while (connections_.size() < connection_count_max) {
      const int socket = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (socket < 0) return;
      connections_.push_back({.socket = socket, .end_ns = now_ns + connection_ns_max});
    }
  }

  /// False: the connection is at its end.
  bool progress(LiveConnection& connection) {
    return connection.is_answering() ? send(connection) : receive(connection);
  }

  bool receive(LiveConnection& connection) {
    std::array<char, live_head_bytes_max> buffer{};
    const ssize_t count = recv(connection.socket, buffer.data(), buffer.size(), 0);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    if (count == 0) return false;
    connection.received.append(buffer.data(), static_cast<std::size_t>(count));
    const std::size_t end = connection.received.find("\r\n\r\n");
    if (end == std::string::npos && connection.received.size() < live_head_bytes_max) return true;
    connection.response = end == std::string::npos || end > live_head_bytes_max
                              ? live_refusal(LiveAnswer::bad_request)
                              : response_to(connection.received.substr(0, end + 2));
    return send(connection);
  }

  std::string response_to(std::string_view head) {
    const LiveAnswer answer = live_answer(head, token_, port_);
    constexpr int ok = 200;
    if (answer == LiveAnswer::page)
      return live_response(ok, "text/html; charset=utf-8", page_text());
    if (answer == LiveAnswer::state) return live_response(ok, "application/json", looks_.state());
    return live_refusal(answer);
  }

  static bool send(LiveConnection& connection) {
    const std::string_view rest =
        std::string_view(connection.response).substr(connection.sent_count);
    const ssize_t count = ::send(connection.socket, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    connection.sent_count += static_cast<std::size_t>(count);
    return connection.sent_count < connection.response.size();
  }

  int socket_;
  const int stop_;
  const std::uint16_t port_;
  const std::string token_;
  std::thread thread_;
  // Used by the thread only.
  std::vector<LiveConnection> connections_;
  LiveLooks looks_;
};

}  // namespace

Result<std::unique_ptr<LiveServer>> make_live_server() {
  const auto refused = [] { return Error{fmt::format("--live: {}", std::strerror(errno))}; };
  const auto random = make_random_bytes();
  if (!random) return Error{"--live: the system has no random numbers"};
  std::string token;
  for (const std::uint8_t byte : *random)
    token += fmt::format("{:02x}", byte);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return refused();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  const int stop = eventfd(0, EFD_CLOEXEC);
  if (stop < 0 || bind(listener, name, bytes) != 0 ||
      listen(listener, static_cast<int>(connection_count_max)) != 0 ||
      getsockname(listener, name, &bytes) != 0) {
    Error error = refused();
    close(listener);
    if (stop >= 0) close(stop);
    return error;
  }
  return std::unique_ptr<LiveServer>(
      std::make_unique<PageServer>(listener, stop, ntohs(address.sin_port), std::move(token)));
}

}  // namespace sorrel::tool
