/* A stand-in for the driver of a GPU: gpu.c gives it the name of one and loads it. It does nothing. */

int cuInit(unsigned flags);

int cuInit(unsigned flags) { return (int)flags; }
