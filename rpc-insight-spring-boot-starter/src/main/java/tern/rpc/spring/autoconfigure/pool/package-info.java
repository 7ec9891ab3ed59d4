/**
 * Pools of other libraries: this package derives their sizes and maximum waits from the target, measures them, and
 * explains their settings.
 */
@NullMarked
package tern.rpc.spring.autoconfigure.pool;

import org.jspecify.annotations.NullMarked;
