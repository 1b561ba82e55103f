#pragma once
// The only place that includes <mysql.h>: the C API that Oracle's libmysqlclient and MariaDB's Connector/C share, and
// the few names in which they differ.

#include <mysql.h>

#include <type_traits>

namespace waybill::mysql {

/// `bool` with Oracle's library, `my_bool` (a char) with MariaDB's.
using Flag = std::remove_pointer_t<decltype(MYSQL_BIND::is_null)>;

#ifdef MARIADB_PACKAGE_VERSION
inline constexpr bool kMariadbConnector = true;
#else
inline constexpr bool kMariadbConnector = false;
#endif

}  // namespace waybill::mysql
