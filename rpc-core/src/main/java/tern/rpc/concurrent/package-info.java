/** The thread pool that runs calls, and factories of daemon threads. */
@NullMarked
package tern.rpc.concurrent;

import org.jspecify.annotations.NullMarked;
