/** Combines the protocols of a port. The protocol packages do not depend on each other. */
@NullMarked
package tern.rpc.netty.protocols;

import org.jspecify.annotations.NullMarked;
