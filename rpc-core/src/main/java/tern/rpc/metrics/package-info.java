/** The measurements of calls, and the meter names. */
@NullMarked
package tern.rpc.metrics;

import org.jspecify.annotations.NullMarked;
