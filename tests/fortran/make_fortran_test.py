"""Faults in the table of the functions that make_fortran.py must report, and the forms that follow from the kinds."""
import sys
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"
sys.path[:0] = [str(SOURCE / "fortran"), str(SOURCE / "abi")]
import make_bindings  # noqa: E402
import make_fortran  # noqa: E402


def functions(line):
    return list(make_fortran.functions_of(make_bindings.parse("[3 messages]\n" + line)))


def shims(line):
    return "".join(make_fortran.shims_text(functions(line)))


def interface(line, f08):
    function = functions(line)[0]
    return "".join(make_fortran.interface(function, "MPI_" + function.name, f08))


class Faults(unittest.TestCase):
    def error_of(self, line):
        with self.assertRaises(make_bindings.TableError) as caught:
            shims(line)
        return str(caught.exception)

    def test_an_array_of_handles_needs_a_length(self):
        self.assertEqual(self.error_of("Startall(int count, inout request requests[])"),
                         "MPI_Startall: the table does not say how long the array requests is")

    def test_a_string_that_is_given_back_needs_a_length(self):
        self.assertEqual(self.error_of("Name(out string name, out int resultlen)"),
                         "MPI_Name: the table does not say how long the string name is")

    def test_a_kind_must_be_known(self):
        self.assertEqual(self.error_of("Weird(MPI_T_enum x)"), "MPI_Weird: make_fortran.py does not know the kind 'MPI_T_enum'")

    def test_text_in_c_must_be_known(self):
        self.assertIn("does not know what it is in Fortran", self.error_of("Weird({struct unknown* x})"))


class Forms(unittest.TestCase):
    def test_positions_are_counted_from_one(self):
        self.assertIn("sorrel_count_from_one(indx, 1);",
                      shims("Waitany(int count, inout request r[count], out index indx, out status status)"))
        self.assertNotIn("count_from_one", shims("Size(comm comm, out int size)"))

    def test_handles_are_converted_in_their_direction(self):
        text = shims("Comm_dup(comm comm, out comm newcomm)")
        self.assertIn("sorrel_from_Comm(*comm)", text)
        self.assertIn("*newcomm = sorrel_to_Comm(newcomm_c);", text)
        self.assertIn("MPI_Comm comm_c = sorrel_from_Comm(*comm);", shims("Comm_free(inout comm comm)"))

    def test_large_counts_are_of_mpi_f08_alone(self):
        text = shims("Send(buffer buf, count count, datatype datatype, rank dest, tag tag, comm comm)")
        self.assertIn("void pmpi_send_(void* buf, int* count,", text)
        self.assertIn("void pmpi_send_c_f08ts_(const struct sorrel_descriptor* buf, MPI_Count* count,", text)
        self.assertNotIn("mpi_send_c_,", text)

    def test_a_binding_notes_its_caller(self):
        self.assertIn("SORREL_NOTE_CALLER();", shims("Barrier(comm comm)"))

    def test_buffers_that_stay_in_use_have_descriptors(self):
        text = shims("Isend(buffer buf, count count, datatype datatype, rank dest, tag tag, comm comm, out request request)")
        self.assertIn("void pmpi_isend_f08ts_(const struct sorrel_descriptor* buf,", text)
        self.assertIn("sorrel_close(&buf_s);", text)
        self.assertIn("dimension(..), asynchronous", interface("Ibcast(inout buffer b, count n, type t, out request r)", True))
        self.assertIn("NO_ARG_CHECK", interface("Ibcast(inout buffer b, count n, type t, out request r)", False))

    def test_sections_of_blocking_calls_are_copied_and_copied_back_if_written(self):
        text = shims("Sendrecv(buffer s, count n, type t, out buffer r, count m, type u)")
        self.assertIn("sorrel_end_contiguous(s, s_c, 0);", text)
        self.assertIn("sorrel_end_contiguous(r, r_c, 1);", text)
        declared = interface("Sendrecv(buffer s, count n, type t, out buffer r, count m, type u)", True)
        self.assertIn("type(*), dimension(..), intent(in) :: s\n", declared)
        self.assertIn("type(*), dimension(..) :: r\n", declared)
        self.assertNotIn("bind(C", declared)

    def test_reductions_share_their_count(self):
        text = shims("Ireduce(buffer sendbuf, out buffer recvbuf, count count, datatype datatype, op op, comm comm, out request r)")
        self.assertIn("sorrel_whole(&sendbuf_c, sendbuf,", text)
        self.assertIn("sorrel_whole(&recvbuf_c, recvbuf,", text)

    def test_a_name_is_shared_where_arguments_tell_the_forms_apart(self):
        found = make_fortran.generics(functions("Type_size(type t, out count size)\nType_extent(type t, out address lb)"))
        self.assertEqual([f.name for f in found["Type_size"]], ["Type_size", "Type_size_c"])
        self.assertEqual([f.name for f in found["Type_extent"]], ["Type_extent"])
        self.assertEqual([f.name for f in found["Type_extent_c"]], ["Type_extent_c"])

    def test_strings_of_info_lose_blanks_on_both_sides(self):
        self.assertIn("sorrel_info_string(key,", shims("Info_delete(info info, string key)"))
        self.assertIn("sorrel_string(name,", shims("Comm_set_name(comm comm, string name)"))

    def test_mpif_h_is_of_both_forms(self):
        header = (SOURCE.parent / "include/mpi/mpi.h").read_text(encoding="utf-8")
        table = make_bindings.parse((SOURCE / "abi/functions.txt").read_text(encoding="utf-8"))
        for line in "".join(make_fortran.mpif_text(list(make_fortran.functions_of(table)), header)).splitlines():
            if not line.startswith("!"):
                self.assertRegex(line, r"^ {6}[a-z].{0,65}$")
                self.assertNotIn("&", line)

    def test_strings_have_no_room_for_a_zero(self):
        self.assertEqual(dict((name, value) for name, _, value in make_fortran.resolved_constants(
            "#define MPI_MAX_INFO_KEY 256\n#define MPI_ROOT (-4)\n"))["MPI_MAX_INFO_KEY"], 255)


if __name__ == "__main__":
    unittest.main()
