/** Limits: the number of concurrent calls, and the rate of log lines. */
@NullMarked
package tern.rpc.limit;

import org.jspecify.annotations.NullMarked;
