#pragma once
// Everything of it that there is comes before each file.
