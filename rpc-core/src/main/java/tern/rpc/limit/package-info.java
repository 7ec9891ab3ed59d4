/** Limits on the number of concurrent calls and on the rate of log lines. */
@NullMarked
package tern.rpc.limit;

import org.jspecify.annotations.NullMarked;
