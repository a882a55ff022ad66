// The same program, built by nvcc.
#include "main.cpp"
