/** An application with faults that tests plant while it serves calls. */
@NullMarked
package com.example.office;

import org.jspecify.annotations.NullMarked;
