* Terms of a power of a sum, modulo a relation (FORM)
Symbols a,b,c,d,e;
Off statistics;
Local F = (a + 2*b + 3*c + 4*d + 5*e)^12;
.sort
id a^2 = b + c;
id b^3 = d;
.sort
id c = 1;
id d = 1;
id e = 1;
Print;
.end
