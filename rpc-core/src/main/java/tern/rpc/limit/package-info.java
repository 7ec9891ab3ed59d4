/** Limits for the number of concurrent calls and for the rate of log lines. */
@NullMarked
package tern.rpc.limit;

import org.jspecify.annotations.NullMarked;
