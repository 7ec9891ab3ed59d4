/** The thread pool that runs calls. */
@NullMarked
package tern.rpc.concurrent;

import org.jspecify.annotations.NullMarked;
