/** The service of the captured bytes. The names are those of the capture. */
@NullMarked
package com.example.wire;

import org.jspecify.annotations.NullMarked;
