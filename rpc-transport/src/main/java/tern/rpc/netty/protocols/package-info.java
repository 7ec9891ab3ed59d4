/** Puts the protocols of a port together, which do not know each other. */
@NullMarked
package tern.rpc.netty.protocols;

import org.jspecify.annotations.NullMarked;
