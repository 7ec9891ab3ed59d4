/**
 * Pools of other libraries. This package derives their sizes and maximum waits from the target, measures the pools, and
 * explains their settings.
 */
@NullMarked
package tern.rpc.spring.autoconfigure.pool;

import org.jspecify.annotations.NullMarked;
