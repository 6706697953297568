#!/usr/bin/env python3
"""Runs fem and compares: numbers of ranks, mesh files whole and damaged, the files it writes.

    fem_test.py SORREL FEM LIBRARY-TO-SHARE-OR-EMPTY GEO [Fem.TEST...]

Exit status 77 if all tests chosen are skipped: without gmsh, or without Python's meshio.
"""

import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

try:
    import meshio
except ImportError:
    meshio = None

SORREL = FEM = SHARED = GEO = ""
TIMEOUT_S = 110

# A cube of one metre as six tetrahedra.
CUBE_NODES = [(x, y, z) for z in (0.0, 1.0) for y in (0.0, 1.0) for x in (0.0, 1.0)]
CUBE_ELEMENTS = [(0, 1, 3, 7), (0, 1, 7, 5), (0, 2, 7, 3), (0, 2, 6, 7), (0, 4, 5, 7), (0, 4, 7, 6)]


def text_mesh(elements=CUBE_ELEMENTS, kind=4, nodes=CUBE_NODES):
    """A file of gmsh's format 4.1 as text. Tags of nodes begin at 10 and have gaps."""
    lines = ["$MeshFormat", "4.1 0 8", "$EndMeshFormat", "$Nodes", f"1 {len(nodes)} 10 99", f"3 1 0 {len(nodes)}"]
    lines += [str(10 + 2 * i) for i in range(len(nodes))]
    lines += [" ".join(map(repr, node)) for node in nodes]
    lines += ["$EndNodes", "$Elements", f"1 {len(elements)} 1 {len(elements)}", f"3 1 {kind} {len(elements)}"]
    lines += [f"{i + 1} " + " ".join(str(10 + 2 * n) for n in e) for i, e in enumerate(elements)]
    return ("\n".join(lines) + "\n$EndElements\n").encode()


def binary_mesh():
    """The cube of text_mesh, in binary."""
    data = b"$MeshFormat\n4.1 1 8\n" + struct.pack("<i", 1) + b"\n$EndMeshFormat\n$Nodes\n"
    data += struct.pack("<4Q3iQ", 1, 8, 10, 24, 3, 1, 0, 8) + struct.pack("<8Q", *range(10, 26, 2))
    data += b"".join(struct.pack("<3d", *node) for node in CUBE_NODES) + b"\n$EndNodes\n$Elements\n"
    data += struct.pack("<4Q3iQ", 1, 6, 1, 6, 3, 1, 4, 6)
    data += b"".join(struct.pack("<5Q", i + 1, *(10 + 2 * n for n in e)) for i, e in enumerate(CUBE_ELEMENTS))
    return data + b"\n$EndElements\n"


