/* A library whose names are in another one, which it needs: programs list both. */
typedef int sorrel_nothing;
