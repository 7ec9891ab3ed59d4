/**
 * What a pool's snapshots show during the diagnosed period: who uses its connections or threads, and whether the pool is
 * too small, leaked, held or slow.
 */
@NullMarked
package tern.rpc.diagnosis.pool;

import org.jspecify.annotations.NullMarked;
