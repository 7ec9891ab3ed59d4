/** Call measurements and meter names. */
@NullMarked
package tern.rpc.metrics;

import org.jspecify.annotations.NullMarked;
