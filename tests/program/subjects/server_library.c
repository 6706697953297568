/* A library whose constructor starts a thread that works for its callers until the destructor. */
#include <pthread.h>

static pthread_t thread;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int requested, done, sum;
static _Thread_local int* const sum_of_thread = &sum;

static void* serve(void* unused) {
  pthread_mutex_lock(&mutex);
  while (requested >= 0) {
    if (requested > 0) *sum_of_thread += requested;
    done += requested > 0;
    requested = 0;
    pthread_cond_broadcast(&change);
    pthread_cond_wait(&change, &mutex);
  }
  pthread_mutex_unlock(&mutex);
  return unused;
}

__attribute__((constructor)) static void start(void) {
  pthread_create(&thread, 0, serve, 0);
}

__attribute__((destructor)) static void stop(void) {
  pthread_mutex_lock(&mutex);
  requested = -1;
  pthread_cond_broadcast(&change);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, 0);
}

int server_add(int value) {
  pthread_mutex_lock(&mutex);
  const int before = done;
  requested = value;
  pthread_cond_broadcast(&change);
  while (done == before)
    pthread_cond_wait(&change, &mutex);
  const int result = sum;
  pthread_mutex_unlock(&mutex);
  return result;
}
