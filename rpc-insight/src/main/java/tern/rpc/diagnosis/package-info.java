/**
 * Finds out why calls miss their latency target. This package breaks the time of late calls down into activities and
 * waits. Waits are attributed to the awaited work, and the causes are ranked by the time that they cost. Of the RPC
 * classes, this package uses only the call ledger.
 */
@NullMarked
package tern.rpc.diagnosis;

import org.jspecify.annotations.NullMarked;
