/** Many streams at once on one connection, over every wire that streams and with real peers. */
@NullMarked
package tern.rpc.netty.streams;

import org.jspecify.annotations.NullMarked;
