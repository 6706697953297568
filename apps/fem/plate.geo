// A plate with a thick end and four holes, in metres. Gmsh's OpenCASCADE kernel.
//
//   gmsh -3 -format msh41 -bin apps/fem/plate.geo -o plate.msh                         335 000 tetrahedra
//   gmsh -3 -format msh41 -setnumber size 0.006 apps/fem/plate.geo -o small.msh
//
// `fem` holds the nodes of least x and pulls those of greatest x.
SetFactory("OpenCASCADE");

DefineConstant[ size = {0.00165, Name "size"} ];  // edge length of an element

length = 0.24;
width = 0.08;
thickness = 0.016;

Box(1) = {0, 0, 0, length, width, thickness};
Box(2) = {0, 0, 0, 0.04, width, 0.032};                   // the thick end
Cylinder(3) = {0.085, 0.040, -0.01, 0, 0, 0.06, 0.020};   // holes
Cylinder(4) = {0.150, 0.025, -0.01, 0, 0, 0.06, 0.010};
Cylinder(5) = {0.190, 0.052, -0.01, 0, 0, 0.06, 0.014};
Cylinder(6) = {0.020, 0.040, -0.01, 0, 0, 0.06, 0.008};

BooleanUnion(7) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
BooleanDifference(8) = { Volume{7}; Delete; }{ Volume{3:6}; Delete; };

Physical Volume("body") = {8};

Mesh.MeshSizeMin = size;
Mesh.MeshSizeMax = size;
Mesh.Algorithm3D = 1;  // Delaunay
Mesh.Optimize = 1;
