/** The other side of a connection, byte by byte, for tests. */
@NullMarked
package tern.rpc.netty.peer;

import org.jspecify.annotations.NullMarked;
