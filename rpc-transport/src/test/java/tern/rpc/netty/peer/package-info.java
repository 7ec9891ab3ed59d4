/** Implements the other side of a connection for tests, byte by byte. */
@NullMarked
package tern.rpc.netty.peer;

import org.jspecify.annotations.NullMarked;
