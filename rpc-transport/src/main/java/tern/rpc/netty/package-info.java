/** Connections, write queues and protocol detection on sockets, shared by all protocols. */
@NullMarked
package tern.rpc.netty;

import org.jspecify.annotations.NullMarked;
