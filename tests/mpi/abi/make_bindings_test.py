"""Faults in the table of the functions, each of which make_bindings.py must report with its line."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "src" / "abi"))
import make_bindings  # noqa: E402


class Table(unittest.TestCase):
    def error_of(self, line):
        with self.assertRaises(make_bindings.TableError) as caught:
            make_bindings.parse("# head\n[3 messages]\n" + line)
        return str(caught.exception)

    def test_reports_an_unknown_kind_with_its_line(self):
        self.assertEqual(self.error_of("Send(buffers buf)"), "functions.txt:3: 'buffers' is not a kind of argument")

    def test_reports_an_argument_without_a_name(self):
        self.assertIn("functions.txt:3: 'comm' is not an argument", self.error_of("Send(comm)"))

    def test_reports_a_line_that_is_no_function(self):
        self.assertIn("functions.txt:3: not [chapter subject]", self.error_of("Send buffer"))

    def test_reports_a_function_that_is_there_twice(self):
        self.assertEqual(self.error_of("Start(inout request r)\nStart(inout request r)"), "functions.txt: Start is there twice")

    def test_reports_the_large_form_of_another_line(self):
        self.assertEqual(self.error_of("Put(count n)\nPut_c(large n)"), "functions.txt: Put_c is there twice")


class Texts(unittest.TestCase):
    def function(self, line):
        return make_bindings.parse("[3 messages]\n" + line)[0]

    def test_counts_get_wider_in_the_large_form(self):
        gatherv = self.function("Gatherv(count counts[], displacement displs[], address a, comm comm)")
        self.assertEqual(gatherv.parameters(True), ["const MPI_Count counts[]", "const MPI_Aint displs[]", "MPI_Count a", "MPI_Comm comm"])
        self.assertEqual(gatherv.body_parameters(),
                         ["RankState& self", "Comm& comm", "mpi::Integers counts", "mpi::Integers displs", "MPI_Count a"])

    def test_what_describes_a_message_is_one_argument(self):
        gather = self.function("Gatherv(buffer sendbuf, count n, datatype t, out buffer recvbuf, count counts[], displacement displs[], datatype u)")
        self.assertEqual(gather.body_parameters(), ["RankState& self", "const UserBuffer& send", "const UserBlocks& receive"])

    def test_a_body_may_be_that_of_another_function(self):
        detach = self.function("body=body::Comm_free Comm_disconnect(inout comm comm)")
        self.assertEqual("".join(make_bindings.body_text([detach])), "")
        self.assertIn("return body::Comm_free(self, on, comm);", "".join(make_bindings.binding(detach, detach.name, False)))

    def test_the_frame_follows_from_the_arguments(self):
        for line, frame in (("Barrier(comm comm)", "call_on(running, comm,"), ("Comm_free(inout comm comm)", "call_on_variable(running, comm,"),
                            ("Wait(inout request request, out status status)", "call_on_requests(running, "),
                            ("any-time Info_create(out info info)", "call_any_time(running, "), ("Type_size(type t, out count size)", "call(running, ")):
            function = self.function(line)
            self.assertIn(f"return {frame}", "".join(make_bindings.binding(function, function.name, False)))

    def test_pointers_that_a_function_writes_through_are_checked(self):
        probe = self.function("Testsome(int n, inout request requests[n], out logical flag, out status status, buffer b)")
        text = "".join(make_bindings.binding(probe, "Testsome", False))
        self.assertIn("if (n > 0 && requests == nullptr)", text)
        self.assertIn("if (flag == nullptr)", text)
        self.assertNotIn("status ==", text)
        self.assertNotIn("b ==", text)


if __name__ == "__main__":
    unittest.main()