def run(ranks, *arguments):
    shared = ["--shared", SHARED] if SHARED else []
    command = [SORREL, "run", "-n", str(ranks), *shared, FEM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


class Fem(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def numbers(self, ranks, *arguments):
        done = run(ranks, "--csv", *arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        names, values = done.stdout.splitlines()
        return dict(zip(names.split(","), map(float, values.split(","))))

    def refusal(self, status, *arguments, ranks=3):
        """The one line that fem prints when it refuses."""
        done = run(ranks, *arguments)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        lines = [line for line in done.stderr.splitlines() if not line.startswith("sorrel:")]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertTrue(lines[0].startswith("fem: "), lines)
        return lines[0]

    def mesh_file(self, data):
        path = self.folder / "mesh.msh"
        path.write_bytes(data)
        return path

    def test_any_number_of_ranks_agrees(self):
        for options in ([], ["--zone", "0.3", "--softening", "10", "--traction", "4e8"], ["--order", "file"]):
            one = self.numbers(1, "--cells", "24x6x6", "--steps", "300", *options)
            for ranks, cut in ((4, "metis"), (7, "metis"), (7, "bisection"), (64, "metis")):
                with self.subTest(options=options, ranks=ranks, cut=cut):
                    many = self.numbers(ranks, "--cells", "24x6x6", "--steps", "300", "--cut", cut, *options)
                    self.assertEqual(many["elements"], one["elements"])
                    self.assertEqual(many["nodes"], one["nodes"])
                    self.assertAlmostEqual(many["elongation"] / one["elongation"], 1, delta=1e-11)

    def test_a_softer_zone_is_longer(self):
        options = ["--cells", "24x6x6", "--steps", "300", "--traction", "4e8", "--zone", "1"]
        linear = self.numbers(2, *options)["elongation"]
        soft = self.numbers(2, *options, "--softening", "1")["elongation"]
        self.assertGreater(soft, linear * 1.01)
        self.assertAlmostEqual(self.numbers(2, *options[:-2])["elongation"] / linear, 1, delta=1e-11)

    def test_meshes_as_text_and_binary(self):
        # Lengths of the cube are 1 m: the elongation is traction / Young's modulus.
        for data in (text_mesh(), binary_mesh(), text_mesh([(a, b, d, c) for a, b, c, d in CUBE_ELEMENTS])):
            path = self.mesh_file(data)
            found = self.numbers(2, "--mesh", path, "--case", "bar", "--method", "equilibrium")
            self.assertEqual((found["elements"], found["nodes"]), (6, 8))
            self.assertAlmostEqual(found["elongation"] / (1e8 / 210e9), 1, delta=1e-11)

    def test_truncated_meshes_are_refused(self):
        for data in (text_mesh(), binary_mesh()):
            for part in range(1, 40):
                # The last newline may be missing.
                cut = data[: (len(data) - 2) * part // 40]
                line = self.refusal(2, "--mesh", self.mesh_file(cut), ranks=1)
                self.assertRegex(line, "ends|not a mesh file|no \\$Elements|version|supported|expected")

    def test_bad_meshes_are_refused(self):
        for data, message in (
            (b"", "mesh.msh: empty"),
            (b"solid cube\n", "not a mesh file of gmsh"),
            (b"\x7fELF" + bytes(2000), "not a mesh file of gmsh"),
            (b"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n", "version 2.2; only 4.1 is supported"),
            (text_mesh(kind=5), "element type 5 is not supported; only tetrahedra of four nodes"),
            (text_mesh([], 4), "no tetrahedra"),
            (text_mesh([(0, 1, 2)], 2), "no tetrahedra"),
            (text_mesh([(0, 1, 3, 70)] + CUBE_ELEMENTS), "element 1 has a node that is not in $Nodes"),
            (text_mesh([(0, 1, 3, 2)] + CUBE_ELEMENTS), "tetrahedron 1 has no volume"),
            (text_mesh(CUBE_ELEMENTS + CUBE_ELEMENTS + CUBE_ELEMENTS), "more than two elements share a face"),
            (text_mesh(nodes=[(float("nan"), 0.0, 0.0)] + CUBE_NODES[1:]), "not a number|no volume|is expected"),
            (text_mesh().replace(b"1 6 1 6", b"1 9 1 9"), "as many elements as announced"),
            (text_mesh().replace(b"3 1 0 8", b"3 1 0 99999999999"), "the file ends too early"),
        ):
            with self.subTest(message=message):
                line = self.refusal(2, "--mesh", self.mesh_file(data))
                self.assertRegex(line, message.replace("$", "\\$"))
        self.assertIn("cannot be opened", self.refusal(2, "--mesh", self.folder / "none.msh"))
        self.assertIn("6 elements for 7 ranks", self.refusal(2, "--mesh", self.mesh_file(text_mesh()), ranks=7))

    def test_bad_options_are_refused(self):
        for options, message in (
            (["--case", "bend"], "--case bend: one of these is expected: bar, patch, pull"),
            (["--steps", "0"], "--steps 0: a number from 1 to"),
            (["--steps", "2.5"], "not a whole number"),
            (["--poisson", "0.5"], "--poisson 0.5: a number from 0 to 0.499 is expected"),
            (["--poisson", "nan"], "--poisson nan"),
            (["--cells", "4x4"], "three numbers are expected"),
            (["--cells", "2000x4x4"], "out of range"),
            (["--mesh"], "--mesh needs a value"),
            (["--turbo", "1"], "no option --turbo"),
            (["plate.msh"], "no option plate.msh"),
        ):
            with self.subTest(options=options):
                self.assertIn(message, self.refusal(2, *options))

    def test_files_that_cannot_be_written_are_reported(self):
        for option in ("--vtu", "--picture"):
            done = run(2, "--cells", "4x2x2", "--steps", "2", option, self.folder / "none" / "file")
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, "fem: .*file: cannot be written")

    def test_a_picture_has_both_halves(self):
        path = self.folder / "bar.svg"
        self.assertEqual(run(3, "--cells", "4x2x2", "--picture", path).returncode, 0)
        text = path.read_text()
        self.assertIn("von Mises", text)
        # Three faces of the box are visible, 2 (4*2 + 4*2 + 2*2) triangles, drawn twice.
        self.assertEqual(text.count("<path"), 2 * 2 * (8 + 8 + 4))

    @unittest.skipUnless(meshio, "no meshio")
    def test_meshio_reads_the_results(self):
        name = self.folder / "bar"
        # Bisection gives octants: some nodes have many ranks, whose parts may be added in one order only.
        options = ["--cut", "bisection", "--cells", "8x8x8", "--size", "0.2x0.2x0.2", "--vtu", name]
        done = run(8, "--case", "bar", "--method", "equilibrium", *options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        cells, displacements = 0, {}
        for rank in range(8):
            piece = meshio.read(f"{name}.{rank}.vtu")
            (block,) = piece.cells
            self.assertEqual(block.type, "tetra")
            cells += len(block.data)
            self.assertEqual(set(piece.cell_data["rank"][0].ravel()), {rank})
            stress = piece.cell_data["stress"][0]
            self.assertLess(abs(stress - [1e8, 0, 0, 0, 0, 0]).max(), 1)
            self.assertLess(abs(piece.cell_data["von_mises"][0] - 1e8).max(), 1)
            strain = 1e8 / 210e9
            answer = piece.points * [strain, -0.3 * strain, -0.3 * strain]
            self.assertLess(abs(piece.point_data["displacement"] - answer).max(), 1e-12)
            for node, u in zip(piece.point_data["global_node"].ravel(), piece.point_data["displacement"]):
                # Nodes on a seam have the same bits on all ranks.
                self.assertEqual(displacements.setdefault(int(node), u.tobytes()), u.tobytes())
        self.assertEqual(cells, 8 * 8 * 8 * 6)
        self.assertEqual(len(displacements), 9 * 9 * 9)
        index = pathlib.Path(f"{name}.pvtu").read_text()
        for rank in range(8):
            self.assertIn(f'Source="bar.{rank}.vtu"', index)

    @unittest.skipUnless(shutil.which("gmsh"), "no gmsh")
    def test_the_plate(self):
        results = []
        for form in ([], ["-bin"]):
            path = self.folder / "plate.msh"
            command = ["gmsh", "-3", "-format", "msh41", *form, "-setnumber", "size", "0.008", GEO, "-o", str(path)]
            subprocess.run(command, check=True, capture_output=True, timeout=TIMEOUT_S)
            results.append(self.numbers(5, "--mesh", path, "--steps", "500"))
            self.assertEqual(self.numbers(5, "--mesh", path, "--case", "patch", "--method", "equilibrium")["right"], 1)
        self.assertGreater(results[0]["elements"], 1000)
        self.assertEqual(results[0]["elements"], results[1]["elements"])
        self.assertAlmostEqual(results[0]["elongation"] / results[1]["elongation"], 1, delta=1e-9)


if __name__ == "__main__":
    SORREL, FEM, SHARED, GEO = sys.argv[1:5]
    result = unittest.main(argv=["fem_test"] + sys.argv[5:], exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.testsRun == len(result.skipped) else 0)
