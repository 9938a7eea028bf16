float elsewhere(float x);
kernel void calls(global float *x) { x[get_global_id(0)] = elsewhere(x[0]); }
