/** The services of the captured calls. All names must be the same as when the calls were captured. */
@NullMarked
package com.example.wire;

import org.jspecify.annotations.NullMarked;
