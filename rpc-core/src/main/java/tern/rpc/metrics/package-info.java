/** The measurements of calls, and the names of the meters. */
@NullMarked
package tern.rpc.metrics;

import org.jspecify.annotations.NullMarked;
