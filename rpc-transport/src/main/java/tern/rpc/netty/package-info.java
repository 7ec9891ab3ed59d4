/** Bytes on sockets: connections, queues and protocol detection, for every wire protocol alike. */
@NullMarked
package tern.rpc.netty;

import org.jspecify.annotations.NullMarked;
