/** Streams on both sides: converts between the messages of a transport and the types of a Java signature. */
@NullMarked
package tern.rpc.stream;

import org.jspecify.annotations.NullMarked;
