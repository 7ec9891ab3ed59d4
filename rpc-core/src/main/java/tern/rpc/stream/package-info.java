/**
 * Converts between the messages of a transport and the types in a Java signature, for streams on the client and the
 * server.
 */
@NullMarked
package tern.rpc.stream;

import org.jspecify.annotations.NullMarked;
