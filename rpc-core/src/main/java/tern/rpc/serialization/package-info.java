/** How objects become bytes: the seam that every format implements, on arrays of the JDK alone. */
@NullMarked
package tern.rpc.serialization;

import org.jspecify.annotations.NullMarked;
