/** Combines the protocols of a port, which do not know each other. */
@NullMarked
package tern.rpc.netty.protocols;

import org.jspecify.annotations.NullMarked;
