#include "output.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>

namespace fem {

namespace {

std::string base64(const std::string& bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t three = 0;
    for (std::size_t b = 0; b < 3; ++b)
      three = three << 8 | (b < count ? static_cast<unsigned char>(bytes[i + b]) : 0U);
    for (std::size_t d = 0; d < 4; ++d)
      text += d <= count ? digits[three >> (18 - 6 * d) & 63U] : '=';
  }
  return text;
}

/// A DataArray: the number of bytes as UInt64, then the values, in base64.
template <typename Value>
void write_array(std::ofstream& file,
                 const char* type,
                 const char* name,
                 int components,
                 const std::vector<Value>& values) {
  const std::uint64_t size = values.size() * sizeof(Value);
  std::string bytes(sizeof size + size, '\0');
  std::memcpy(bytes.data(), &size, sizeof size);
  if (size > 0) std::memcpy(bytes.data() + sizeof size, values.data(), size);
  file << "<DataArray type=\"" << type << "\" Name=\"" << name << "\" NumberOfComponents=\""
       << components << "\" format=\"binary\">" << base64(bytes) << "</DataArray>\n";
}

void write_header(std::ofstream& file, const char* type) {
  file << "<?xml version=\"1.0\"?>\n<VTKFile type=\"" << type
       << "\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n";
}

bool write_piece(const std::string& path,
                 int rank,
                 const Chunk& chunk,
                 const std::vector<Vector>& u,
                 const std::vector<Symmetric>& stresses) {
  constexpr std::uint8_t vtk_tetra = 10;
  std::ofstream file(path, std::ios::binary);
  std::vector<std::int32_t> corners, ends;
  std::vector<double> equivalents;
  for (std::size_t e = 0; e < chunk.elements.size(); ++e) {
    corners.insert(corners.end(), chunk.elements[e].nodes.begin(), chunk.elements[e].nodes.end());
    ends.push_back(static_cast<std::int32_t>(corners.size()));
    equivalents.push_back(von_mises_of(stresses[e]));
  }
  write_header(file, "UnstructuredGrid");
  file << "<UnstructuredGrid>\n<Piece NumberOfPoints=\"" << chunk.x.size() << "\" NumberOfCells=\""
       << chunk.elements.size() << "\">\n<Points>\n";
  write_array(file, "Float64", "Points", 3, chunk.x);
  file << "</Points>\n<Cells>\n";
  write_array(file, "Int32", "connectivity", 1, corners);
  write_array(file, "Int32", "offsets", 1, ends);
  write_array(file, "UInt8", "types", 1, std::vector<std::uint8_t>(ends.size(), vtk_tetra));
  file << "</Cells>\n<PointData>\n";
  write_array(file, "Float64", "displacement", 3, u);
  write_array(file, "Int32", "global_node", 1, chunk.global_nodes);
  file << "</PointData>\n<CellData>\n";
  write_array(file, "Float64", "stress", 6, stresses);
  write_array(file, "Float64", "von_mises", 1, equivalents);
  write_array(file, "Int32", "rank", 1, std::vector<std::int32_t>(ends.size(), rank));
  file << "</CellData>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
  file.close();
  return file.good();
}

bool write_index(const std::string& name, int rank_count) {
  std::ofstream file(name + ".pvtu");
  const auto array = [&](const char* type, const char* array_name, int components) {
    file << "<PDataArray type=\"" << type << "\" Name=\"" << array_name
         << "\" NumberOfComponents=\"" << components << "\"/>\n";
  };
  write_header(file, "PUnstructuredGrid");
  file << "<PUnstructuredGrid GhostLevel=\"0\">\n<PPoints>\n";
  array("Float64", "Points", 3);
  file << "</PPoints>\n<PPointData>\n";
  array("Float64", "displacement", 3);
  array("Int32", "global_node", 1);
  file << "</PPointData>\n<PCellData>\n";
  array("Float64", "stress", 6);
  array("Float64", "von_mises", 1);
  array("Int32", "rank", 1);
  file << "</PCellData>\n";
  const std::string last = name.substr(name.rfind('/') + 1);
  for (int rank = 0; rank < rank_count; ++rank)
    file << "<Piece Source=\"" << last << '.' << rank << ".vtu\"/>\n";
  file << "</PUnstructuredGrid>\n</VTKFile>\n";
  file.close();
  return file.good();
}

}  // namespace

bool write_vtu(const std::string& name,
               const Chunk& chunk,
               const std::vector<Vector>& u,
               const std::vector<Symmetric>& stresses,
               MPI_Comm comm) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int is_written =
      write_piece(name + '.' + std::to_string(rank) + ".vtu", rank, chunk, u, stresses) ? 1 : 0;
  if (rank == 0 && !write_index(name, size)) is_written = 0;
  MPI_Allreduce(MPI_IN_PLACE, &is_written, 1, MPI_INT, MPI_MIN, comm);
  return is_written == 1;
}

}  // namespace fem
