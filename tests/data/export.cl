float elsewhere(float x) { return 2.0f * x + 1.0f; }
