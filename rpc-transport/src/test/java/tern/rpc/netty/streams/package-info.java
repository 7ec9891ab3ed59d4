/** Tests of many concurrent streams on one connection, over every protocol with streams and with real peers. */
@NullMarked
package tern.rpc.netty.streams;

import org.jspecify.annotations.NullMarked;
