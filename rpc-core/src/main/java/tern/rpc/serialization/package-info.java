/** The interfaces that every serialization format implements. These interfaces use only arrays and JDK classes. */
@NullMarked
package tern.rpc.serialization;

import org.jspecify.annotations.NullMarked;
