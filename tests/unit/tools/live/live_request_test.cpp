#include "tools/sorrel/live/live_request.hpp"

#include <gtest/gtest.h>

namespace sorrel::tool {
namespace {

constexpr std::uint16_t port = 4321;

LiveAnswer answer_to(const std::string& line, const std::string& fields = "Host: 127.0.0.1:4321") {
  return live_answer(line + "\r\nAccept: */*\r\n" + fields + "\r\n", "abcd", port);
}

TEST(LiveRequest, has_a_page_and_its_state_below_the_token) {
  EXPECT_EQ(answer_to("GET /abcd/ HTTP/1.1"), LiveAnswer::page);
  EXPECT_EQ(answer_to("GET /abcd/state HTTP/1.1"), LiveAnswer::state);
  EXPECT_EQ(answer_to("GET /abcd/state HTTP/1.0", "hOsT:localhost:4321 "), LiveAnswer::state);
}

TEST(LiveRequest, is_forbidden_without_the_token) {
  for (const char* path : {"/", "/abc/", "/abce/", "/abcde/", "//abcd/", "/abcd%2f", "/ABCD/"}) {
    EXPECT_EQ(answer_to(std::string("GET ") + path + " HTTP/1.1"), LiveAnswer::forbidden) << path;
  }
  // Also where the method is wrong.
  EXPECT_EQ(answer_to("POST / HTTP/1.1"), LiveAnswer::forbidden);
}

TEST(LiveRequest, is_forbidden_for_pages_of_other_sites) {
  const std::string line = "GET /abcd/ HTTP/1.1";
  for (const char* field : {"Host: example.org:4321", "Host: 127.0.0.1", "Host: 127.0.0.1:80",
                            "X: 1", "Host: 127.0.0.1:4321\r\nHost: example.org"}) {
    EXPECT_EQ(answer_to(line, field), LiveAnswer::forbidden) << field;
  }
}

TEST(LiveRequest, has_no_other_path) {
  for (const char* rest : {"x", "state/", "state?x", "../state", "../../etc/passwd", "%73tate"}) {
    EXPECT_EQ(answer_to(std::string("GET /abcd/") + rest + " HTTP/1.1"), LiveAnswer::not_found)
        << rest;
  }
}

TEST(LiveRequest, only_gets) {
  for (const char* method : {"POST", "HEAD", "PUT", "get", ""})
    EXPECT_EQ(answer_to(std::string(method) + " /abcd/ HTTP/1.1"), LiveAnswer::wrong_method);
}

TEST(LiveRequest, refuses_what_is_no_request) {
  for (const char* line :
       {"", "GET", "GET /abcd/", "GET abcd HTTP/1.1", "GET /abcd/ HTTP/2", "GET  /abcd/ HTTP/1.1"})
    EXPECT_EQ(answer_to(line), LiveAnswer::bad_request) << line;
  EXPECT_EQ(answer_to("GET /abcd/ HTTP/1.1", "no field"), LiveAnswer::bad_request);
}

TEST(LiveRequest, answers_with_a_length_and_no_permission_to_keep) {
  const std::string text = live_response(200, "text/plain", "hello");
  EXPECT_TRUE(text.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_NE(text.find("\r\nContent-Length: 5\r\n"), text.npos);
  EXPECT_NE(text.find("\r\nCache-Control: no-store\r\n"), text.npos);
  EXPECT_TRUE(text.ends_with("\r\n\r\nhello"));
  EXPECT_TRUE(live_refusal(LiveAnswer::forbidden).starts_with("HTTP/1.1 403 Forbidden\r\n"));
  EXPECT_NE(live_refusal(LiveAnswer::wrong_method).find("\r\nAllow: GET\r\n"), text.npos);
}

}  // namespace
}  // namespace sorrel::tool
