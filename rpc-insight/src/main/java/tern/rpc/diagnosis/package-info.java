/**
 * Finds out why calls miss their latency target. This package breaks the time of late calls down into parts, assigns
 * waits to the work for which they waited, and ranks the causes by the time that they cost. Of the RPC classes, it uses
 * only the call ledger.
 */
@NullMarked
package tern.rpc.diagnosis;

import org.jspecify.annotations.NullMarked;
