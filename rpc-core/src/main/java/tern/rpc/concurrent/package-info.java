/** Threads for calls. */
@NullMarked
package tern.rpc.concurrent;

import org.jspecify.annotations.NullMarked;
