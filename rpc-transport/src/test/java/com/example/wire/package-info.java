/** The service that the captured bytes are about, under the name it had when they were captured. */
@NullMarked
package com.example.wire;

import org.jspecify.annotations.NullMarked;
