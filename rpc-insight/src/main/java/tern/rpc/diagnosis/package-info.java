/**
 * Finds out why calls miss their latency target. {@link tern.rpc.diagnosis.Diagnostician} collects the evidence each
 * second and makes the diagnosis: it breaks the time of late calls down into parts, attributes waits to the work that
 * the calls waited for, and ranks the causes by the time that they cost. The packages below this one do one step each.
 * Of the RPC classes, they use only the call ledger.
 */
@NullMarked
package tern.rpc.diagnosis;

import org.jspecify.annotations.NullMarked;
