/** Serving calls: from the transport's hand through a worker to the user's method and back. */
@NullMarked
package tern.rpc.server;

import org.jspecify.annotations.NullMarked;
