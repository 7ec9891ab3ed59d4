/**
 * Finds out why calls miss their target. It splits the time of late calls into parts, follows waits to the work that
 * they waited for, and ranks the causes by the time that they cost. It knows nothing of RPC but the ledger.
 */
@NullMarked
package tern.rpc.diagnosis;

import org.jspecify.annotations.NullMarked;
