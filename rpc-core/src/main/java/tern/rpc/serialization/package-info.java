/** The interface that every serialization format implements. It uses arrays of the JDK only. */
@NullMarked
package tern.rpc.serialization;

import org.jspecify.annotations.NullMarked;
