/**
 * Tests of many concurrent streams on one connection, with real peers and over every protocol that supports streams.
 */
@NullMarked
package tern.rpc.netty.streams;

import org.jspecify.annotations.NullMarked;
