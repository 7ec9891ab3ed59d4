/** Snapshots of pools for the diagnosis: kind, counts, effective settings, and sizes derived from the target. */
@org.jspecify.annotations.NullMarked
package tern.rpc.pool;
