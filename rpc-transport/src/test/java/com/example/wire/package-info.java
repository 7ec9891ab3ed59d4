/** The services of the captured calls. All names must be the same as at the time of the capture. */
@NullMarked
package com.example.wire;

import org.jspecify.annotations.NullMarked;
