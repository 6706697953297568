// Constructs that the other programs do not have; each prints a number that is independent of the
// number of threads.
#include <omp.h>
#include <stdio.h>
static int tp = 3;
#pragma omp threadprivate(tp)

int main(void) {
  long a[64][32];
#pragma omp parallel for ordered(2) num_threads(4) schedule(dynamic)
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 32; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
      a[i][j] = (i ? a[i - 1][j] % 1000003 : 1) + (j ? a[i][j - 1] % 1000003 : 0);
#pragma omp ordered depend(source)
    }
  printf("doacross %ld\n", a[63][31]);
  int s1 = 0, s2 = 0, s3 = 0;
#pragma omp parallel sections num_threads(3) reduction(+ : s1)
  {
#pragma omp section
    s1 += 1;
#pragma omp section
    s1 += 10;
#pragma omp section
    s1 += 100;
#pragma omp section
    s1 += 1000;
  }
  printf("sections %d\n", s1);
  tp = 9;
#pragma omp parallel copyin(tp) num_threads(4) reduction(+ : s2)
  s2 += tp;
  printf("copyin %d\n", s2);
  int last = -1;
#pragma omp parallel for lastprivate(last) num_threads(5) schedule(guided)
  for (int i = 0; i < 777; i++)
    last = i;
  printf("last %d\n", last);
  int x = 0, y = 0;
  omp_depend_t obj;
#pragma omp parallel num_threads(4)
#pragma omp single
  {
#pragma omp depobj(obj) depend(inout : x)
    for (int i = 0; i < 20; i++) {
#pragma omp task depend(depobj : obj) shared(x)
      x = x * 3 % 1001 + i;
    }
#pragma omp task depend(in : x) depend(out : y) shared(x, y) if (0)
    y = x;
#pragma omp taskwait depend(in : y)
    printf("depobj %d %d\n", x, y);
#pragma omp depobj(obj) destroy
    int v[10] = {0};
#pragma omp task depend(iterator(k = 0 : 10), out : v[k]) shared(v)
    for (int k = 0; k < 10; k++)
      v[k] = k;
    int sum = 0;
#pragma omp task depend(iterator(k = 0 : 10), in : v[k]) shared(v, sum)
    for (int k = 0; k < 10; k++)
      sum += v[k];
#pragma omp taskwait
    printf("iterator %d\n", sum);
    omp_event_handle_t ev;
#pragma omp task detach(ev) depend(out : sum) shared(sum)
    {
      sum = 5;
    }
#pragma omp task depend(in : sum) shared(sum)
    printf("after event %d\n", sum);
#pragma omp task
    omp_fulfill_event(ev);
#pragma omp taskwait
#pragma omp taskgroup
    {
      for (int i = 0; i < 50; i++) {
#pragma omp task shared(s3)
        {
#pragma omp atomic
          s3++;
#pragma omp cancel taskgroup if (i == 100)
        }
      }
    }
    printf("taskgroup %d\n", s3);
  }
  int red = 0;
#pragma omp parallel num_threads(4)
  {
#pragma omp for reduction(task, + : red)
    for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : red)
      red += i;
    }
  }
#pragma omp parallel num_threads(4) reduction(task, + : red)
  {
#pragma omp task in_reduction(+ : red)
    red += 2;
    red += 1;
  }
  printf("task reduction %d\n", red);
  int tl = 0;
#pragma omp parallel num_threads(3)
#pragma omp masked taskloop reduction(+ : tl) grainsize(5)
  for (int i = 0; i < 100; i++)
    tl += i;
  printf("taskloop %d\n", tl);
  int st = 0;
#pragma omp parallel master taskloop simd num_tasks(7) lastprivate(last) shared(st)
  for (int i = 99; i >= 3; i -= 4) {
    last = i;
#pragma omp atomic
    st += i;
  }
  printf("taskloop down %d %d\n", st, last);
  int scan[100], t = 0;
#pragma omp parallel for reduction(inscan, + : t) num_threads(4)
  for (int i = 0; i < 100; i++) {
    t += i;
#pragma omp scan inclusive(t)
    scan[i] = t;
  }
  printf("scan %d %d\n", scan[99], scan[50]);
  int nt = 0, inner = 0;
#pragma omp teams num_teams(2) thread_limit(3) reduction(+ : nt)
  {
    nt += omp_get_num_teams();
  }
#pragma omp teams distribute parallel for num_teams(3) reduction(+ : inner)
  for (int i = 0; i < 1000; i++)
    inner += i;
  printf("teams %d %d\n", nt, inner);
  omp_set_max_active_levels(3);
  int nest = 0;
#pragma omp parallel num_threads(2) reduction(+ : nest)
#pragma omp parallel num_threads(3) reduction(+ : nest)
  {
    nest += omp_get_ancestor_thread_num(1) + omp_get_level();
  }
  printf("nested %d\n", nest);
  unsigned long long big = 0;
#pragma omp parallel for reduction(+ : big) schedule(static, 3)
  for (unsigned long long i = 0xfffffffffffffff0ULL; i < 0xfffffffffffffff8ULL; i += 2)
    big += i & 0xff;
  printf("big %llu\n", big);
  double real = 0;
#pragma omp parallel for reduction(+ : real)
  for (int i = 0; i < 100; i++)
    real += i;
  printf("real %d\n", (int)real);
  omp_lock_t l;
  omp_init_lock(&l);
  int cnt = 0;
#pragma omp parallel num_threads(6)
  {
    for (int i = 0; i < 100; i++) {
      omp_set_lock(&l);
      cnt++;
      omp_unset_lock(&l);
    }
  }
  omp_destroy_lock(&l);
  printf("lock %d\n", cnt);
#pragma omp parallel num_threads(4) if (cnt < 0)
  {
    if (omp_get_num_threads() != 1) printf("a region without a team\n");
  }
  int once = 0;
#pragma omp parallel num_threads(4)
  {
    int p;
#pragma omp single copyprivate(p)
    p = 77;
#pragma omp atomic
    once += p;
  }
  printf("copyprivate %d\n", once);
  return 0;
}
