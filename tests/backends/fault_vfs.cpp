#include "backends/fault_vfs.hpp"

#include <sqlite3.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace waybill::test {
namespace {

constexpr const char* kName = "waybill-faults";

FaultVfs* active = nullptr;
sqlite3_vfs* original = nullptr;
sqlite3_vfs shim;

/// A file's methods with two of them replaced. `methods` comes first: SQLite holds a pointer to it.
struct Methods {
  sqlite3_io_methods methods{};
  const sqlite3_io_methods* below{nullptr};
  FaultVfs::File file{FaultVfs::File::other};
};

const Methods& methods_of(sqlite3_file* file) { return *reinterpret_cast<const Methods*>(file->pMethods); }

int write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  const Methods& methods = methods_of(file);
  const int code = active->before(FaultVfs::Call::write, methods.file);
  return code != SQLITE_OK ? code : methods.below->xWrite(file, bytes, size, offset);
}

int sync(sqlite3_file* file, int flags) {
  const Methods& methods = methods_of(file);
  const int code = active->before(FaultVfs::Call::sync, methods.file);
  return code != SQLITE_OK ? code : methods.below->xSync(file, flags);
}

/// One changed table for each original and kind of file; they stay, since open files point at them.
const sqlite3_io_methods* replace(const sqlite3_io_methods* below, FaultVfs::File kind) {
  static std::mutex mutex;
  static std::map<std::pair<const sqlite3_io_methods*, FaultVfs::File>, std::unique_ptr<Methods>> tables;
  const std::lock_guard lock(mutex);
  std::unique_ptr<Methods>& table = tables[{below, kind}];
  if (table == nullptr) {
    table = std::make_unique<Methods>();
    table->methods = *below;
    table->methods.xWrite = &write;
    table->methods.xSync = &sync;
    table->below = below;
    table->file = kind;
  }
  return &table->methods;
}

FaultVfs::File kind_of(int flags) {
  if ((flags & SQLITE_OPEN_MAIN_DB) != 0) return FaultVfs::File::database;
  return (flags & SQLITE_OPEN_WAL) != 0 ? FaultVfs::File::wal : FaultVfs::File::other;
}

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  const int code = original->xOpen(original, name, file, flags, out_flags);
  if (code != SQLITE_OK || file->pMethods == nullptr) return code;
  file->pMethods = replace(file->pMethods, kind_of(flags));
  active->opened(kind_of(flags));
  return code;
}

}  // namespace

FaultVfs::FaultVfs() {
  active = this;
  original = sqlite3_vfs_find(nullptr);
  shim = *original;
  shim.zName = kName;
  shim.pNext = nullptr;
  shim.xOpen = &open;
  sqlite3_vfs_register(&shim, 1);
}

FaultVfs::~FaultVfs() {
  sqlite3_vfs_unregister(&shim);
  sqlite3_vfs_register(original, 1);
  active = nullptr;
}

void FaultVfs::fail(Call call, int nth, int code) {
  failed_ = false;
  code_ = code;
  (call == Call::write ? writes_left_ : syncs_left_) = nth - 1;
}

void FaultVfs::heal() { writes_left_ = syncs_left_ = -1; }

int FaultVfs::before(Call call, File file) {
  if (call == Call::write && file == File::database && hook_) hook_();
  if (call == Call::sync && file == File::wal && sync_hook_) sync_hook_();
  std::atomic<int>& left = call == Call::write ? writes_left_ : syncs_left_;
  if (left < 0) return SQLITE_OK;
  if (left > 0) {
    --left;
    return SQLITE_OK;
  }
  failed_ = true;
  return code_;
}

}  // namespace waybill::test
