/** Pools of other libraries: sizes and waits from the target, watched and explained. */
@NullMarked
package tern.rpc.spring.autoconfigure.pool;

import org.jspecify.annotations.NullMarked;
