/**
 * Pools of other libraries: derives their sizes and waits from the target, measures them, and explains their settings.
 */
@NullMarked
package tern.rpc.spring.autoconfigure.pool;

import org.jspecify.annotations.NullMarked;
