/**
 * Finds out why calls miss their target: takes the time of late calls apart, follows waits to what the awaited did, and
 * ranks the causes by the time that they cost. Knows nothing of RPC but the ledger.
 */
@NullMarked
package tern.rpc.diagnosis;

import org.jspecify.annotations.NullMarked;
