// TLS: what each setting demands of the server.

#include "mysql/mysql_fixture.hpp"
#include "mysql/proxy.hpp"

namespace waybill::test {
namespace {

class Tls : protected OnPrivateServers {
 protected:
  Tls() { options = user_with("SELECT, INSERT, UPDATE, DELETE"); }
  void demand_tls() { value_of(server.administrator(), "ALTER USER " + options.user + "@'%' REQUIRE SSL"); }
  [[nodiscard]] std::string authority() const { return (server.directory() / "tls" / "ca.pem").string(); }
};

TEST_CASE_METHOD(Tls, "tls=off goes in plain text, the others are encrypted", "[tls]") {
  options.tls = MysqlTls::off;
  deliver_one(*open(), "e0");
  demand_tls();  // from now on the server itself checks it
  CHECK(is(error_of([&] { (void)open(); }), ErrorCode::denied));
  for (const MysqlTls tls : {MysqlTls::preferred, MysqlTls::required}) {
    options.tls = tls;
    deliver_one(*open(), "e" + std::to_string(static_cast<int>(tls)));
  }
}

TEST_CASE_METHOD(Tls, "a server that offers no TLS is refused where it is demanded", "[tls]") {
  (void)open();  // MySQL knows the password from here on; Connector/C could not prove it in plain text otherwise
  Proxy proxy(options.port);
  proxy.hide_tls();
  options.port = proxy.port();
  options.tls_ca = authority();
  for (const MysqlTls tls : {MysqlTls::required, MysqlTls::verify}) {
    options.tls = tls;
    CHECK(is(error_of([&] { (void)open(); }), ErrorCode::unavailable, {"TLS", "tls="}));
  }
  options.tls = MysqlTls::preferred;
  deliver_one(*open(), "e1");
}

TEST_CASE_METHOD(Tls, "tls=verify checks who signed the certificate, and for which host", "[tls]") {
  demand_tls();
  options.tls = MysqlTls::verify;
  options.tls_ca = authority();
  for (const char* host : {"127.0.0.1", "localhost"}) {
    INFO(host);
    options.host = host;
    deliver_one(*open(), std::string("by ") + host);
  }
  options.host = "127.1";  // the same address by a name that the certificate lacks
  CHECK(is(error_of([&] { (void)open(); }), ErrorCode::unavailable, {"tls", "127.1"}));
  options.host = "127.0.0.1";
  const TempDir directory;
  const std::string stranger = (directory.path() / "ca.pem").string();
  ProcessOptions openssl;
  openssl.program = "openssl";
  openssl.arguments = {
      "req",   "-x509",        "-newkey", "ec",     "-pkeyopt", "ec_paramgen_curve:prime256v1",         "-nodes",
      "-subj", "/CN=stranger", "-out",    stranger, "-keyout",  (directory.path() / "key.pem").string()};
  REQUIRE(run_process(openssl, "", directory.path()).exit_code == 0);
  options.tls_ca = stranger;
  CHECK(is(error_of([&] { (void)open(); }), ErrorCode::unavailable, {"TLS failed", "tls_ca="}));
  options.tls_ca = "/nowhere/ca.pem";
  CHECK(is(error_of([&] { (void)open(); }), ErrorCode::unavailable, {"TLS failed", "tls_ca="}));
  options.tls_ca.clear();
  CHECK(is(error_of([&] { (void)open(); }), ErrorCode::unavailable, {"TLS failed", "tls_ca="}));
}

}  // namespace
}  // namespace waybill::test
