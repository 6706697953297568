#include "mpi/saved/saved_services.hpp"

#include <string>
#include <utility>

#include "mpi/io/rank_files.hpp"
#include "mpi/saved/lists.hpp"

namespace sorrel::mpi {

namespace {

struct SavedAttribute {
  int number;
  void* value;
};

void save_types(const RankServices& services, ByteWriter& to) {
  std::vector<KindTypes::Entry> kinds = services.kind_types.all();
  add_list<KindTypes::Entry>(to, kinds);
  to.add(services.type_attributes.all().size());
  for (const auto& [type, entry] : services.type_attributes.all()) {
    to.add(handle_of(*type));
    to.add(entry.further_handle_count);
    save_attributes(entry.attributes, to);
  }
  to.add(services.type_names.all().size());
  for (const TypeNames::Name& name : services.type_names.all()) {
    to.add(handle_of(*name.type));
    to.add_block(name.text);
  }
}

void restore_types(RankState& rank, ByteCursor& from) {
  RankServices& services = rank.services();
  for (const KindTypes::Entry& entry : take_list<KindTypes::Entry>(from))
    services.kind_types.add(entry.key, *entry.type);
  for (auto left = from.take<std::size_t>(); left > 0 && from.is_good(); --left) {
    const Datatype* type = datatype_from_handle(from.take<MPI_Datatype>());
    auto handles = from.take<int>();
    AttributeMapPointer attributes;
    restore_attributes(rank, attributes, from);
    if (type == nullptr) return;
    for (; handles > 0; --handles)
      services.type_attributes.add_handle(*type);
    if (attributes == nullptr) continue;
    AttributeMap& made = services.type_attributes.make(*type);
    for (const AttributeMap::Attribute& attribute : attributes->all())
      made.add_restored(*attribute.keyval, attribute.value);
  }
  for (auto left = from.take<std::size_t>(); left > 0 && from.is_good(); --left) {
    const Datatype* type = datatype_from_handle(from.take<MPI_Datatype>());
    const std::string_view text = from.take_block();
    if (type == nullptr) return;
    services.type_names.set(*type, std::string(text));
  }
}

}  // namespace

void save_attributes(const AttributeMapPointer& attributes, ByteWriter& to) {
  to.add(attributes != nullptr);
  if (attributes == nullptr) return;
  std::vector<SavedAttribute> saved;
  for (const AttributeMap::Attribute& attribute : attributes->all())
    saved.push_back({.number = attribute.keyval->number, .value = attribute.value});
  add_list<SavedAttribute>(to, saved);
}

void restore_attributes(RankState& rank, AttributeMapPointer& attributes, ByteCursor& from) {
  if (!from.take<bool>()) return;
  attributes = std::make_unique<AttributeMap>();
  const auto& keyvals = rank.services().keyvals.all();
  for (const SavedAttribute& saved : take_list<SavedAttribute>(from)) {
    const auto index = static_cast<std::size_t>(saved.number - KeyvalTable::first_number);
    if (index < keyvals.size()) attributes->add_restored(*keyvals[index], saved.value);
  }
}

void save_services(const RankState& rank, ByteWriter& to) {
  const RankServices* services = rank.services_if_used.get();
  to.add(services != nullptr);
  if (services == nullptr) return;
  to.add(services->fortran_calls);
  to.add(services->returned_code);
  to.add(services->predefined_attributes.get());
  std::vector<Keyval> keyvals;
  for (const auto& keyval : services->keyvals.all())
    keyvals.push_back(*keyval);
  add_list<Keyval>(to, keyvals);
  add_list<std::uintptr_t>(to, services->integer_handles.all());
  to.add(services->error_codes.all().size());
  for (const ErrorCodes::Added& added : services->error_codes.all()) {
    to.add(added.error_class);
    to.add(added.is_removed);
    to.add_block(added.text);
  }
  to.add(services->files == nullptr
             ? nullptr
             : handle_of(*static_cast<const RankFiles*>(services->files.get())->null_errhandler));
  save_types(*services, to);
}

void restore_services(RankState& rank, ByteCursor& from) {
  if (!from.take<bool>()) return;
  RankServices& services = rank.services();
  services.fortran_calls = from.take<const sorrel_fortran_calls*>();
  services.returned_code = from.take<int (*)(int)>();
  services.predefined_attributes.reset(from.take<PredefinedAttributes*>());
  for (const Keyval& keyval : take_list<Keyval>(from))
    services.keyvals.add_restored(keyval);
  for (const std::uintptr_t handle : take_list<std::uintptr_t>(from))
    (void)services.integer_handles.number_of(handle);
  std::vector<ErrorCodes::Added> codes;
  for (auto left = from.take<std::size_t>(); left > 0 && from.is_good(); --left) {
    ErrorCodes::Added added{.error_class = from.take<int>(), .text = {}};
    added.is_removed = from.take<bool>();
    added.text = from.take_block();
    codes.push_back(std::move(added));
  }
  services.error_codes.set_all(std::move(codes));
  if (const auto handler = from.take<MPI_Errhandler>(); handler != nullptr)
    RankFiles::of(rank).null_errhandler = errhandler_of(handler);
  restore_types(rank, from);
}

}  // namespace sorrel::mpi
