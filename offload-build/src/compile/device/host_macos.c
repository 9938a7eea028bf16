/* What the mathematics of macOS lacks, for objects that a compiler makes. */
double sin(double), cos(double), rint(double);
float sinf(float), cosf(float), rintf(float);

void sincos(double x, double *sine, double *cosine) { *sine = sin(x), *cosine = cos(x); }
void sincosf(float x, float *sine, float *cosine) { *sine = sinf(x), *cosine = cosf(x); }
/* Kernels run with the rounding mode that programs begin with, to the nearest even number. */
double roundeven(double x) { return rint(x); }
float roundevenf(float x) { return rintf(x); }
