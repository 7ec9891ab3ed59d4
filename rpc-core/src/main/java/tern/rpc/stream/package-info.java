/**
 * Streams on the client and the server: converts between the messages of a transport and the types in a Java
 * signature.
 */
@NullMarked
package tern.rpc.stream;

import org.jspecify.annotations.NullMarked;
