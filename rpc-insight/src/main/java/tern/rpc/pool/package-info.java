/**
 * Snapshots of pools for the diagnosis: the kind of pool, counts and settings, and sizes derived from the target rate.
 */
@org.jspecify.annotations.NullMarked
package tern.rpc.pool;
