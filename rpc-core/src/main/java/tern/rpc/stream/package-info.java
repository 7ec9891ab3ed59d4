/** Streams as both sides have them: between the messages of a transport and the shapes of a Java signature. */
@NullMarked
package tern.rpc.stream;

import org.jspecify.annotations.NullMarked;
